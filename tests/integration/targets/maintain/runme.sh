#!/usr/bin/env bash
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Role maintain and the playbooks against the emulator, with hosts that are this machine and notes of what was done to them.
cd "$(dirname "$0")"
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh {web1,web2,web3,unknown},scope=web lone page cloud

play -i inventory.yml test_check.yml --check "$@"
play -i inventory.yml test_bad_input.yml "$@"
play -i inventory.yml test_events.yml "$@"
play -i inventory.yml test_trouble.yml "$@"
play -i inventory.yml test_playbooks.yml "$@"

# Nobody named: nobody is brought back. A limit names machines, too.
if said=$(play -i inventory.yml "$@" cloudops.azure_maintenance.recover); then
    echo "recover took all machines: $said" && exit 1
fi
grep -F "Say which machines to bring back" <<<"$said"
said=$(play -i inventory.yml --limit web2 "$@" cloudops.azure_maintenance.recover)
grep -E "^web2 +: .*changed=[1-9]" <<<"$said"
if grep -E "^web1 +:" <<<"$said"; then exit 1; fi
