#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Role maintain and the playbooks against the emulator, with hosts that are this machine and notes of what was done to them.
cd "$(dirname "$0")"
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh {web1,web2,web3,stranger},scope=web lone page cloud

play -i inventory.yml test_check.yml --check "$@"
play -i inventory.yml test_bad_input.yml "$@"
play -i inventory.yml test_events.yml "$@"
play -i inventory.yml test_trouble.yml "$@"
play -i inventory.yml test_playbooks.yml "$@"
