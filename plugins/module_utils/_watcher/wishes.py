# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done about one of the machine's events now: whether to prepare for it, whether to approve it, else why not. Pure.

Private to this collection.

By choice, that is before it must be, a machine is only prepared for what its watcher is going to approve. What it will not approve,
others' turn or a person's hold among the reasons, is prepared for when the time left falls to ``watcher_prepare_before``: until then
the machine serves.
"""

from typing import Mapping, NamedTuple

from .._core.mark_view import NOBODY, OURS, is_copied, is_prepared_for
from .._events.hours import is_open
from .._events.policy import Decision, decide
from .._text import one_line
from . import times
from .facts import NEVER, Hold
from .here import Here
from .life import Life
from .turns import not_its_turn

PREPARING = ("prepare", "hold", "prepare_and_approve")
"""Actions by which the machine is prepared."""

APPROVING = ("hold", "prepare_and_approve", "approve")
"""Actions by which an event is approved: of ``hold``, once a person has said yes."""

LONG = 600.0
"""Seconds that are given to what has its limits of its own."""


class Wish(NamedTuple):
    """What is to be done about an event."""

    action: str  # of the policy's rule
    rule: str
    prepare: bool  # now, or the machine is being prepared for it already
    must: bool  # because the time left has come to that
    approve: bool  # now
    waits: str  # why it is not approved, as a clause; "" when it is
    left: float  # seconds until it may start by itself
    budget: float  # seconds that there are to prepare for it
    margin: float


def judged(here: Here, life: Life) -> Life:
    """What was decided stays so, though the notice shrinks; what was left alone is judged anew. What was not run stays undone."""
    if here.is_marked(life) and not life.lacked:
        life = life._replace(lacked=_of_its_type(here.facts.lacking, here, life))
    if life.judged is not None and decided(here, life).action in (*PREPARING, *APPROVING):
        return life
    return life._replace(judged=None if life.event.not_before_time is None else here.left(life))


def decided(here: Here, life: Life) -> Decision:
    """What the policy says."""
    event = life.event
    if not (event.is_scheduled or event.has_started or event.is_advice):
        return Decision("notify", "", "its status is not one that can be prepared for")
    return decide(event, here.facts.settings.policy, life.judged)


def wish(here: Here, life: Life) -> Wish:
    """What is to be done about an event that is not over."""
    decision = decided(here, life)
    left, margin = here.left(life), times.margin(life.notice)
    must = _is_due(here, life, left, margin)
    against = _against(here, life, decision)
    prepare = _prepare(here, life, decision, must, against)
    waits = against or _not_yet(here, life, decision)
    budget = LONG if life.started or _was_overdue(life) else left
    return Wish(decision.action, decision.rule, prepare, must, not waits, waits, left, budget, margin)


# ---- prepare ----


def _is_due(here: Here, life: Life, left: float, margin: float) -> bool:
    """Whether it has to be prepared for now, by choice or not. What has struck is the exception that takes the machine away."""
    if life.has_struck:
        return life.event.takes_machines_away
    if _was_overdue(life):
        return True
    settings = here.facts.settings
    return 0 < left <= max(settings.prepare_before, settings.limits + margin)


def _was_overdue(life: Life) -> bool:
    """Whether its time had come when it was first seen, and it had not started: nobody knows what time it is."""
    return life.notice is not None and life.notice <= 0


def _prepare(here: Here, life: Life, decision: Decision, must: bool, against: str) -> bool:
    if (
        life.failed
        or is_put_back(here, life)
        or not (life.is_coming or (life.has_struck and life.event.takes_machines_away))
    ):
        return False
    if here.is_marked(life):
        return True  # it was begun: neither a turn that passes nor other settings end it
    if not here.acts or decision.action not in PREPARING:
        return False
    return must or not against


def is_put_back(here: Here, life: Life) -> bool:
    """Whether a person has put the machine back into service in spite of the event. A yes to it, which can only be later, ends that."""
    return life.key in here.facts.put_back and life.key not in here.facts.yes


# ---- approve ----


def _against(here: Here, life: Life, decision: Decision) -> str:
    """What speaks against approving it by choice, the machine's own readiness aside."""
    facts, event = here.facts, life.event
    yes = life.key in facts.yes
    if life.started:
        return "it has started"
    if is_put_back(here, life):
        return "a person has put the machine back into service in spite of it"
    if not here.acts:
        return "the watcher only reports"
    if event.is_advice:
        return "it is advice, and an approval has no effect"
    if not event.is_scheduled:
        return "its status is not one that can be approved"
    if decision.action not in APPROVING and not (yes and decision.action in PREPARING):
        return f"the policy says {decision.action}"
    # What a recovery will need may still be put right; what a preparation went without stays undone.
    lacking = life.lacked or _of_its_type(facts.lacking, here, life) or _of_its_type(facts.recovery_lacks, here, life)
    if decision.action in PREPARING and lacking:
        return lacking
    if facts.settings.approve == NEVER:
        return "the watcher never approves (watcher_approve)"
    if life.names != {here.name.lower()}:
        return "it lists other machines, too"
    if facts.hold and is_held(facts.hold, here):
        return f"{one_line(facts.hold.by)} holds all approvals"
    if decision.hours and not is_open(decision.hours, here.wall):
        return f"its hours ({decision.hours.words}) are not open"
    if here.document is None:
        return "no document has come so far"
    return not_its_turn(event, here.document, here.name, here.quiet, facts.settings.turn_after)


def _of_its_type(lacking: Mapping[str, str], here: Here, life: Life) -> str:
    """Which hook is not run; "" where all are."""
    return lacking.get(life.kind if life.kind in here.facts.steps else "", "")


def _not_yet(here: Here, life: Life, decision: Decision) -> str:
    """What it waits for on this machine."""
    if here.marked.owner not in (NOBODY, OURS):
        return f"the machine is held by {here.marked.owner_words}"
    if not here.may_act:
        return (
            "the watcher can't act: the system goes down, its state can't be written, or it does not know its name yet"
        )
    if not here.is_fresh or life.absent is not None:
        return "the last document that came does not show it, or is too old"
    if decision.action == "hold" and life.key not in here.facts.yes:
        return "it waits for a person's yes"
    if here.left(life) <= 0:
        return "its time has come: it starts by itself"
    if decision.action not in PREPARING:
        return ""
    if life.failed:
        return f"the machine could not be prepared: {life.failed}"
    if life.late:
        return "the machine was prepared too late"
    left_out = bool(life.lacked or _of_its_type(here.facts.lacking, here, life))
    if not is_prepared_for(here.marked, life.key, here.facts.moment.boot_id, 0.0, left_out=left_out):
        return "the machine is not prepared yet"
    return ""


def is_held(hold: Hold, here: Here) -> bool:
    """Whether approvals are held back: not by what was copied from another machine, nor for longer than was said."""
    return not is_copied(hold.vm_id, here.vm_id) and hold.lasts(here.wall)
