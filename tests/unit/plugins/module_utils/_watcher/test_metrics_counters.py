# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher counts: each outage once, and each failed hook."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import OURS, MarkView
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Say
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.values import (
    BOUNDS,
    Counters,
)

BEGAN = 1767225600.0


def follow(counters, name="o1", since=BEGAN, **states):
    """The mark of an outage, and its hooks by their states."""
    steps = [
        {"key": key, "type": "recover_hook" if key.startswith("recover") else "prepare_hook", "state": state}
        for key, state in states.items()
    ]
    counters.follow(MarkView(OURS, outage=name), since, steps)


def outages(counters):
    return {name: count for name, count in counters.outages.items() if count}


def report(counters, happened, outage="o1", after=100.0):
    counters.take_report(Say(happened, "words", outage=outage), BEGAN + after)


@pytest.mark.parametrize(
    ("reports", "outcome"),
    [
        (["prepared", "recovered"], "recovered"),
        (["prepare_failed", "recovered"], "prepare_failed"),
        (["prepare_failed", "prepared", "recovered"], "recovered"),
        (["started_unprepared", "recovered"], "unprepared"),
        (["prepare_failed", "started_unprepared", "prepared", "recovered"], "unprepared"),
        (["started_unprepared", "started_unprepared", "mark_removed"], "unprepared"),
        (["prepared", "mark_removed"], "mark_removed"),
        (["prepared", "recovery_interrupted"], "interrupted"),
        (["scheduled", "approved", "started", "ended", "recovery_failed", "recovered"], "recovered"),
    ],
)
def test_an_outage_is_counted_once(reports, outcome):
    counters = Counters()
    follow(counters)
    for happened in reports:
        report(counters, happened)
    assert outages(counters) == {outcome: 1}
    report(counters, "recovered")
    assert outages(counters) == {outcome: 1}, "the same end twice"


def test_unprepared_is_counted_at_once_also_without_a_mark():
    counters = Counters()
    report(counters, "started_unprepared", outage="")
    assert outages(counters) == {"unprepared": 1}
    report(counters, "recovered", outage="")
    assert outages(counters) == {"unprepared": 1} and sum(counters.buckets) == 0


def test_what_is_reported_of_an_event_without_a_mark_is_none_of_the_outage():
    counters = Counters()
    follow(counters)
    report(counters, "prepare_failed", outage="")
    report(counters, "recovered")
    assert outages(counters) == {"recovered": 1}


@pytest.mark.parametrize(("seconds", "bucket"), [(-5, 0), (0, 0), (60, 0), (60.9, 0), (61, 1), (14400, 8), (14401, 9)])
def test_how_long_it_took(seconds, bucket):
    counters = Counters()
    follow(counters)
    report(counters, "recovered", after=seconds)
    assert [number for number, count in enumerate(counters.buckets) if count] == [bucket]
    assert counters.seconds == max(0, int(seconds)) and len(counters.buckets) == len(BOUNDS) + 1


def test_another_outage_begins_with_its_own_time():
    counters = Counters()
    follow(counters)
    report(counters, "recovery_interrupted", outage="o2")
    follow(counters, "o2", BEGAN + 100)
    report(counters, "recovered", outage="o2", after=150)
    assert outages(counters) == {"interrupted": 1, "recovered": 1} and counters.seconds == 150


def test_a_hook_that_fails_is_counted_once_and_again_when_it_is_run_again():
    counters = Counters()
    for state, count in (("begun", 0), ("failed", 1), ("failed", 1), ("taking_back", 1), ("not_taken_back", 2)):
        follow(counters, a=state)
        assert counters.hook_failures == count, state
    follow(counters, a="not_taken_back", recover_b="not_taken_back")
    assert counters.hook_failures == 3
    follow(counters, "o2", a="failed")
    assert counters.hook_failures == 4, "of another outage"


def test_a_step_is_no_hook():
    counters = Counters()
    counters.follow(MarkView(OURS, outage="o1"), BEGAN, [{"key": "a", "type": "command", "state": "failed"}])
    assert counters.hook_failures == 0


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        (["scheduled", "started_unprepared", "prepared"], {}),
        (["scheduled", "prepare_failed"], {"prepare_failed": 1}),
        (["scheduled", "prepare_failed", "prepared"], {"recovered": 1}),
        (["scheduled"], {"recovered": 1}),
        (None, {"recovered": 1}),
    ],
)
def test_a_watcher_that_is_started_anew_counts_no_outage_and_no_hook_twice(said, outcome):
    steps = [{"key": "a", "type": "prepare_hook", "state": "failed"}]
    counters, mark = Counters(), MarkView(OURS, outage="o1")
    counters.take_up(mark, {} if said is None else {"said": {"E1": said}}, steps)
    counters.follow(mark, BEGAN, steps)
    assert counters.hook_failures == 0, "the one before has counted it"
    follow(counters, a="failed", b="failed")
    report(counters, "recovered", after=70)
    assert outages(counters) == outcome and counters.hook_failures == 1 and counters.buckets[1] == 1
