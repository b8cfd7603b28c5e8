# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
# To be sourced: took NAME prints how long it has been since the one before, as pytest does, for the list of the slowest tests.

since=$SECONDS
took() {
    echo "$((SECONDS - since)).00s call     $(basename "$PWD") $1"
    since=$SECONDS
}
