# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenarios as data: those that come with the emulator, and what is said about bad ones."""

import pytest
from emulator_harness import FILES
from imds_emulator import scenario_files
from imds_emulator.problems import InvalidInput
from imds_emulator.scenario import together
from imds_emulator.scenario_reader import read_scenario

SHIPPED = {
    "automatic_approval",
    "back_to_back",
    "cancelled",
    "freeze_live_migration",
    "hardware_failure_redeploy",
    "hardware_failure_reboot",
    "host_maintenance",
    "preempt",
    "reboot",
    "redeploy",
    "spot_rebalance",
    "terminate",
    "user_reboot",
    "user_redeploy",
}


def test_what_comes_with_it():
    assert set(scenario_files.names()) == SHIPPED == {path.stem for path in (FILES / "scenarios").iterdir()}


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_each_plays_to_its_end_against_other_vms(start, name):
    scenario = scenario_files.shipped(name)
    assert scenario["description"]
    emulator = start()
    emulator.control(
        "POST", "/scenario", {"scenario": name, "resources": ["web2", "web1"][: len(scenario["resources"])]}
    )
    emulator.advance(4)
    assert emulator.events() == []
    seen = set()
    for _step in range(40):
        if emulator.control("GET", "/clock")["elapsed"] > 4000:
            break
        emulator.control("POST", "/clock", {"next": True})
        seen.update(emulator.statuses("web2"))
    events = emulator.control("GET", "/events")["events"]
    assert len(events) == len(scenario["events"])
    assert {event["status"] for event in events} == {"Gone"}
    assert {event["outcome"] for event in events} == {"cancelled" if name == "cancelled" else "completed"}
    assert seen, "nothing was shown"


@pytest.mark.parametrize(
    "name, notice, tail",
    [
        ("reboot", 900, 600),
        ("redeploy", 600, 600),
        ("freeze_live_migration", 900, 300),
        ("host_maintenance", 900, 600),
        ("user_reboot", 900, 600),
        ("user_redeploy", 900, 600),
        ("preempt", 30, 60),
        ("terminate", 300, 60),
    ],
)
def test_timings(name, notice, tail):
    event = read_scenario(scenario_files.shipped(name)).events[0]
    assert (event.notice, event.tail) == (notice, tail)


def test_resources_can_be_replaced():
    scenario = read_scenario(
        {"resources": ["a", "b"], "events": [{"type": "Reboot"}, {"type": "Reboot", "resources": [1, "c"]}]}, ["x", "y"]
    )
    assert [event.resources for event in scenario.events] == [("x", "y"), ("y", "c")]
    assert [event.name for event in scenario.events] == ["event1", "event2"]


def test_vms_come_from_resources_when_nobody_declares_any():
    scenario = together([read_scenario({"resources": ["a"], "events": [{"type": "Reboot", "resources": ["b", "A"]}]})])
    assert [(vm.name, vm.scope) for vm in scenario.vms] == [("a", "default"), ("b", "default")]


def test_scenarios_add_up():
    one = read_scenario({"settings": {"rate_limit": 1}, "vms": [{"name": "a"}], "scopes": {"a": {"enabled": False}}})
    two = read_scenario({"settings": {"rate_limit": 2}, "resources": ["a"], "events": [{"type": "Reboot"}]})
    whole = together([one, two])
    assert (
        whole.settings == {"rate_limit": 2}
        and len(whole.vms) == 1
        and len(whole.events) == 1
        and whole.scopes["a"].enabled is False
    )


@pytest.mark.parametrize(
    "scenario, place",
    [
        (None, ""),
        ([], ""),
        ({"event": []}, "event"),
        ({"events": {}}, "events"),
        ({"events": [5]}, "events[0]"),
        ({"vms": [{"name": ""}]}, "vms[0].name"),
        ({"vms": [{"name": "a", "adress": "x"}]}, "vms[0].adress"),
        ({"vms": [{"name": "a", "address": ["1.2.3.4", 5]}]}, "vms[0].address[1]"),
        ({"settings": {"rate_limit": -1}}, "settings.rate_limit"),
        ({"settings": {"rate_limit": 1.5}}, "settings.rate_limit"),
        ({"settings": {"unknown_event_status": 500}}, "settings.unknown_event_status"),
        ({"settings": {"not_before_format": "unix"}}, "settings.not_before_format"),
        ({"settings": {"start": "2026-03-02"}}, "settings.start"),
        ({"settings": {"preview_version": "yes"}}, "settings.preview_version"),
        ({"scopes": {"a": {"first_call_delay": 121}}}, "scopes.a.first_call_delay"),
        ({"scopes": {"a": {"co_tenant_delay": "always"}}}, "scopes.a.co_tenant_delay"),
        ({"scopes": {"a": {"automatically_approve": ["Freeze"]}}}, "scopes.a.automatically_approve[0]"),
        ({"scopes": {"a": {"initial_incarnation": -1}}}, "scopes.a.initial_incarnation"),
        ({"resources": ["a"], "events": [{"type": "Reboot", "resources": [1]}]}, "events[0].resources[0]"),
        ({"resources": ["a"], "events": [{"type": "Reboot", "resources": [True]}]}, "events[0].resources[0]"),
        ({"resources": ["a"], "events": [{"type": "Reboot", "status": "Gone"}]}, "events[0].status"),
        (
            {"resources": ["a"], "events": [{"type": "Reboot", "name": "x"}, {"type": "Reboot", "name": "x"}]},
            "events[1].name",
        ),
        (
            {"resources": ["a"], "events": [{"type": "Reboot", "after": "event2"}, {"type": "Reboot"}]},
            "events[0].after",
        ),
        ({"resources": ["a"], "events": [{"type": "Reboot", "notice": float("nan")}]}, "events[0].notice"),
        ({"faults": [{"kind": "status"}]}, "faults[0].status"),
        ({"faults": [{"kind": "reset", "at": -1}]}, "faults[0].at"),
    ],
)
def test_errors_name_the_place(scenario, place):
    with pytest.raises(InvalidInput) as caught:
        read_scenario(scenario)
    assert str(caught.value).startswith(place + ": " if place else "a mapping is needed")


@pytest.mark.parametrize(
    "scenario, place",
    [
        ({"vms": [{"name": "a"}, {"name": "A"}]}, "vms[1].name"),
        ({"vms": [{"name": "a", "address": "10.0.0.1"}, {"name": "b", "address": "10.0.0.1"}]}, "vms[1].address"),
        ({"vms": [{"name": "a"}], "resources": ["b"], "events": [{"type": "Reboot"}]}, "events[0].resources[0]"),
        ({"vms": [{"name": "a"}], "settings": {"default_vm": "b"}}, "settings.default_vm"),
        ({"vms": [{"name": "a", "scope": "x"}], "scopes": {"y": {}}}, "scopes.y"),
        ({"vms": [{"name": "a"}], "faults": [{"kind": "reset", "vm": "b"}]}, "faults[0].vm"),
    ],
)
def test_so_do_errors_that_need_the_whole(start, scenario, place):
    with pytest.raises(InvalidInput) as caught:
        start(**scenario)
    assert str(caught.value).startswith(place + ": ")


# -- files


def test_json_and_yaml_files(tmp_path):
    (tmp_path / "a.json").write_text('\ufeff{"description": "x"}', encoding="utf-8")
    (tmp_path / "b.yml").write_text("description: x\n", encoding="utf-8")
    assert (
        scenario_files.find(str(tmp_path / "a.json"))
        == scenario_files.find(str(tmp_path / "b.yml"))
        == {"description": "x"}
    )


@pytest.mark.parametrize(
    "name, content, message",
    [
        ("a.json", "description: x", "is it YAML"),
        ("a.yml", "a: [", "not YAML"),
        ("a.yml", "a: \x00", "not YAML"),
        ("missing.json", None, "can't be read"),
    ],
)
def test_unreadable_files(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        scenario_files.find(str(tmp_path / name))
    assert message in str(caught.value) and name in str(caught.value)


def test_yaml_without_pyyaml(tmp_path, monkeypatch):
    monkeypatch.setattr(scenario_files, "yaml", None)
    (tmp_path / "a.yml").write_text("{}")
    with pytest.raises(InvalidInput) as caught:
        scenario_files.find(str(tmp_path / "a.yml"))
    assert "PyYAML" in str(caught.value) and "JSON" in str(caught.value)
