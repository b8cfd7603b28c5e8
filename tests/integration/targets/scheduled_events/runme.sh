#!/usr/bin/env bash
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Both modules against the emulator: in check mode, run, and run again.
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh web1,scope=web web2,scope=web

# shellcheck source=tests/integration/targets/setup_emulator/runs_here.sh
. ../setup_emulator/runs_here.sh

for part in test_info.yml test_approve.yml; do
    runs_here "$part" || continue
    play -i inventory.yml "$part" "$@"
    took "$part"
done
