#!/usr/bin/env bash
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# Role drain against real processes on this machine: an application, its connections, and an HAProxy where there is one.

set -eu -o pipefail

here="$(cd "$(dirname "$0")" && pwd)"
cd "$here"
# shellcheck source=tests/integration/targets/setup_emulator/runs_here.sh
. ../setup_emulator/runs_here.sh
runs_here "" || exit 0
# shellcheck source=tests/integration/targets/setup_emulator/took.sh
. ../setup_emulator/took.sh
dir="$(mktemp -d)"
python="${ANSIBLE_TEST_PYTHON_INTERPRETER:-python3}"
# Two ports that are free
read -r port front < <("$python" -c 'import socket
them = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
print(*[one.getsockname()[1] for one in them])')
export ANSIBLE_LOCALHOST_WARNING=false ANSIBLE_HOST_KEY_CHECKING=false
# not below ~, which the local connection looks up by itself
export ANSIBLE_REMOTE_TMP="$dir/remote" ANSIBLE_ASYNC_DIR="$dir/async"

started=()
finish() {
    for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$dir"
}
trap finish EXIT

"$python" "$here/files/app.py" "$port" &
started+=("$!")
haproxy=false
if command -v haproxy >/dev/null; then
    haproxy=true
    sed -e "s#DIR#$dir#g" -e "s#FRONT#$front#g" -e "s#PORT#$port#g" "$here/files/haproxy.cfg" >"$dir/haproxy.cfg"
    haproxy -db -f "$dir/haproxy.cfg" &
    started+=("$!")
    sleep 2
fi

# Each of them begins on machines without marks.
play() {
    rm -rf "$dir/marks"
    ansible-playbook -i "$here/inventory.ini" "$@" \
        -e '{"dir": "'"$dir"'", "app_port": '"$port"', "front_port": '"$front"', "haproxy": '"$haproxy"'}'
}

for name in validate steps limits hosts; do
    play "$here/test_$name.yml" "$@"
    took "test_$name.yml"
done
ansible-playbook -i "$here/reached.ini" "$here/test_system.yml" "$@"
took test_system.yml
lost=0
play "$here/test_lost.yml" "$@" || lost="$?"
test "$lost" = 4 # a host was unreachable, none failed
play "$here/test_check.yml" --check "$@"
test ! -e "$dir/check"
took "test_lost.yml and test_check.yml"

# Stand-ins for the modules that Windows machines run
for module in ansible/windows/win_{service,service_info,command,uri,powershell,wait_for} \
    microsoft/iis/{website,website_info,web_app_pool,web_app_pool_info}; do
    folder="$dir/standins/ansible_collections/$(dirname "$module")/plugins/modules"
    mkdir -p "$folder"
    cp "$here/library/standin.py" "$folder/$(basename "$module").py"
done
rm -rf "$dir/async" # what earlier ones have begun
# A machine that is reached as this one is, with steps of a Windows machine
DRAIN_TEST_DIR="$dir" ANSIBLE_COLLECTIONS_PATH="$dir/standins:${ANSIBLE_COLLECTIONS_PATH:-}" \
    play "$here/test_windows.yml" -e '{__drain_on: windows}' "$@"
took test_windows.yml
test -z "$(ls "$dir/async" 2>/dev/null)" # Ansible's files of the steps are gone

if $haproxy; then play "$here/test_haproxy.yml" "$@"; fi
