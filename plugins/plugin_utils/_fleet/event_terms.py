# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an event's handling goes by: by when its machines have to be prepared, in which hours that may be done early, and what their policies
say. The core's answers, asked of the record. Pure.

Each affected machine is prepared by its own policy. An approval holds for all of them, so the strictest of their actions decides
about it, whatever the machines are otherwise like. What Azure is going to do anyway is prepared for in time, hours or not.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...module_utils._core import deadlines
from ...module_utils._core.deadlines import LATER, Terms
from ...module_utils._core.decision import Judged, by_policy
from ...module_utils._core.messages import Reason
from ...module_utils._events.event import Event
from ...module_utils._events.hours import Hours, opens
from ...module_utils._events.policy import Decision, Rule, strictest
from ...module_utils._text import clause, listed
from .capacity import SLACK, Candidate, Turn
from .event_state import EventState, PoliciesDecision
from .machine_state import MachineState
from .marks import mark_keys, marked_events
from .reports import wall_time
from .run_events import not_before
from .state import Record

PER_STEP = 4.0
"""Seconds from one step to the next: a tick, where they are not all done in one call."""

PER_STEP_WINDOWS = 10.0
"""The same on Windows, where Ansible's modules do each step: two of them or three, and each starts a PowerShell of its own."""

SHARE_OF_NOTICE_FOR_MARGIN = 0.25
"""Of the notice, that a margin takes at most: a run decides once a tick, and that has to fit into a Preempt's 30 s (S4.13)."""


def terms(machine: MachineState) -> Terms:
    """What a machine needs to be prepared and recovered."""
    options = machine.options
    return Terms(
        margin=options.margin,
        share=SHARE_OF_NOTICE_FOR_MARGIN,
        prepare_before=options.prepare_before,
        limits=seconds_needed(machine),
        undo_limits=machine.given.undo_needs,
        slack=SLACK,
    )


def seconds_needed(machine: MachineState) -> float:
    """How long its preparation may take."""
    return machine.given.needs + machine.given.steps * (PER_STEP if machine.given.is_linux else PER_STEP_WINDOWS)


def preparation_end(entry: EventState, machine: MachineState) -> float:
    """When a machine has to be prepared: at not-before, less its margin, a share of the notice that this not-before came with."""
    return deadlines.prepared_by(entry.tracked, terms(machine))


def wanted_from(entry: EventState, machine: MachineState) -> float:
    """When the machine begins to be prepared for an event that is not approved."""
    return deadlines.wanted_from(entry.tracked, terms(machine))


def is_last_call(entry: EventState) -> bool:
    """Whether it has started, and takes its machines away: what is not done now will never be."""
    return deadlines.is_last_call(entry.tracked)


def must_prepare(entry: EventState, machine: MachineState, at: float) -> bool:
    """Whether the time that is left has come to where the machine has to be prepared."""
    now = entry.turn.state == "due" or machine.host in entry.decided.start_now
    return now or deadlines.urgency(entry.tracked, terms(machine), at) != LATER


def may_come_now(entry: EventState, machine: MachineState, key: str, at: float) -> bool:
    """Whether the machine is prepared for it though its time has come: nobody knows when it starts."""
    return deadlines.may_come_now(entry.tracked, begun(machine, key), at)


def begun(machine: MachineState, key: str) -> float | None:
    """When its preparation for an event was begun; None where it was not."""
    return machine.begun if key in mark_keys(machine) else None


def is_late(record: Record, entry: EventState, machine: MachineState) -> bool:
    """Whether the machine became prepared, be it for another event, when it should have been already: by whomever, such an event is not
    approved."""
    results = [one.prepared.get(machine.host) for one in (entry, *marked_events(record, machine))]
    moments = [result.at for result in results if result and result.ok]
    return bool(moments) and min(moments) > preparation_end(entry, machine)


NOT_EARLY = 300.0
"""Seconds before its not-before from which on an event is prepared for outside of its hours, too, unless ``prepare_before`` is less."""


class Closed(NamedTuple):
    """Hours that are not open.

    words: which
    opens: the moment of the run at which they open; None when that is not before the event's not-before
    when: that moment for people
    """

    words: str
    opens: float | None
    when: str


def closed(record: Record, entry: EventState, at: float) -> Closed | None:
    """The hours of an event's machines where they are not all open now; None where nothing has to wait for them, as for what has been
    approved, which may start at any moment."""
    return None if entry.approval.sent else not_open(record, entry, at)


def not_open(record: Record, entry: EventState, at: float) -> Closed | None:
    """The hours of an event's machines where they are not all open now, whether it has been approved or not."""
    several = _hours(entry)
    wall = wall_time(record, at)
    found = opens(list(several), wall, wall + max(not_before(entry) - at, 0.0)) if several else wall
    if found == wall:
        return None
    words = listed(
        f"{hours.words}{f' for {listed(hosts)}' if len(several) > 1 else ''}" for hours, hosts in several.items()
    )
    if found is None:
        return Closed(words, None, "")
    when = next(iter(several)).moment_words(found)
    return Closed(words, at + found - wall, f"{when}, in {in_words(found - wall)}")


def _hours(entry: EventState) -> dict[Hours, list[str]]:
    """All hours of an event's machines, each with its hosts."""
    found: dict[Hours, list[str]] = {}
    same: dict[str, Hours] = {}  # each zone that was read is one of its own
    for host, hours in entry.decided.hours.items():
        found.setdefault(same.setdefault(repr(hours.as_rule()), hours), []).append(host)
    return found


def within_hours(turn: Turn, candidate: Candidate, shut: Closed, holds: bool, approves: bool) -> Turn:
    """The turn of an event whose hours are not open, as people read it: that it is neither prepared for early nor approved is decided
    with all other reasons.

    :arg holds: whether nothing but its hours is the reason why it is left for later
    :arg approves: whether it is to be approved at all
    """
    if turn.state == "later":
        return turn._replace(state="waits", words=turn.words or _waiting_words(candidate, shut)) if holds else turn
    if not holds_up(turn, approves):
        return turn
    then = f"before {shut.when}" if shut.when else "and starts by itself"
    words = f"its hours ({shut.words}) are not open: it is not approved {then}"
    return turn._replace(words="; ".join(part for part in (turn.words, words) if part))


def _waiting_words(candidate: Candidate, shut: Closed) -> str:
    if shut.when:
        return f"it waits for its hours ({shut.words}): they open {shut.when}"
    how = "it is prepared in time, and starts by itself" if candidate.needs else "it starts by itself"
    return f"its hours ({shut.words}) do not open before its not-before: {how}"


def holds_up(turn: Turn, approves: bool) -> bool:
    """Whether an event has to wait for its hours, which are not open, with its preparation or its approval."""
    return turn.state != "later" and not turn.too_large and (turn.state == "waits" or approves)


def outside_hours(shut: Closed) -> Reason:
    """That its hours are not open, as a reason against its approval."""
    when = shut.when or "at its not-before, as they do not open earlier"
    return Reason("outside_hours", words=shut.words, ends=f"by itself {when}")


def resumes(turn: Turn, candidate: Candidate, shut: Closed, at: float) -> float | None:
    """When an event that only waits for its hours is to be decided on again: they open, or its preparation is due."""
    if turn.state != "waits" or turn.too_large or candidate.left <= candidate.near:
        return None  # in the last case it is the capacity that it waits for
    due = at + candidate.left - max(candidate.needs + SLACK, candidate.near)
    return due if shut.opens is None else min(shut.opens, due)


def in_words(seconds: float) -> str:
    """Such as ``40 s``, ``12 min``, ``3 h 5 min``, ``2 d 3 h``"""
    minutes = int(seconds // 60)
    if minutes < 2:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h")] if days else [(hours, "h"), (minutes, "min")]
    return " ".join(f"{number} {unit}" for number, unit in parts if number)


_WORDS = {
    "ignore": "nothing",
    "notify": "show it only",
    "prepare": "prepare, do not approve",
    "hold": "prepare, then wait for a confirmation",
    "prepare_and_approve": "prepare, then approve",
    "approve": "approve at once",
}


def decided(
    event: Event, notice: float | None, rules: Mapping[str, Sequence[Rule]], status: str = ""
) -> PoliciesDecision:
    """What is to be done about an event.

    :arg notice: seconds until its not-before, by which it is judged; None where that is not known
    :arg status: by which it is judged; "" for that which it has
    :arg rules: the policy of each machine that it affects, by host in the order of the inventory; at least one
    """
    by = Judged(status or event.event_status, notice)
    decisions = {host: by_policy(event, own, by) for host, own in rules.items()}
    actions = {host: decision.action for host, decision in decisions.items()}
    action = strictest(actions.values())
    deciding = [host for host in actions if actions[host] == action]
    first = decisions[deciding[0]]
    words = f"{_WORDS[action]}{_hours_words(first)} [policy: {clause(first.rule)}; {first.reason}]"
    if len(deciding) < len(actions):
        others = (f"{host}: {_WORDS[other]}" for host, other in actions.items() if other != action)
        words += f"; strictest: {listed(deciding)}; {listed(others)}"
    hours = {host: decision.hours for host, decision in decisions.items() if decision.hours}
    start_now = tuple(host for host, decision in decisions.items() if decision.now)
    return PoliciesDecision(actions, hours, start_now, action, first.rule, words)


def _hours_words(decision: Decision) -> str:
    return f", early only {decision.hours.words}" if decision.hours else ""
