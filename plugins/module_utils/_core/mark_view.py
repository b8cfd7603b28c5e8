# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a machine is prepared for an event, by its mark: one answer for the run, the watcher and the playbooks. Pure.

Private to this collection.
"""

from typing import Any, FrozenSet, Mapping, NamedTuple, Optional

OURS = "ours"
WATCHER = "watcher"
"""The machine's own watcher's."""

FRESH = 10.0
"""Seconds for which what a mark said counts as what it says, from the end of the call that brought it."""

FRESH_AT_MOST = 40.0
"""The same where each call has to start a PowerShell first, which may take longer than that."""


class MarkView(NamedTuple):
    """A mark that can be read, as whoever asks sees it.

    owner: OURS and WATCHER count; whoever asks has its own words for all others
    keys: of its events
    boot_id: of the start of the machine under which its steps were last begun from the first one on
    """

    owner: str
    phase: str
    keys: FrozenSet[str]
    boot_id: str


def mark_view(mark: Optional[Mapping[str, Any]], owner: str) -> MarkView:
    """A mark as a machine gives it; an empty view of none, or of one that can't be read."""
    if not mark or "unreadable" in mark:
        return MarkView(owner, "", frozenset(), "")
    return MarkView(owner, mark["phase"], frozenset(event.upper() for event in mark["events"]), prepared_under(mark))


def prepared_under(mark: Mapping[str, Any]) -> str:
    """The start of the machine under which the steps of a mark were last begun from the first one on."""
    return str(mark.get("again") or mark["boot_id"])


def is_prepared_for(
    view: MarkView, key: str, boot_id: str, age: Optional[float], start: float = 0.0, left_out: bool = False
) -> bool:
    """Whether the machine is out of service for an event, as far as that can be known now.

    :arg boot_id: of the machine's present start: a start takes back what was done, whatever the reason for it was
    :arg age: seconds since the end of the call that brought the mark; None where none did
    :arg start: seconds that the last start of PowerShell on it took, where each call needs one
    :arg left_out: whether a step or a hook of it is not run
    """
    return (
        view.owner in (OURS, WATCHER)
        and view.phase == "prepared"
        and key in view.keys
        and view.boot_id == boot_id
        and not left_out
        and age is not None
        and age <= min(FRESH + start, FRESH_AT_MOST)
    )
