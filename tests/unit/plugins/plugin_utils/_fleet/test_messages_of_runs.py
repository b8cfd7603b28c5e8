# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every problem, note and line of the timeline of `maintain`, with extreme values (as in test_messages): a record in which, one after the
other, each text from elsewhere and each moment is another one than it would be in a run that goes well."""

from __future__ import annotations

import copy
import itertools

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._text import first_line
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import coverage, problems, result
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.approval_reasons import (
    take_lasting,
    take_reasons,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.approving import (
    note_readiness,
    take_approval,
    take_lost_approval,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.evaluation import give_turns
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.event_state import Whom
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.machine_state import KEPT
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.news import known, news, note_news
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.reached import (
    note_reached,
    take_reached,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.run_events import STAYED, TAKEN
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import (
    SECONDS,
    WORDS,
    assert_well_said,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    mark,
    put,
)

WATCHER = {"mode": "manage", "version": "1.0.0", "endpoint": "", "alive": True, "lacks": [], "prepares": True}


def drained():
    """A run whose event is prepared for, and to be approved."""
    run = Run("web1", "web2", "web3", policy=[{"name": "Whatever it is.", "do": "prepare_and_approve"}])
    run.tick()
    run.show(event("A", ["vm1", "vm2", "vm9"], not_before=run.at + 600))
    return run.until(lambda: run.prepared("web1", "web2"))


PREPARED = drained()


def marks_of(words):
    name = "n" * 50 if words else ""
    yield None
    yield {"unreadable": words or "it is no JSON"}
    for kind, phase, run in itertools.product(
        ("run", "drain", "watcher"), ("preparing", "prepared", "half"), ("r1", name)
    ):
        yield mark(run, ["A"], phase=phase, kind=kind)
    yield dict(mark("r7", ["A"]), endpoint="http://10.0.0.4:8780")
    yield dict(mark(name, []), holder={"kind": "", "run": name, "job": name, "controller": name}, since=name)
    yield dict(mark("r1", ["A"]), steps=[{"key": words, "state": "done", "unwords": words}])


def changes_of(words):
    """What may come to be of a machine, or of an event, with somebody's words. Lines from machines are cleaned where they are taken."""
    line = first_line(words, 1000)
    for one in marks_of(words):
        for more in ({}, {"lost": line}, {"why": line}, {"seen__problem": line}, {"lost_mark": KEPT, "why": line}):
            yield "web1", {"said__mark": one, **more}
        watcher = dict(WATCHER, lacks=[words] if words else [])
        yield "web1", {"said__mark": one, "recovering": 1.0, "said__watcher": watcher}
    for more in ({}, {"lost": line}, {"who__problem": line}, {"left": True, "lost": line}):
        yield "web1", {"said__mark": None, "answered": None, **more}
        yield "web1", {"said__mark": None, "who__name": "", **more}
        yield "web1", {"said__mark": None, "begun": None, "in_vain__failures": 2, **more}
    yield "web1", {"said__hold": {"vm_id": "", "by": words or "root", "reason": words}}
    for more in ({}, {"tracked__started": 20.0}, {"tracked__gone": 30.0, "tracked__outcome": "unknown"}):
        yield "A", {"failed": dict.fromkeys(("web1", "web2"), line or "it failed"), **more}
        yield "A", {"whom": Whom(unknown=("vm9",), nameless=("web3",)), **more}
        yield "A", {"against__hold": line, **more}
        yield "A", {"turn__words": "it is larger than the capacity", "turn__too_large": True, **more}
        yield "A", {"closed": STAYED, "tracked__event__event_status": "", **more}
        yield "A", {"closed": TAKEN, "tracked__event__event_type": "", "tracked__event__source": "", **more}


def changed(record, name, changes):
    found = copy.deepcopy(record)
    put((found.hosts if name in found.hosts else found.events)[name], **changes)
    return found


def assert_all_well_said(record, at):
    before, number = known(record), len(PREPARED.record.happenings)
    record.at = at
    note_reached(record, take_reached(record))
    problems.note_capacity(record)
    record.problems = problems.of_record(record)
    note_news(record, before)
    said = [*record.problems.values(), *record.notes.values()]
    for sentence in said:
        assert_well_said(sentence)
    lines = result.end_lines(record)
    for line in (*lines, *result.plan_lines(record), *news(record, number)):
        assert_well_said(" ".join(line.split()))


@pytest.mark.parametrize("words", WORDS)
def test_what_a_run_says_of_its_machines_and_events(words):
    for (name, changes), both in itertools.product(changes_of(words), (False, True)):
        record = changed(PREPARED.record, name, changes)
        if both and name == "web1":
            record = changed(record, "web2", changes)
        if not any("hold" in path for path in changes):
            take_lasting(record)
            take_reasons(record)
            note_readiness(record)
        assert_all_well_said(record, PREPARED.at)


@pytest.mark.parametrize("words", WORDS)
def test_what_a_run_says_of_an_approval(words):
    answers = [
        {"not_approved": [{"id": "A", "message": words}]},
        {"not_approved": [{"id": "A", "message": words}], "failure": {"kind": "denied"}, "msg": words},
        {"problem": words},
        {},
    ]
    for answer in answers:
        record = changed(PREPARED.record, "A", {})
        take_approval(record, "web3", ["A"], answer)
        take_lost_approval(record, "web3", ["A"], words, "problem" in answer)
        take_lasting(record)
        take_reasons(record)
        note_readiness(record)
        assert_all_well_said(record, PREPARED.at)


@pytest.mark.parametrize(
    "moment", ["tracked__shown", "tracked__deadline", "announced", "tracked__started", "tracked__gone"]
)
@pytest.mark.parametrize("seconds", SECONDS[:-1] + [1e9])
def test_what_a_run_says_of_moments(moment, seconds):
    for closed, failed in itertools.product(("", STAYED), ({}, {"web1": "It broke."})):
        record = changed(PREPARED.record, "A", {moment: seconds, "closed": closed, "failed": failed})
        give_turns(record)
        take_lasting(record)
        take_reasons(record)
        note_readiness(record)
        assert_all_well_said(record, PREPARED.at)


@pytest.mark.parametrize("words", WORDS)
def test_what_a_run_says_of_what_it_did_not_see(words):
    record = changed(PREPARED.record, "web1", {"lost": first_line(words, 1000)})
    put(record.hosts["web2"], seen__problem=first_line(words, 1000))
    coverage.note_unreadable(
        record, {"web1": {"unusable_events": [{"id": "", "position": 1, "reason": words or "it is no object"}]}}
    )
    coverage.note_incarnation(record, record.hosts["web1"], -1)
    record.at += 1e6
    coverage.note_gaps(record, coverage.take_watch(record, []))
    assert_all_well_said(record, PREPARED.at + 1e6)
