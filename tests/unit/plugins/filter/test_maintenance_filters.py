# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filters that carry a run of role maintain: what templates hand over is taken as it is meant."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_plan import maintenance_plan
from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_record import maintenance_record
from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_timeline import maintenance_timeline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    event,
    look,
    timed_out,
)

# As a template of an old ansible-core hands them over: numbers and truth values are texts.
OPTIONS = {
    "policy": DEFAULT_POLICY,
    "margin": "60",
    "allow_unknown": "False",
    "prepare_within": "3600.0",
    "event_timeout": "3600",
    "on_failure": "revert",
    "rounds": "1",
    "wait_timeout": "1000",
    "slice": "30",
}


def found(host, *events, scope="web"):
    return {
        "host": host,
        "scope": scope,
        "resource_name": "",
        "is_linux": "True",
        "look": look(*events, resource_name=host.replace("web", "vm")),
    }


def begun(*machines):
    return maintenance_record(list(machines), "begun", at="5.0", options=OPTIONS)


def test_a_run_from_its_beginning_to_its_first_work():
    record = begun(found("web1"), found("web2"))
    assert record["options"]["allow_unknown"] is False and record["options"]["rounds"] == 1 and record["at"] == 5.0
    record = maintenance_record(record, "looked", results={"web1": timed_out()}, at="6")
    assert record["nesting"]["look_again"] is True
    record = maintenance_record(record, "looked", results={"web1": look(event())}, at="7")
    assert list(record["todo"]["prepare"]) == ["web1"] and record["nesting"]["look_again"] is False
    assert maintenance_timeline(record, "plan")[0].startswith(
        "Reboot A (Platform) affects vm1 (web1): prepare, then approve"
    )


def test_machines_of_one_scope_that_see_different_events_are_named_in_the_record():
    (sentence,) = begun(found("web1", event()), found("web2"))["disagreements"]
    assert "web1 sees A; web2 sees no event" in sentence
    assert begun(found("web1", event()), found("web2", scope="other"))["disagreements"] == []


def test_a_plan_is_refused_for_them():
    with pytest.raises(AnsibleFilterError, match="web1 sees A; web2 sees no event"):
        maintenance_plan([found("web1", event()), found("web2")])
    (planned,) = maintenance_plan([found("web1", event()), found("web2", event())])
    assert planned["verdict"] == "prepare_and_approve" and planned["approvers"] == ["web2", "web1"]


@pytest.mark.parametrize("words, hint", [("looks", "did you mean 'looked'"), ("exploded", "it knows begun, looked")])
def test_what_nobody_knows_is_refused(words, hint):
    with pytest.raises(AnsibleFilterError, match=hint):
        maintenance_record(begun(found("web1")), words)


def test_a_part_that_there_is_none_of_is_refused():
    with pytest.raises(AnsibleFilterError, match="did you mean 'status'"):
        maintenance_timeline({}, "statuses")
