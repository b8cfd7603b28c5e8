# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every sentence that is made of other people's words, with extreme ones: no stop is doubled, no time is negative, nothing is empty."""

from __future__ import annotations

import inspect
import itertools
import re

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.messages import Reason
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.tracked_event import TrackedEvent
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import KINDS, ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import retries
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.http_transport import http_error
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.option_names import (
    with_variables,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._text import clause, seconds_until
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine import (
    event_reports,
    tick_reports,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.decision import EventDecision
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.engine_state import (
    MachineEvent,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import event_words
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.status import status_lines
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._preflight import (
    Asked as Known,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._preflight import (
    warnings,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import (
    SECONDS,
    WORDS,
    assert_well_said,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet import asked_machines
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    started,
)


def the_event(**changes):
    seen = dict(event_id="E1", event_type="Reboot", event_status="Scheduled", resource_type="VirtualMachine")
    seen.update(resources=("web1",), raw_resources=("web1",), not_before="", not_before_time=None)
    return event_reports.Event(**{**seen, **dict(description="", source="", duration=None), **changes})


EVENTS = [the_event(), the_event(event_type="", event_status="Started"), the_event(resources=("web1", "web2"))]
DECISIONS = [
    EventDecision(
        action, rule, False, False, False, (Reason("failed", words=waits or "its turn has not come"),), left, 0.0
    )
    for action, rule, left, waits in itertools.product(["prepare_and_approve", "x"], ["", "A rule."], SECONDS, WORDS)
]
LIVES = [
    MachineEvent(TrackedEvent(one, 0.0, None, frozenset(), {}, started=after), None, approved, from_mark=from_mark)
    for one, after, approved, from_mark in itertools.product(EVENTS, SECONDS, [True, False], [True, False])
]
GIVEN = {
    "event": EVENTS,
    "decision": DECISIONS,
    "reason": WORDS,
    "left": SECONDS,
    "life": LIVES,
    "names": [frozenset(), frozenset({"web2"})],
    "is_begun": [True, False],
    "outcome": ["completed", "cancelled", "unknown"],
    "back": [("step 1 (nginx): service nginx runs again",)],
    "over": [(), EVENTS],
    "coming": [EVENTS],
}
MADE = [
    function
    for _name, function in inspect.getmembers(event_reports, inspect.isfunction)
    if function.__module__ == event_reports.__name__
]


@pytest.mark.parametrize("make", MADE, ids=lambda function: function.__name__)
def test_what_a_watcher_says_of_an_event(make):
    names = list(inspect.signature(make).parameters)
    for values in itertools.product(*(GIVEN[name] for name in names)):
        if make is event_reports.changed_text and not values[1]:
            continue  # nothing has grown
        assert_well_said(make(*values))


@pytest.mark.parametrize("about", sorted(tick_reports._BEGINS))
@pytest.mark.parametrize("words", WORDS[1:])
def test_what_a_watcher_says_of_itself(about, words):
    assert_well_said(tick_reports._BEGINS[about].format(clause(words, 1000)))
    assert "clause(" in inspect.getsource(tick_reports.said)


@pytest.mark.parametrize("seconds", SECONDS)
def test_when_something_comes(seconds):
    assert_well_said(seconds_until(seconds))
    shown = asked_machines.event(notice=seconds)
    assert_well_said(event_words(shown))
    for line in status_lines([asked_machines.machine("web1", asked_machines.answer(shown))], 0.0):
        assert_well_said(line.strip().replace("  ", " ").replace("  ", " "))


def test_what_was_cancelled_does_not_come():
    shown = asked_machines.event(notice=599, status="Canceled")
    said = [event_words(shown), *status_lines([asked_machines.machine("web1", asked_machines.answer(shown))], 0.0)]
    assert "Canceled" in said[0] and not any("in 599 s" in words for words in said)


@pytest.mark.parametrize("words", WORDS)
def test_failures_of_the_client(words):
    for error in (OSError(words), ValueError(words), OSError(5, words)):
        assert_well_said(http_error(error, (error,), "http://imds.test/x", 1.0).message)
    for kind in set(KINDS) & set(retries.RETRY_FOR):
        persisting = retries.Retries(ScriptedClock())

        def fail(kind=kind):
            raise ScheduledEventsError(f"It failed: {clause(words) or 'nobody knows why'}.", kind)

        with pytest.raises(ScheduledEventsError) as caught:
            persisting.persist(fail, None)
        assert_well_said(with_variables(caught.value.message))


def broken(words, **options):
    run = Run("web1", "web2", "web3", event_timeout=60.0, recover_timeout=60.0, **options)
    run.tick()
    run.show(event("A", ["vm1", "vm2"], not_before=run.at + 200))
    return run


def played(run, trouble, when_started):
    """A run into which trouble comes before, or after, its event has started."""
    if not when_started:
        trouble()
    while not (run.record.finished or run.prepared("web1", "web2") or run.at > 150):
        run.tick()
    run.show(started(event("A", ["vm1", "vm2"])))
    run.tick(3)
    if when_started:
        trouble()
        run.tick(3)
    run.show()
    run.to_end()
    return run


@pytest.mark.parametrize("when_started", [False, True])
@pytest.mark.parametrize("what", ["down", "blind", "fails", "stuck", "refuses"])
@pytest.mark.parametrize("words", WORDS[1:])
def test_what_a_run_leaves_for_a_person(words, what, when_started):
    run = broken(words)
    played(run, lambda: setattr(run["web1"], what, words), when_started)
    said = [*run.problems, *run.record.notes.values(), *run.timeline.splitlines()]
    assert said
    for sentence in said:
        assert_well_said(re.sub(" +", " ", sentence.strip()))


@pytest.mark.parametrize("what", ["down", "blind"])
@pytest.mark.parametrize("words", WORDS[1:])
def test_what_the_preflight_says(words, what):
    run = Run("web1", "web2")
    for machine in run.machines.values():
        setattr(machine, what, words)
    run.tick()
    known = {host: Known([{"key": "a", "number": 1, "name": "a"}], None) for host in run.machines}
    for sentence in warnings(run.record, known, [], []):
        assert_well_said(sentence)
