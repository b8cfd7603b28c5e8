# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done about one of the machine's events now: whether to prepare for it, whether to approve it, else why not. Pure.

Private to this collection.

What is decided by that is the core's (_core/decision). Here is collected what a watcher knows of its machine and its scope. What it will
not approve, others' turn or a person's hold among the reasons, is prepared for when the time left falls to ``azure_maintenance_prepare_before``:
until then the machine serves.

Turns go by the document: all machines of a scope read the same one, and so agree on whose turn it is to be out voluntarily. A watcher sees
no recoveries and no other scopes: after another machine's event has left it waits a while.
"""

from typing import FrozenSet, List, Mapping, NamedTuple, Optional, Tuple

from ..._clock import iso_utc
from ..._core import deadlines
from ..._core.deadlines import LATER
from ..._core.decision import PREPARING, Standing, acts, by_policy, decide
from ..._core.decision import judged as judged_by
from ..._core.mark_view import NOBODY, OURS, UNREADABLE, is_copied, is_prepared_for
from ..._core.messages import Reason, on_hold, sentence, title_of
from ..._core.second_look import NOT_LOOKED_AT
from ..._events.document import Document
from ..._events.event import Event
from ..._events.hours import Hours, is_open, opens
from ..._events.policy import Decision
from ..settings.options import NEVER
from .engine_state import MachineEvent
from .interface import Hold
from .snapshot import Snapshot


def of_others(document: Document, name: str) -> List[Event]:
    """The events that list another machine than this one, advice aside, which comes to nothing."""
    return [
        event
        for event in document.events
        if not event.is_advice and any(resource.lower() != name.lower() for resource in event.resources)
    ]


def keys_of_others(document: Document, name: str) -> FrozenSet[str]:
    """Their keys, and those of what can't be read: it may be another machine's."""
    return frozenset([event.key for event in of_others(document, name)] + [entry.key for entry in document.unusable])


def not_its_turn(
    event: Event, document: Document, name: str, quiet: float, after: float, others_left: bool
) -> Optional[Reason]:
    """Why it is not the event's turn; None when it is.

    :arg name: of this machine
    :arg quiet: seconds for which nothing of another machine's has left the document
    :arg after: seconds that have to pass after that
    :arg others_left: whether something has left it then; else nobody had polled before
    """
    others = [other for other in of_others(document, name) if other.key != event.key]
    struck = [other for other in others if other.has_started]
    if struck:
        return Reason("under_way", title_of(struck[0]))
    before = [other for other in others if other.is_scheduled and _place(other) < _place(event)]
    if before:
        return Reason("comes_first", title_of(min(before, key=_place)))
    if document.unusable:
        return Reason("unreadable_entry")
    if quiet < after:
        code = "cooldown" if others_left else "first_polls"
        return Reason(code, f"{after:.0f} s", f"{quiet:.0f} s", f"by itself in {after - quiet:.0f} s")
    return None


def _place(event: Event) -> Tuple[float, str]:
    return (float("inf") if event.not_before_time is None else event.not_before_time, event.key)


class EventDecision(NamedTuple):
    """What is to be done about an event."""

    action: str  # of the policy's rule
    rule: str
    prepare: bool  # now, or the machine is being prepared for it already
    must: bool  # because the time left has come to that
    approve: bool  # now
    reasons: Tuple[Reason, ...]  # why it is not approved, the first one first; none when it is
    left: float  # seconds until it may start by itself
    margin: float

    @property
    def waits_for_look(self) -> bool:
        """Whether its approval waits for nothing but a second look at this machine."""
        return all(reason.code == NOT_LOOKED_AT for reason in self.reasons)

    @property
    def waits(self) -> str:
        """Why it is not approved, as a clause; "" when it is."""
        return sentence(self.reasons[0]) if self.reasons else ""


def judged(here: Snapshot, life: MachineEvent) -> MachineEvent:
    """What was decided stays so, though the notice shrinks; what was left alone is judged anew. What was not run stays undone."""
    if here.is_marked(life) and not life.lacked:
        life = life._replace(lacked=_of_its_type(here.facts.lacking, here, life))
    notice = None if life.tracked.deadline is None else here.left(life)
    by = judged_by(life.event, notice, life.judged, acts(decided(here, life).action))
    return life if by == life.judged else life._replace(judged=by)


def decided(here: Snapshot, life: MachineEvent) -> Decision:
    """What the policy says."""
    return by_policy(life.event, here.facts.settings.policy, life.judged)


def decision_on(here: Snapshot, life: MachineEvent) -> EventDecision:
    """What is to be done about an event that is not over."""
    decision, terms = decided(here, life), here.terms
    left, margin = here.left(life), deadlines.margin(life.tracked, terms)
    must = decision.now or deadlines.urgency(life.tracked, terms, here.now) != LATER
    found = decide(
        life.event,
        decision.action,
        [_standing(here, life, decision)],
        life.key in here.facts.confirmed,
        left,
        has_started=life.started,
        must=must,
        first=_first(here, life),
        lasting=_lasting(here, life, decision, left),
        passing=_passing(here, life),
    )
    prepare = _prepare(here, life, decision, found.prepare)
    return EventDecision(decision.action, decision.rule, prepare, must, found.approve, found.reasons, left, margin)


# ---- prepare ----


def _prepare(here: Snapshot, life: MachineEvent, decision: Decision, may_begin: bool) -> bool:
    if (
        life.failed
        or is_suppressed(here, life)
        or not (life.is_coming or (life.has_struck and life.event.takes_machines_away))
    ):
        return False
    if here.is_marked(life):
        return True  # it was begun: neither a turn that passes nor other settings end it
    if not here.acts or decision.action not in PREPARING:
        return False
    return may_begin


def is_suppressed(here: Snapshot, life: MachineEvent) -> bool:
    """Whether a person has recovered the machine despite the event. A confirmation of it, which can only be later, ends that."""
    return life.key in here.facts.suppressed and life.key not in here.facts.confirmed


# ---- what stands against approving it ----


def _standing(here: Snapshot, life: MachineEvent, decision: Decision) -> Standing:
    """How the machine stands to it: by its mark, and by what is not run on it."""
    if decision.action not in PREPARING:
        return Standing("", decision.action, False)
    left_out = bool(life.lacked or _of_its_type(here.facts.lacking, here, life))
    prepared = is_prepared_for(here.marked, life.key, here.facts.moment.boot_id, 0.0, left_out=left_out)
    failed = [Reason("failed", words=life.failed)] if life.failed else []
    late = [Reason("late")] if life.late else []
    return Standing("", decision.action, prepared, tuple(failed + late))


def _first(here: Snapshot, life: MachineEvent) -> List[Reason]:
    found = [Reason("put_back")] if is_suppressed(here, life) else []
    return found if here.acts else [*found, Reason("report_only")]


def _lasting(here: Snapshot, life: MachineEvent, decision: Decision, left: float) -> List[Reason]:
    """What preparing the machine does not end."""
    facts, found = here.facts, []
    # What a recovery will need may still be put right; what a preparation went without stays undone.
    lacking = life.lacked or _of_its_type(facts.lacking, here, life) or _of_its_type(facts.recovery_lacks, here, life)
    if decision.action in PREPARING and lacking:
        found.append(Reason("left_out", words=lacking))
    if facts.settings.approve == NEVER:
        found.append(Reason("never_approves"))
    if life.tracked.names != {here.name.lower()}:
        found.append(Reason("other_machines"))
    if facts.hold and is_held(facts.hold, here):
        found.append(_on_hold(facts.hold))
    if decision.hours and not is_open(decision.hours, here.wall):
        found.append(_outside_hours(decision.hours, here.wall, left))
    if here.document is None:
        found.append(Reason("no_document"))
    else:
        turn = not_its_turn(life.event, here.document, here.name, here.quiet, facts.settings.cooldown, here.others_left)
        found += [turn] if turn else []
    return found


def _passing(here: Snapshot, life: MachineEvent) -> List[Reason]:
    """What only has to be waited for."""
    found = []
    if here.marked.owner == UNREADABLE:
        found.append(Reason("unreadable_mark", words=here.marked.owner_words))
    elif here.marked.owner not in (NOBODY, OURS):
        found.append(Reason("owned", words=here.marked.owner_words))
    if not here.may_act:
        found.append(Reason("cannot_act"))
    if not here.is_fresh or life.is_lacking:
        found.append(Reason("not_shown"))
    if here.is_marked(life) and here.second_look.why:
        found.append(Reason(NOT_LOOKED_AT, words=here.second_look.why))
    return found


def _on_hold(hold: Hold) -> Reason:
    ends = "" if hold.until is None else f"by itself at {iso_utc(hold.until)}, or: azure-maintenance release"
    return on_hold(hold.by, hold.reason, ends=ends)


def _outside_hours(hours: Hours, wall: float, left: float) -> Reason:
    found = opens([hours], wall, wall + max(left, 0.0))
    when = "at its not-before, as they do not open earlier" if found is None else f"at {hours.moment_words(found)}"
    return Reason("outside_hours", words=hours.words, ends=f"by itself {when}")


def _of_its_type(lacking: Mapping[str, str], here: Snapshot, life: MachineEvent) -> str:
    """Which hook is not run; "" where all are."""
    return lacking.get(life.kind if life.kind in here.facts.steps else "", "")


def is_held(hold: Hold, here: Snapshot) -> bool:
    """Whether approvals are held back: not by what was copied from another machine, nor for longer than was said."""
    return not is_copied(hold.vm_id, here.vm_id) and hold.lasts(here.wall)
