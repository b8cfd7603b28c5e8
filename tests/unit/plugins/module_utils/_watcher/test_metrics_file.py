# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of the watcher's metrics: over an outage, over a restart and a boot, and how seldom it is written."""

import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Go, Hold, Say
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.metrics_file import (
    MetricsFile,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.values import (
    PHASES,
    gauges_of,
    phase_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.played import Played
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.test_metrics_text import (
    samples_of,
)

EVENT = {
    "EventId": "E1",
    "EventType": "Reboot",
    "ResourceType": "VirtualMachine",
    "Resources": ["web1"],
    "EventStatus": "Scheduled",
    "NotBefore": "Mon, 05 Jan 2026 00:15:00 GMT",
}


@pytest.fixture(name="played")
def _played(tmp_path):
    (tmp_path / "run").mkdir()
    return Played(tmp_path)


def metrics(played, name):
    return int(samples_of((played.state.parent / "run" / "metrics.prom").read_text())[f"azure_maintenance_{name}"])


def phase(played):
    found = [name for name in PHASES if metrics(played, f'phase{{phase="{name}"}}')]
    assert len(found) == 1
    return found[0]


def test_over_an_outage(played):
    played.tick()
    assert (phase(played), metrics(played, "out_of_service"), metrics(played, "imds_up")) == ("in_service", 0, 1)
    played.metadata.shows(EVENT)
    note = {"outage": "o1", "types": {"E1": "Reboot"}}
    while phase(played) != "prepared":
        played.tick(Go("prepared", 100.0, ("E1",), note))
    assert metrics(played, "out_of_service") == 1
    assert metrics(played, 'event{type="Reboot",status="Scheduled"}') == 1
    assert metrics(played, "event_not_before_timestamp_seconds") == 1767572100
    played.metadata.shows(dict(EVENT, EventStatus="Started", NotBefore=""))
    played.tick(Say("started", "words"))
    assert metrics(played, 'event{type="Reboot",status="Started"}') == 1
    assert metrics(played, "event_not_before_timestamp_seconds") == 0
    played.metadata.shows()
    while (played.state / "mark.json").exists():
        played.tick(Go("recovered", 100.0, (), note))
    played.tick(Say("recovered", "words", outage="o1"))
    assert (phase(played), metrics(played, "out_of_service")) == ("in_service", 0)
    assert metrics(played, 'event{type="Reboot",status="Started"}') == 0
    assert metrics(played, 'outages_total{outcome="recovered"}') == metrics(played, "outage_seconds_count") == 1


def test_events_of_other_machines_are_none_of_its(played):
    played.metadata.shows(dict(EVENT, Resources=["web2"]))
    played.tick()
    assert metrics(played, 'event{type="Reboot",status="Scheduled"}') == 0


def test_text_from_the_wire_is_no_label(played):
    played.metadata.shows(
        dict(EVENT, EventType='x"} 1', EventStatus="Odd"), dict(EVENT, EventId="E2", EventType="freeze")
    )
    played.tick()
    text = (played.state.parent / "run" / "metrics.prom").read_text()
    assert "Odd" not in text and "x" + chr(34) not in text and "E1" not in text
    assert metrics(played, 'event{type="other",status="other"}') == 1
    assert metrics(played, 'event{type="Freeze",status="Scheduled"}') == 1


def test_what_is_wrong_returns_to_nothing(played):
    played.tick()
    facts = played.facts
    wall = facts.moment.wall
    for changed, name in (
        ({"poll_problem": "no answer"}, "imds_up"),
        ({"polled": None}, "imds_up"),
        ({"degraded": "the disk is full"}, "degraded"),
        ({"unreadable": "no JSON"}, "degraded"),
        ({"hold": Hold("why", "who", None)}, "approvals_held"),
        ({"hold": Hold("why", "who", wall + 60)}, "approvals_held"),
    ):
        before = getattr(gauges_of(facts, "1"), name)
        assert getattr(gauges_of(facts._replace(**changed), "1"), name) is not before, changed
    assert gauges_of(facts._replace(hold=Hold("why", "who", wall - 1)), "1").approvals_held is False


def test_phases():
    steps = [{"state": "failed"}]
    assert phase_of(None, "") == "in_service"
    assert phase_of(None, "no JSON") == "unreadable"
    assert phase_of({"phase": "preparing", "steps": []}, "") == "preparing"
    assert phase_of({"phase": "half", "steps": steps}, "") == "prepare_failed"
    assert phase_of({"phase": "half", "steps": [{"state": "not_taken_back"}]}, "") == "partially_recovered"


def test_it_is_written_when_something_changes_and_else_every_half_minute(played):
    path = played.state.parent / "run" / "metrics.prom"
    played.tick()
    written = []
    for _number in range(60):
        played.metadata.shows()
        before = path.stat().st_ino
        played.tick(seconds=1.0)
        if path.stat().st_ino != before:
            written.append(played.clock.now())
    assert [later - earlier for earlier, later in zip(written, written[1:])] == [30.0] and len(written) == 2
    assert metrics(played, "last_poll_timestamp_seconds") == int(played.clock.wall()) - 1 - int(
        played.clock.now() - written[1]
    )
    played.parts.metadata.poll_problem = "no answer"
    played.tick()
    assert metrics(played, "imds_up") == 0, "at once"


def test_everybody_may_read_it(played):
    old = os.umask(0o077)
    try:
        played.tick()
    finally:
        os.umask(old)
    run = played.state.parent / "run"
    modes = {path.name: path.stat().st_mode & 0o777 for path in run.iterdir() if path.name.startswith("metrics")}
    assert modes == {"metrics.prom": 0o644}


def test_counts_begin_anew_with_each_start_and_count_an_outage_that_goes_on_once(played):
    run, state = str(played.state.parent / "run"), str(played.state)
    note = {"outage": "o1", "types": {"E1": "Reboot"}, "said": {"E1": ["scheduled", "started_unprepared"]}}
    played.metadata.shows(EVENT)
    played.tick(Go("prepared", 100.0, ("E1",), note), Say("started_unprepared", "words", outage="o1"))
    played.tick(Say("x", "x"))
    assert metrics(played, 'outages_total{outcome="unprepared"}') == 1
    again = MetricsFile(run, state, "0.0.1", played.clock)
    again.publish(played.facts)
    assert metrics(played, 'outages_total{outcome="unprepared"}') == 0
    again.take_report(Say("recovered", "words", outage="o1"))
    again.publish(played.facts._replace(mark=None))
    assert metrics(played, "outage_seconds_count") == 1
    assert [metrics(played, f'outages_total{{outcome="{name}"}}') for name in ("unprepared", "recovered")] == [0, 0]


def test_without_its_folder_there_is_no_file_and_no_problem(played):
    (played.state.parent / "run").rmdir()
    played.tick()
    played.tick()
    assert "metrics" not in (played.state / "watcher.json").read_text()


def test_reports_that_wait(played):
    played.tick()
    assert metrics(played, "reports_waiting") == 0
    for key in ("notify", "abc"):
        (played.state / "spool" / key).mkdir(parents=True)
        (played.state / "spool" / key / "000000000001.json").write_text("{}")
        (played.state / "spool" / key / "last").write_text("")
    (played.state / "spool" / "lock").write_text("")
    played.tick(seconds=31.0)
    assert metrics(played, "reports_waiting") == 2


def test_one_that_can_not_be_written_is_a_problem_of_the_watcher_and_stops_nothing(played):
    run = played.state.parent / "run"
    (run / "metrics.prom").mkdir()
    played.tick()
    played.tick()
    assert "metrics.prom can't be written: Is a directory" in (played.state / "watcher.json").read_text()
