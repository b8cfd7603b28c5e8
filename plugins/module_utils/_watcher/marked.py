# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine's mark tells the watcher: whose it is, how far the outage is, what it was for. Pure.

Private to this collection.

Beside what every mark has, the watcher's bears a note: all that has to outlive the watcher, and the machine's restart.
"""

from typing import Any, Dict, FrozenSet, Mapping, NamedTuple, Optional

from .._core import mark_view as core
from .._steps.sequence import FAILED, NOT_TAKEN_BACK, TAKEN_BACK, TAKING_BACK
from .._text import one_line
from .facts import Facts, Identity

RUN = "watcher"

NOBODY = "nobody"
OURS = core.OURS
COPIED = "copied"
"""Of the machine of which this one is a copy."""
OTHERS = "others"
"""Of a run of maintain or drain, or one that can't be read."""
NOT_KNOWN = "not known"
"""A watcher's, and nobody has said so far which machine this is: it may be that of the machine of which this one is a copy."""

_GOING_BACK = (TAKING_BACK, TAKEN_BACK, NOT_TAKEN_BACK)


class Marked(NamedTuple):
    """The mark, as the watcher sees it."""

    whose: str = NOBODY
    phase: str = ""
    keys: FrozenSet[str] = frozenset()  # of its events
    events: Mapping[str, str] = {}  # their ids as they came, by key
    note: Mapping[str, Any] = {}
    boot_id: str = ""  # of the start of the machine in which its steps were last begun from the first one on
    recovery_begun: bool = False
    why: str = ""  # what failed
    words: str = ""  # who holds it, for people

    @property
    def outage(self) -> str:
        return str(self.note.get("outage") or "")

    def lists(self, name: str, key: str) -> bool:
        """Whether a list of ids in the note has an event."""
        return key in {event_id.upper() for event_id in self.note.get(name) or ()}

    @property
    def is_prepared(self) -> bool:
        return self.whose == OURS and self.phase == "prepared"

    def is_prepared_for(self, key: str, boot_id: str, left_out: bool = False) -> bool:
        """Whether the machine is prepared for an event: what was read in this tick is what it says now."""
        view = core.MarkView(self.whose, self.phase, self.keys, self.boot_id)
        return core.is_prepared_for(view, key, boot_id, 0.0, left_out=left_out)

    @property
    def is_failed(self) -> bool:
        """Whether the preparation has failed, and nothing of it was taken back so far."""
        return self.whose == OURS and self.phase == "half" and not self.recovery_begun

    @property
    def is_recovering(self) -> bool:
        return self.whose == OURS and self.phase == "recovering"

    @property
    def is_not_recovered(self) -> bool:
        """Whether not all could be taken back."""
        return self.whose == OURS and self.phase == "half" and self.recovery_begun


def marked(facts: Facts) -> Marked:
    """The mark of a tick's facts."""
    mark = facts.mark
    if facts.unreadable:
        return Marked(OTHERS, words=facts.unreadable)
    if mark is None:
        return Marked()
    if is_copied(mark["vm_id"], facts.identity):
        return Marked(COPIED, words=f"VM {one_line(mark['vm_id'])}")
    holder = mark["holder"]
    if holder["run"] != RUN:
        words = f"{one_line(holder['kind'])} {one_line(holder['run'])}, since {one_line(mark['since'])}"
        return Marked(OTHERS, words=words)
    if facts.identity is None:
        return Marked(NOT_KNOWN, words="a watcher, of this machine or of the one of which it is a copy")
    note = note_of(mark)
    states = {step["state"] for step in mark["steps"]}
    return Marked(
        OURS,
        mark["phase"],
        frozenset(event.upper() for event in mark["events"]),
        {event.upper(): event for event in mark["events"]},
        note,
        core.prepared_under(mark),
        mark["phase"] == "recovering" or bool(states.intersection(_GOING_BACK)),
        "; ".join(
            f"{step['words'] or step['unwords'] or step['key']}: {step['note']}"
            for step in mark["steps"]
            if step["state"] in (FAILED, NOT_TAKEN_BACK)
        ),
        "the watcher",
    )


def is_copied(vm_id: str, identity: Optional[Identity]) -> bool:
    """Whether something is of another machine, of which this one is a copy."""
    return bool(identity and identity.vm_id and vm_id and vm_id.lower() != identity.vm_id.lower())


def note_of(mark: Mapping[str, Any]) -> Dict[str, Any]:
    """The watcher's note of a mark, which an earlier version may have written, or a hand."""
    note = mark.get("note")
    return dict(note) if isinstance(note, dict) else {}
