# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# The playbook rehearse, with an emulator of its own. To be sourced where said.sh has been.

# One that is free, and that no other test's connection takes meanwhile: the kernel gives those a port above 32767
port=$("$python" - <<'END'
import random, socket
for port in random.sample(range(20000, 32768), 100):
    with socket.socket() as one:
        if one.connect_ex(("127.0.0.1", port)):
            break
print(port)
END
)
own=http://127.0.0.1:$port/vm
# A process, also where this is root on a machine with systemd: a test installs no service.
rehearse() {
    HOME=$dir/home on_web -e azure_maintenance_hosts=web1,web2 -e "rehearse_port=$port" -e '{"__maintain_emulator_systemd": false}' "$@" \
        cloudops.azure_maintenance.rehearse
}
nothing() { [ ! -s "$dir/notes" ] && [ -z "$(find "$dir/home" "$dir/marks" -name imds_emulator.pyz -o -name mark.json)" ]; }
mkdir -p "$dir/home"
rm -rf "$dir/marks"
mkdir "$dir/marks"
: >"$dir/notes"

refuses rehearse --check
says "there is nothing that check mode could show"
refuses rehearse -e rehearse_state=gone
says "present or absent is wanted"
refuses rehearse -e rehearse_speed=fast -e rehearse_port=0 -e rehearse_affected=web9 -e rehearse_scenario=rebot
says "rehearse_speed is 'fast': a number above 0 is wanted"
says "rehearse_port is '0'"
says "rehearse_affected names 'web9'"
says "(did you mean 'reboot'?): one of these is wanted: automatic_approval, back_to_back"
refuses rehearse -e rehearse_sped=4
says "(did you mean 'rehearse_speed'?)"
refuses rehearse -e rehearse_speed=200
says "At most 135 is wanted"
nothing

"$python" -m http.server --bind 127.0.0.1 "$port" >"$dir/taken" 2>&1 &
taken=$!
for _ in $(seq 100); do
    [ ! -s "$dir/taken" ] || break
    sleep 0.1
done
refuses rehearse
kill "$taken"
wait "$taken" || true
says "Port $port of web1, where the emulator is to listen, can't be had"
says "Set rehearse_port to one that is free."
nothing

# The emulator of another inventory's rehearsal, and one of ours that was left
other=$dir/home/.ansible/azure-imds-rehearsal
mkdir -p "$other"
echo '{"vms": [{"name": "db7"}, {"name": "WEB1"}]}' >"$other/fleet.json"
refuses rehearse
says "The emulator on web1 is that of a rehearsal with db7, not in this inventory, and there is one on a host"
refuses rehearse -e rehearse_state=absent
says "The emulator on web1 is that of a rehearsal with db7, not in this inventory: it was left as it is."
[ -e "$other/fleet.json" ]
echo '{"vms": [{"name": "WEB1"}, {"name": "web3"}]}' >"$other/fleet.json"
works rehearse -e rehearse_state=absent
says "The emulator is removed from web1, where it was a process."
[ ! -e "$other" ]

# What the inventory says of a rehearsal holds as what the command line does
echo '{"all": {"vars": {"rehearse_port": 0}}}' >"$dir/port.yml"
refuses on_web -i "$dir/port.yml" -e azure_maintenance_hosts=web1 cloudops.azure_maintenance.rehearse
says "rehearse_port is 0: the number of a port is wanted"

# Somebody else's machine, by a mark that was made for another service
marked 0
edit 'mark["endpoint"] = "http://169.254.169.254"' web1 web2
refuses rehearse
says "web1 is marked by run gone (job 12) on ctl1, since 20"
says "made for Azure's own metadata service (http://169.254.169.254)"
works rehearse -e rehearse_state=absent
says "and not for this rehearsal ($own/web1): it is left as it is."
grep -qE '^web1 .*changed=0' <<<"$said"
[ -e "$dir/marks/web1/mark.json" ]

# What an interrupted rehearsal has left
edit "mark['endpoint'] = '$own/web1'" web1
works rehearse -e rehearse_state=absent
says "web1 is recovered from the rehearsal of run gone (job 12) on ctl1"
[ ! -e "$dir/marks/web1/mark.json" ]
[ -e "$dir/marks/web2/mark.json" ]
notes "web1 prepared" "web1 recovered" "web2 prepared"
rm -rf "$dir/marks"
mkdir "$dir/marks"
: >"$dir/notes"

# One that goes well fits on a screen or two, where Ansible leaves out what went well. This scenario has the longest notice for its
# length: 90 s, all of which a busy machine may take, and 30 s more.
ANSIBLE_DISPLAY_OK_HOSTS=false ANSIBLE_DISPLAY_SKIPPED_HOSTS=false works rehearse -e azure_maintenance_hosts=web1 \
    -e rehearse_scenario=freeze_live_migration -e rehearse_speed=10 -e maintain_margin=0 \
    -e '{"azure_maintenance_policy": [{"name": "Anything", "do": "prepare_and_approve"}]}'
says "recovered  web1 in"
[ "$(grep -vc "  waits  " <<<"$said")" -le 70 ] || { echo "$said"; echo "more than 70 lines"; exit 1; }
notes "web1 prepared" "web1 recovered"
: >"$dir/notes"

# A run that fails on all machines at once, before it has touched any
refuses rehearse -e maintain_rounds=-1
says "maintain_rounds is"
nothing

# One that fails while a machine is drained, as that can't be recovered at first
does="cp $other/addresses.json $dir/listens; echo web1 prepared >>$dir/notes"
undoes="[ -e $dir/tried ] || { touch $dir/tried; exit 1; }; echo web1 recovered >>$dir/notes"
refuses rehearse -e rehearse_speed=20 -e maintain_margin=0 -e maintain_recover_timeout=1 \
    -e "{\"drain_steps\": [{\"type\": \"command\", \"do\": [\"sh\", \"-c\", \"$does\"], \"undo\": [\"sh\", \"-c\", \"$undoes\"]}]}"
says "Left for a person"
notes "web1 prepared" "web1 recovered"
: >"$dir/notes"
nothing
grep -q '"control": null' "$dir/listens" # by which any user here could have announced more
grep -q "\"http://127.0.0.1:$port\"" "$dir/listens" # all of them are this machine
