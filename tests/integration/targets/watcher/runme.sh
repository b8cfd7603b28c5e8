#!/usr/bin/env bash
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Role watcher against the emulator, as a plain process: without systemd, and without root. As a service it is tested in tests/fleet.
cd "$(dirname "$0")"
# shellcheck source=tests/integration/targets/setup_emulator/runs_here.sh
. ../setup_emulator/runs_here.sh
runs_here "" || exit 0
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh web1,scope=web page

# What the role puts on the machine as a process is below the home.
mkdir "$dir/home"
export HOME="$dir/home"

end_watcher() {
    [ ! -e "$HOME/.ansible/azure-maintenance/process" ] || kill "$(cat "$HOME/.ansible/azure-maintenance/process")" 2>/dev/null || true
    finish
}
trap end_watcher EXIT

play -i inventory.yml test_bad_input.yml "$@"
took test_bad_input.yml
play -i inventory.yml test_check.yml --check "$@"
took test_check.yml
play -i inventory.yml test_deploy.yml "$@"
took test_deploy.yml
play -i inventory.yml test_absent.yml "$@"
took test_absent.yml
