# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters that show a run, and those that users call: what templates hand over is taken as it is meant."""

from __future__ import annotations

import time

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_plan import maintenance_plan
from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_timeline import maintenance_timeline
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils import ticking
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import begun, ticked


@pytest.fixture(autouse=True)
def no_rest(monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


def test_a_run_as_lines_and_as_a_result():
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert maintenance_timeline(record, "plan")[0].startswith(
        "Reboot A (Platform) affects vm1 (web1): prepare, then approve"
    )
    assert maintenance_timeline(record, "result")["events"][0]["id"] == "A"


def test_the_end_is_the_timeline_then_what_is_left_for_a_person():
    record = begun("web1")
    *timeline, title, problem = maintenance_timeline(record, "end")
    assert timeline == ["No event was shown."] and title == "Left for a person"
    assert problem.strip() == maintenance_timeline(record, "result")["problems"][-1]


def test_a_run_whose_loops_end_before_it_does_is_a_problem():
    record = begun("web1")
    assert "although it was not over" in maintenance_timeline(record, "result")["problems"][-1]


def found(host, *events, scope="web"):
    return {
        "host": host,
        "scope": scope,
        "resource_name": "",
        "is_linux": "True",
        "look": ticking.look(*events, name=host.replace("web", "vm")),
    }


def test_a_plan():
    (planned,) = maintenance_plan([found("web1", ticking.reboot("vm1")), found("web2", ticking.reboot("vm1"))])
    assert planned["verdict"] == "prepare_and_approve" and planned["approvers"] == ["web2", "web1"]
    assert (
        planned["affected"] == ["web1"]
        and planned["budget"] == pytest.approx(540, abs=1)
        and planned["seen_by"] == ["web1", "web2"]
    )


@pytest.mark.parametrize(
    "event, options, verdict",
    [
        (ticking.reboot("vm1", status="Started", notice=None), {}, "watch"),
        (ticking.reboot("vm9"), {}, "not_ours"),
        (ticking.reboot("vm1", "vm9", notice=290), {}, "prepare"),
        (ticking.reboot("vm1", "vm9", notice=7200), {}, "later"),
        (ticking.reboot("vm1"), {"policy": [{"name": "All", "do": "ignore"}]}, "ignore"),
        (ticking.reboot("vm1", "vm9"), {"policy": [{"name": "All", "do": "approve"}]}, "watch"),
        (ticking.reboot("vm1"), {"policy": [{"name": "All", "do": "hold"}]}, "hold"),
    ],
)
def test_what_is_planned(event, options, verdict):
    (planned,) = maintenance_plan([found("web1", event), found("web2", event)], **options)
    assert planned["verdict"] == verdict
    assert ("vm9" in planned["hold"]) is (
        verdict in ("prepare", "later") or options.get("policy", [{}])[0].get("do") == "approve"
    )


def test_a_machine_that_could_not_be_asked_is_named_in_the_plan():
    lost = dict(found("web2"), look={"unreachable": True, "msg": "refused"}, resource_name="vm2")
    (planned,) = maintenance_plan([found("web1", ticking.reboot("vm2")), lost])
    assert planned["unreachable"] == ["web2"]


def test_a_part_that_there_is_none_of_is_refused():
    with pytest.raises(AnsibleFilterError, match="did you mean 'timeline'"):
        maintenance_timeline({}, "timelines")
