#!/usr/bin/env bash
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Both modules against the emulator: in check mode, run, and run again.
here=$(cd "$(dirname "$0")" && pwd)
cd "$here"
# shellcheck source=tests/integration/targets/setup_emulator/start.sh
. ../setup_emulator/start.sh web1,scope=web web2,scope=web lone

play -i inventory.yml test_info.yml "$@"
took test_info.yml
play -i inventory.yml test_approve.yml "$@"
took test_approve.yml
# What is made of a damaged document is the same Python below every ansible-core.
case $(ansible --version) in *"core 2.16"*) exit ;; esac
play -i inventory.yml test_damaged.yml "$@"
took test_damaged.yml
