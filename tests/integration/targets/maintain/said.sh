# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# What the plays of by_hand.sh and rehearse.sh share. To be sourced where start.sh has been, which sets dir and play.

options=("$@")
on_web() { play -i inventory.yml "${options[@]}" "$@"; }
marked() { # an event for web1 and web2, and what a run has left on them that is taken to be alive for so many seconds
    works on_web -e "{\"lease\": $1}" mark.yml
    event=$(shown)
}
shown() { "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))["events"][0]["id"])' "$dir/played"; } # the event's id
edit() { # the marks of these machines, by a line of Python
    for host in "${@:2}"; do
        "$python" -c 'import json, sys; mark = json.load(open(sys.argv[1])); exec(sys.argv[2]); json.dump(mark, open(sys.argv[1], "w"))' \
            "$dir/marks/$host/mark.json" "$1"
    done
}
approve() { on_web "$@" cloudops.azure_maintenance.approve; }
recover() { on_web --limit web "$@" cloudops.azure_maintenance.recover; }
status() { on_web "$@" cloudops.azure_maintenance.status; }

# works COMMAND, refuses COMMAND: it ends well, or fails; says WORDS: that is what it said
works() { said=$("$@" 2>&1) || { echo "$said"; echo "FAILED: $*"; exit 1; }; echo "works: $*"; }
refuses() { if said=$("$@" 2>&1); then echo "$said"; echo "NOT REFUSED: $*"; exit 1; fi; echo "refused: $*"; }
says() { grep -qF -- "$1" <<<"$said" || { echo "$said"; echo "NOT SAID: $1"; exit 1; }; }
notes() { diff <(cut -d' ' -f1,2 "$dir/notes" | sort) <(printf '%s\n' "$@"); }
posts() { # how many approvals the emulator got
    local found
    found=$(curl -sSf "$control/journal?kind=post" | "$python" -c 'import json, sys; print(len(json.load(sys.stdin)["entries"]))')
    [ "$found" = "$1" ] || { echo "$found approvals, not $1"; exit 1; }
}
control=$("$python" -c 'import json, sys; print(json.load(open(sys.argv[1] + "/addresses.json"))["control"])' "$dir")
