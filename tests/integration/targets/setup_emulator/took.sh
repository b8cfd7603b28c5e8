# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2154
# To be sourced: took NAME prints how long it has been since the one before, as pytest does, for the list of the slowest tests,
# and how many seconds of a core that took. Needs dir, a folder.

since=$SECONDS
cpu_since=0
took() {
    local cpu
    times >"$dir/times" # not through a pipe: it would count a shell of its own
    cpu=$(awk -F '[ms ]' 'NR == 2 { print int(60 * ($1 + $4) + $2 + $5) }' "$dir/times")
    echo "$((SECONDS - since)).00s call     $(basename "$PWD") $1 ($((cpu - cpu_since)) s of a core)"
    since=$SECONDS
    cpu_since=$cpu
}
