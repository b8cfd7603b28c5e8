# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# Has the emulator begin anew with a scenario, keeps its answer in a file and prints it:  bash control.sh URL SCENARIO FILE
# Plays run this with `raw`: a module of Ansible costs ten times as much, and each case begins with it.

set -eu
post() { curl -sSf -H 'Content-Type: application/json' -d "$2" "$1"; }
post "$1/reset" '{}' >/dev/null
post "$1/scenario" "$2" >"$3"
cat "$3"
