#!/usr/bin/env bash
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Role maintain and the playbooks against the emulator, with hosts that are this machine and notes of what was done to them.
cd "$(dirname "$0")"
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh {web1,web2,web3,unknown},scope=web lone page cloud

# Two lanes with all of it would not end in time. Of the oldest ansible-core it is a person's playbooks, which go through the same tasks,
# of newer ones the plays of the role.
case $(ansible --version) in
    *"core 2.16"*)
        . ./said.sh
        . ./by_hand.sh
        took by_hand.sh
        . ./rehearse.sh
        took rehearse.sh
        exit
        ;;
esac

play -i inventory.yml test_check.yml --check "$@"
took test_check.yml
play -i inventory.yml test_bad_input.yml "$@"
took test_bad_input.yml
play -i inventory.yml test_events.yml "$@"
took test_events.yml
play -i inventory.yml test_trouble.yml "$@"
took test_trouble.yml
ANSIBLE_ANY_ERRORS_FATAL=true play -i inventory.yml test_own_tasks.yml "$@"
took test_own_tasks.yml
left=0
ANSIBLE_ANY_ERRORS_FATAL=true play -i inventory.yml test_leaving.yml "$@" || left=$?
took test_leaving.yml
test "$left" = 4 # a machine was unreachable, none failed
