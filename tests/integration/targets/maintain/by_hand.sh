# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# A person's playbooks: status, approve, recover. To be sourced where said.sh has been.

# What a run leaves to a confirmation it has let go of
works on_web test_yes.yml
event=$(shown)
works status
says "PREPARED, its owner has EXPIRED"
works approve -e "approve_event=$event"
says "web3 has approved event $event."
posts 1

marked 600
printf '[web]\nlost1 ansible_connection=ssh ansible_host=127.0.0.1 ansible_port=1\n' >"$dir/lost"
refuses status -i "$dir/lost"
says "web1   web1: 1 event    PREPARED, its owner may be alive"
says "mark: prepared for $event, by run gone (job 12) on ctl1, since 20"
says "web3   web3: 1 event    no mark"
says "lost1  NOT REACHED: "
says "nothing is known of their events and marks: lost1."

refuses approve
says "Say which event"
refuses approve -e "approve_event=${event%?}"
says "(did you mean '$event'?)"
works approve -e "approve_event=$event" --check
says "Run gone (job 12) on ctl1 owns web1, web2 for Reboot $event"
[ ! -e "$dir/marks/web1/yes" ]

# Nobody named: nobody is recovered
refuses on_web cloudops.azure_maintenance.recover
says "Say which machines, as in"
refuses recover
says "web1 is owned by run gone (job 12) on ctl1, since 20"
refuses recover -e recover_take=gone
says "web1 was taken out of service for Reboot $event (Scheduled"

# A run that lives goes on, which its mark shows
(
    for _ in $(seq 600); do
        [ ! -e "$dir/marks/web1/yes" ] || break
        sleep 0.1
    done
    sleep 3
    edit 'mark["number"] += 1' web1 web2
) &
works approve -e "approve_event=$event"
says "The confirmation of event $event is recorded on web1, web2."
says "approves it when all of its machines are prepared."
posts 0
notes "web1 prepared" "web2 prepared"

# One that is gone does not
edit 'mark["lease"]["until"] = 0' web1 web2
works status
says "EXPIRED, last renewed "
says "confirmed by a person: $event"
mv "$dir/marks/web2/mark.json" "$dir/aside"
refuses approve -e "approve_event=$event"
says "web2 is not marked: it is in service."
posts 0
mv "$dir/aside" "$dir/marks/web2/mark.json"
works approve -e "approve_event=$event" --check
posts 0
works approve -e "approve_event=$event"
says "web3 has approved event $event."
posts 1
works approve -e "approve_event=$event"
says "has started: nothing is left to approve."
posts 1

refuses recover
says "web1 was taken out of service for Reboot $event (Started)"
works recover --check -e recover_force=true
says "web1 is recovered from what run gone (job 12) on ctl1 did: run sh -c 'echo web1 recovered"
notes "web1 prepared" "web2 prepared"
[ ! -e "$dir/marks/web1/put_back.json" ]
works recover -e recover_force=true
says "web3 is not marked"
grep -qiF "\"$event\"" "$dir/marks/web1/put_back.json" # a run that is alive keeps off
notes "web1 prepared" "web1 recovered" "web2 prepared" "web2 recovered"
[ ! -e "$dir/marks/web1/mark.json" ]

refuses recover -i "$dir/lost" --limit web3,lost1 -e maintain_recover_timeout=1
says "lost1 could not be asked: "
grep -qE '^web3 .*failed=0' <<<"$said"

# What version 0.1.0 left, and marks of which nobody knows what they say
: >"$dir/notes"
works recover --limit web3 -e recover_unmarked=true
notes "web3 recovered"
echo '{' >"$dir/marks/web3/mark.json"
refuses recover --limit web3 -e recover_unmarked=true
says "has an unreadable mark, so nobody can tell what was done to it"
works recover --limit web3 -e recover_unmarked=true -e recover_force=true
notes "web3 recovered" "web3 recovered"
[ ! -e "$dir/marks/web3/mark.json" ]

# A step that the inventory no longer has: its mark stays, until a person gives it up
marked 0
curl -sS -X POST -H 'Content-Type: application/json' -d '{}' "$control/reset" >/dev/null
refuses recover --limit web1 -e '{"drain_steps": []}'
says "the inventory no longer has this step"
[ -e "$dir/marks/web1/mark.json" ]
refuses recover --limit web1 -e '{"drain_steps": [], "recover_force": true}'
says "the inventory no longer has this step"
[ ! -e "$dir/marks/web1/mark.json" ]
works recover --limit web2
notes "web1 prepared" "web2 prepared" "web2 recovered"

# One of the user's tasks that ends the play: Ansible calls that well, and we don't
works on_web --limit web1 inject.yml
refuses on_web --limit web1 cloudops.azure_maintenance.maintain \
    -e "{\"drain_tasks_paths\": [\"$PWD/files\"], \"drain_steps\": [{\"type\": \"tasks\", \"do\": \"end_play.yml\"}]}"
says "This run of maintain was cut off before its end"
