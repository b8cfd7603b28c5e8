# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of one run of role maintain: moved on by whatever machines have answered, it says whom to call next. It changes the record, and nothing else.

Private to this collection.

Whoever holds the record (state.py) makes the calls that ``todo`` names, notes that with :func:`sent`, and hands on what has been answered by then
to :func:`move_on`, in any order: no machine waits for another's call. So every decision of a run is made in Python that tests can reach.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from . import problems
from .answers import Answers, take_answers
from .approval_reasons import take_lasting, take_reasons
from .approving import note_readiness
from .coverage import note_gaps, note_unreadable, take_watch
from .evaluation import give_turns, match_and_decide
from .hosts import new_machine, refuse_same, set_claimants_aside
from .lost_marks import give_up
from .news import Known, known, note_news
from .options import HostFacts, checked_options, host_of, run_options, typed
from .outages import follow, note_restarts
from .reached import note_reached, take_reached
from .recalled import stop_recalling, take_bearers, take_recalled
from .reports import note, note_clock
from .run_events import Look, take_looks
from .said_there import keep_off
from .scopes import join, note_splits, shown_lately, take_differences
from .slowness import note_late
from .state import Clock, Record
from .termination import end, stop_watching
from .tick_planner import sent, todo_of

__all__ = ["begun", "move_on", "sent"]


def begun(given: Sequence[HostFacts], options: Mapping[str, Any], at: float, wall: float) -> Record:
    """A record in which nothing has happened yet.

    :arg given: what the role says of each host; numbers and truth values may be texts, of the run as well
    :arg at: the controller's monotonic clock
    :arg wall: the Unix time of this moment
    :raises PlanError: options contradict each other, or two hosts are one machine
    """
    hosts = cast("list[HostFacts]", [typed(facts) for facts in given])
    refuse_same(hosts)
    checked = checked_options(hosts)
    machines = {facts["host"]: new_machine(host_of(facts, checked.hosts[facts["host"]])) for facts in hosts}
    record = Record(run_options(options), checked.same, Clock(at, wall), at, machines)
    for position, warning in enumerate(checked.warnings):
        note(record, f"options: {position}", warning)
    record.todo = todo_of(record)
    return record


def move_on(record: Record, answers: Answers, at: float, wall: float | None = None) -> None:
    """One pass over what has been answered: from the answers to what is called next.

    :arg answers: what the machine program answered, by host; nothing of hosts whose calls are still under way
    :arg wall: the Unix time of this moment; None where it goes on as it did
    """
    before = known(record)
    record.at, record.ticks = at, record.ticks + 1
    if wall is not None:
        note_clock(record, at, wall)
    looks = take_answers(record, answers)
    _what_documents_say(record, looks)
    _whom_it_concerns(record)
    _who_may_be_out(record)
    _what_may_be_approved(record)
    _what_is_over(record)
    _who_is_called_next(record)
    _what_to_say(record, before)


def _what_documents_say(record: Record, looks: list[Look]) -> None:
    take_recalled(record)
    take_bearers(record, {look.host for look in looks})
    seen_before = set(record.events)
    take_looks(record, looks)
    note_late(record, looks, seen_before)
    note_gaps(record, take_watch(record, looks))
    note_unreadable(record, {look.host: look.result for look in looks})
    note_splits(record, take_differences(record, shown_lately(record)))
    join(record)


def _whom_it_concerns(record: Record) -> None:
    """And what the policies of these machines say."""
    set_claimants_aside(record)
    match_and_decide(record)
    give_up(record)
    keep_off(record)
    note_restarts(record)


def _who_may_be_out(record: Record) -> None:
    take_lasting(record)
    give_turns(record)


def _what_may_be_approved(record: Record) -> None:
    take_reasons(record)
    note_readiness(record)


def _what_is_over(record: Record) -> None:
    """Which machines could be back, which events have come or are not watched any more, whether the run is over."""
    follow(record)
    note_reached(record, take_reached(record))
    problems.note_capacity(record)
    stop_recalling(record)
    stop_watching(record)
    end(record)


def _who_is_called_next(record: Record) -> None:
    """And what each machine is to become (targets.py)."""
    record.todo = todo_of(record)


def _what_to_say(record: Record, before: Known) -> None:
    record.problems = problems.of_record(record)
    record.since = {subject: record.since.get(subject, record.at) for subject in record.problems}
    note_news(record, before)
