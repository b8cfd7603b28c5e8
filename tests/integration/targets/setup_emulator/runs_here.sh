# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# To be sourced: runs_here PART tells whether this part of a target runs below this ansible-core. Lanes run the oldest and the newest:
# what is not in the table runs below both of them. They cost about the same: the newest a tenth more.

# part                                   core   what holds the same below the other one
ONLY="
drain                                    2.16   the fleet drains; plays-2.21: test_drain_plays.py, test_own_task_files.py, test_done_by_others.py
watcher                                  2.16   the fleet: test_watcher_role.py; plays-2.21: test_watcher_refusals.py, test_windows_watcher.py
maintain/by_hand.sh                      2.16   the fleet: test_playbooks.py, test_hold.py
maintain/rehearse.sh                     2.16   the fleet: test_playbooks.py
maintain/test_check.yml                  2.21   plays-2.16: test_preflight.py
maintain/test_bad_input.yml              2.21   plays-2.16: test_preflight.py
maintain/test_events.yml                 2.21   rehearse.sh, and plays-2.16: test_plays.py, test_own_task_files.py, go through whole events
maintain/test_own_tasks.yml              2.21   plays-2.16: test_own_task_files.py
maintain/test_leaving.yml                2.21   target drain: test_lost.yml
scheduled_events/test_approve.yml        2.21   plays-2.16: test_plays.py approves; test_info.yml, below both, gives the same options
"

core=$("${ANSIBLE_TEST_PYTHON_INTERPRETER:-python3}" -c 'from ansible.release import __version__; print(__version__)' | cut -d. -f1,2)
runs_here() {
    local only
    only=$(awk -v part="$(basename "$PWD")${1:+/$1}" '$1 == part { print $2 }' <<<"$ONLY")
    # Below another one than these two, all of it runs.
    [ -z "$only" ] || [ "$core" = "$only" ] || { [ "$core" != 2.16 ] && [ "$core" != 2.21 ]; }
}
