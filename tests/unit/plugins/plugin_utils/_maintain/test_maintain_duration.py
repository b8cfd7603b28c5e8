# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long a run lasts, and how long its machines look at a time."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    DENIED,
    begin,
    done,
    event,
    look,
    machine,
    timed_out,
    todo,
)


class TestHowLong:
    def test_rounds(self):
        record = begin(rounds=2)
        for number, event_id in enumerate(["A", "B"]):
            record = run_record.looked(record, {"web1": look(event(event_id, source="User"))}, at=number)
            assert not record["finished"]
            record = run_record.looked(record, {"web2": look()}, at=number)
        assert record["finished"] and record["rounds_done"] == 2

    def test_as_many_as_come_until_the_time_is_over(self):
        record = begin(rounds=0, wait_timeout=100.0)
        record = run_record.looked(record, {"web1": look(event("A", source="User"))}, at=1)
        record = run_record.looked(record, {"web2": look()}, at=99)
        assert not record["finished"] and record["todo"]["look_seconds"] == 1
        record = run_record.looked(record, {"web1": timed_out()}, at=100)
        assert record["finished"]

    def test_waiting_for_nothing_looks_once(self):
        assert begin(wait_timeout=0.0)["finished"]

    def test_what_has_begun_is_never_cut_short(self):
        record = run_record.looked(begin(wait_timeout=0.0), {"web1": look(event())}, at=5)
        assert not record["finished"]
        record = run_record.prepared(record, {"web1": done()}, at=6)
        assert record["todo"]["look_seconds"] == 180

    def test_several_scopes_look_in_slices(self):
        record = begin(machine("web1"), machine("lone1", scope="lone1"))
        assert todo(record, "look", "look_seconds") == {"look": ["lone1", "web1"], "look_seconds": 30}

    def test_an_event_that_is_only_shown_does_not_end_the_wait(self):
        record = run_record.looked(begin(), {"web1": look(event(resources=["other"]))}, at=1)
        assert todo(record, "act", "outstanding") == {"act": False, "outstanding": []} and not record["finished"]

    def test_an_event_for_later_is_planned_anew_when_its_time_comes(self):
        record = begin(policy=[{"name": "never", "do": "prepare"}])
        record = run_record.looked(record, {"web1": look(event(notice=4000))}, at=1)
        assert record["events"]["A"]["verdict"] == "later"
        record = run_record.looked(record, {"web1": timed_out(event(notice=3650))}, at=351)
        assert record["events"]["A"]["verdict"] == "later" and record["todo"]["look_seconds"] == 50
        record = run_record.looked(record, {"web1": look(event(notice=3500))}, at=501)
        assert list(record["todo"]["prepare"]) == ["web1"] and record["events"]["A"]["shown"] == 1

    def test_a_policy_that_is_none_is_refused_before_anything_happens(self):
        with pytest.raises(ScheduledEventsError):
            begin(policy=[{"name": "no end", "do": "approve", "when": {"types": ["Freeze"]}}])

    def test_a_later_event_in_a_scope_that_is_lost_does_not_hurry_the_others(self):
        record = begin(
            machine("web1"),
            machine("lone1", scope="lone1"),
            policy=[{"name": "all", "do": "prepare"}],
            wait_timeout=9999.0,
        )
        record = run_record.looked(
            record, {"web1": look(), "lone1": look(event(resources=["solo1"], notice=3700))}, at=0
        )
        record = run_record.looked(record, {"lone1": DENIED, "web1": timed_out()}, at=50)
        record = run_record.looked(record, {"web1": timed_out()}, at=500)
        assert record["todo"]["look_seconds"] > 1
