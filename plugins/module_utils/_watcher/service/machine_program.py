# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program in the watcher's own process: the same that a run calls over SSH, called as a holder of its own.

Private to this collection.
"""

from typing import Any, Dict, FrozenSet, Mapping, Optional, Sequence, Tuple

from ..._clock import Moment, iso_utc
from ..._core.mark_view import LEASE, NOBODY, OURS, UNREADABLE, Asker, is_prepared_for, mark_view
from ..._core.messages import on_hold, sentence
from ..._core.second_look import SecondLook, second_look
from ..._core.transitions import PREPARED
from ..._machine.mark import Busy, Mark, MarkUnreadable, NotWritten, first_mark
from ..._machine.program import Parts, perform
from ..._steps.sequence import DONE, in_order
from ..._steps.step_type import Step
from ..engine.interface import Answer, Go, Hold, Identity
from ..engine.snapshot import RUN


class MachineProgram:
    """What this machine's mark says, and how it is changed.

    :arg parts: what the program works with
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._number = 0
        self._second_look = SecondLook()

    def mark(self) -> Tuple[Optional[Mark], str]:
        """The mark, and why the one that is there can't be read."""
        try:
            return self._parts.store.read(), ""
        except MarkUnreadable as error:
            return None, str(error)

    def go(
        self,
        go: Go,
        steps: Sequence[Step],
        identity: Optional[Identity],
        endpoint: str,
        take: str = "",
        retry_hooks: bool = False,
    ) -> Answer:
        """Go on by one call.

        :arg take: the run whose mark is taken from it, as a person has ordered
        :arg retry_hooks: whether recovery hooks that failed are begun once more, as a person has ordered
        """
        request: Dict[str, Any] = {
            "do": "go",
            "to": go.to,
            "left": go.left,
            "lease": LEASE,
            "events": list(go.events),
            "note": go.note,
            "parallel": go.parallel,
            "redo_after_reboot": go.redo_after_reboot,
            "no_new_steps": go.no_new_steps,
            "replace_outage": go.replace_outage,
            "looks": go.looks or not go.no_new_steps,
            "only_marked": go.looks,
            "take": take,
            "forced": bool(take),
            "retry_hooks": retry_hooks,
        }
        options = self._options(identity, endpoint)
        found = perform({"options": options, "requests": [request], "steps": list(steps)}, self._parts)["answers"][0]
        why = found.get("why") or found.get("problem") or ""
        state, steps, now = found.get("state") or "refused", found.get("steps") or [], self._parts.clock.now()
        if (
            go.looks or not go.no_new_steps or state != PREPARED
        ):  # else nothing was looked at: the last look still counts
            self._second_look = second_look(found, now)
        return Answer(go.to, state, why, steps, now, self._second_look, tuple(found.get("back") or ()))

    def count_all_as_done(
        self,
        steps: Sequence[Step],
        events: Sequence[str],
        note: Mapping[str, Any],
        identity: Optional[Identity],
        endpoint: str,
    ) -> str:
        """In the place of a mark that can't be read, one by which all steps are undone; returns where the old one is kept.

        :raises NotWritten: when it can't be, or the old one is of a newer version and must not be touched
        """
        store = self._parts.store
        try:
            store.read()
        except MarkUnreadable as error:
            if error.is_newer:
                raise NotWritten(str(error)) from error
        if not self._parts.end_jobs():
            raise Busy("what a step has begun was asked to end, and has not ended yet: run this again")
        call = {"options": self._options(identity, endpoint), "steps": in_order(steps)}
        mark = first_mark(call, events, LEASE, {}, self._parts.moment())
        mark["steps"] = [dict(entry, state=DONE) for entry in mark["steps"]]
        kept: str = store.replace_unreadable(dict(mark, phase="recovering", note=dict(note)))  # type: ignore[attr-defined]
        return kept

    def _options(self, identity: Optional[Identity], endpoint: str) -> Dict[str, Any]:
        """Of a call."""
        name, vm_id = identity or ("", "")
        return {
            "run": RUN,
            "number": self._next_number(),
            "holder": {"kind": RUN, "run": RUN, "job": "", "controller": name},
            "vm_id": vm_id,
            "endpoint": endpoint,
        }

    def put_aside(self) -> str:
        """Move a mark out of the way that is another machine's; returns where to."""
        return self._parts.store.put_aside()

    def confirmed_events(self) -> FrozenSet[str]:
        """The keys of the events to which a person has said yes."""
        return frozenset(event.upper() for event in self._parts.store.confirmed_events())

    def confirm_event(self, event: str, by: str) -> None:
        self._parts.store.confirm_event(event, by, iso_utc(self._parts.clock.wall()))

    def withdraw_confirmation(self, event: str) -> None:
        self._parts.store.withdraw_confirmation(event)

    def _next_number(self) -> int:
        """Above that of the call before, whichever process made it."""
        mark = self.mark()[0]
        known = mark["number"] if mark and mark["holder"]["run"] == RUN else 0
        self._number = max(self._number, known) + 1
        return self._number


def objection(
    mark: Optional[Mark],
    unreadable: str,
    own: Sequence[str],
    asker: Asker,
    moment: Moment,
    hold: Optional[Hold],
) -> str:
    """Why the watcher must not approve anything with such a mark and such a hold on its machine; "" when it may.

    :arg own: the events for which the machine has to be prepared
    """
    view = mark_view(mark, unreadable, asker, moment)
    if view.owner == UNREADABLE:
        return view.owner_words
    if view.owner not in (NOBODY, OURS):
        return f"the machine is owned by {view.owner_words}"
    if not all(is_prepared_for(view, event.upper(), moment.boot_id, 0.0) for event in own):
        return "the machine is not prepared for it any more"
    if hold and hold.lasts(moment.wall):
        return sentence(on_hold(hold.by, hold.reason))
    return ""
