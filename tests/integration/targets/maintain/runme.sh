#!/usr/bin/env bash
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Role maintain and the playbooks against the emulator, with hosts that are this machine and notes of what was done to them.
cd "$(dirname "$0")"
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh {web1,web2,web3,unknown},scope=web lone

# shellcheck source=tests/integration/targets/setup_emulator/runs_here.sh
. ../setup_emulator/runs_here.sh

. ./said.sh
for part in by_hand.sh rehearse.sh; do
    runs_here "$part" || continue
    # shellcheck disable=SC1090
    . "./$part"
    took "$part"
done
for part in test_check.yml test_bad_input.yml test_events.yml test_own_tasks.yml test_leaving.yml; do
    runs_here "$part" || continue
    status=0
    case $part in
        test_check.yml) on_web "$part" --check || status=$? ;;
        test_own_tasks.yml | test_leaving.yml) ANSIBLE_ANY_ERRORS_FATAL=true on_web "$part" || status=$? ;;
        *) on_web "$part" || status=$? ;;
    esac
    took "$part"
    test "$status" = "$([ "$part" = test_leaving.yml ] && echo 4 || echo 0)" # of one that leaves: a machine was unreachable, none failed
done
