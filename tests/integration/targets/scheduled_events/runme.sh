#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Both modules against the emulator: in check mode, run, and run again.
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh web1,scope=web web2,scope=web lone

play -i inventory.yml test_info.yml "$@"
play -i inventory.yml test_approve.yml "$@"
