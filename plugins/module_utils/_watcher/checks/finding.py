# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of looking at one thing that the watcher needs.

Private to this collection.
"""

from typing import Any, NamedTuple, Tuple

OK, WARN, FAIL = "ok", "warn", "fail"


class Finding(NamedTuple):
    """One line of the doctor's."""

    state: str  # OK, WARN or FAIL
    what: str  # in a word or two
    words: str  # what was seen
    advice: str = ""  # what to do; "" where there is nothing to do
    path: Tuple[
        Any, ...
    ] = ()  # what of the settings it is about, from the outside in; () where it is about no value of theirs
