# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# To be sourced: starts role emulator's program on free ports of loopback, and ends it with the script. Sets:
#   dir       a folder for the test, which is removed at the end
#   took      see took.sh
#   play      a function that runs ansible-playbook with the variables dir, metadata, control (URLs) and notes (a file)
# The virtual machines are given as arguments:  . ../setup_emulator/start.sh web1,scope=web lone

set -eu -o pipefail

# shellcheck source=tests/integration/targets/setup_emulator/took.sh
. ../setup_emulator/took.sh

dir=$(mktemp -d)
emulator=
finish() {
    [ -z "$emulator" ] || kill "$emulator" 2>/dev/null || true
    rm -rf "$dir"
}
trap finish EXIT

collection=$PWD
until [ -d "$collection/roles/emulator/files" ]; do collection=$(dirname "$collection"); done
python=${ANSIBLE_TEST_PYTHON_INTERPRETER:-python3}

machines=()
for machine in "$@"; do machines+=(--vm "$machine"); done
"$python" "$collection/roles/emulator/files/imds_emulator" serve --listen 127.0.0.1:0 --control 127.0.0.1:0 \
    --addresses "$dir/addresses.json" "${machines[@]}" >"$dir/emulator.log" 2>&1 &
emulator=$!
for _ in $(seq 100); do
    [ ! -e "$dir/addresses.json" ] || break
    sleep 0.1
done
cat "$dir/addresses.json" || { cat "$dir/emulator.log"; exit 1; }
variables=$("$python" -c '
import json, sys
dir = sys.argv[1]
addresses = json.load(open(dir + "/addresses.json"))
print(json.dumps(dict(dir=dir, notes=dir + "/notes", metadata=addresses["metadata"][0], control=addresses["control"])))
' "$dir")

export ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_HOST_PATTERN_MISMATCH=ignore
# not below ~, which the local connection looks up by itself
export ANSIBLE_REMOTE_TMP="$dir/remote" ANSIBLE_ASYNC_DIR="$dir/async"
play() {
    ansible-playbook -e "$variables" "$@"
}
