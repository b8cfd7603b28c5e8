# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a rehearsal may be asked for, what it plays, and what of an interrupted one is recovered."""

from __future__ import annotations

import pathlib

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.rehearsal import (
    left_behind,
    rehearsal,
    unreached,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import (
    DENIED,
    LOST,
    UNREADABLE,
    answer,
    machine,
    mark,
)

SCENARIOS = {
    path.stem: yaml.safe_load(path.read_text(encoding="utf-8"))
    for path in (pathlib.Path(__file__).resolve().parents[5] / "roles/emulator/files/scenarios").glob("*.yml")
}
HOSTS = ("web1", "web2", "web3")


def endpoint(host):
    return f"http://10.0.0.11:8780/vm/{host}"


def asked_for(*machines, needs=20, margin=60, steps=1, require_steps=True, **variables):
    hosts = {
        host: {
            "name": f"vm-{host}",
            "endpoint": endpoint(host),
            "needs": needs,
            "margin": margin,
            "steps": steps,
            "require_steps": require_steps,
        }
        for host in HOSTS
    }
    given = {"affects": ["web1"], "speed": 10, "port": 8780, "scenario": "reboot", "emulator_host": "web1"}
    borne = {one.host: one for one in machines}
    return rehearsal(
        [borne.get(host) or machine(host) for host in HOSTS], dict(given, scenarios=SCENARIOS, hosts=hosts, **variables)
    )


def problem(*machines, **variables):
    (words,) = asked_for(*machines, **variables).problems
    return words


# ---- the variables ----


@pytest.mark.parametrize("value", ["0", "-1", "65536", "http", "", 87.5, True, None, "8780 ", "٣"])
def test_a_port_is_a_number_in_range(value):
    if value == "8780 ":
        assert asked_for(port=value).port == 8780
        return
    assert f"rehearse_port is {value!r}" in problem(port=value)


@pytest.mark.parametrize("value", ["fast", 0, "0", -2, True, "nan", "inf", None, [10]])
def test_a_speed_is_a_number_above_0(value):
    words = problem(speed=value)
    assert f"rehearse_speed is {value!r}: a number above 0 is wanted" in words


@pytest.mark.parametrize("value, speed", [("0.5", 0.5), (1, 1.0), ("20", 20.0)])
def test_a_speed_may_be_text_as_on_a_command_line(value, speed):
    assert asked_for(speed=value).speed == speed


@pytest.mark.parametrize(
    "scenario, margin, most",
    [
        ("reboot", 60, 135),
        ("redeploy", 60, 90),
        ("preempt", 60, 4.5),
        ("reboot", 0, 180),
        ("hardware_failure_reboot", 60, 90),
    ],
)
def test_a_speed_at_which_nobody_can_be_drained_is_refused_with_the_highest_that_is_not(scenario, margin, most):
    assert asked_for(scenario=scenario, margin=margin, speed=most).problems == ()
    words = problem(scenario=scenario, margin=margin, speed=most + 0.1)
    assert f"rehearse_speed is {most + 0.1:g}" in words and f"At most {most:g} is wanted" in words


def test_machines_without_steps_are_refused_unless_that_is_meant():
    assert problem(steps="0", require_steps="True").startswith(
        "There are no steps for web1, web2, web3, and maintain_require_steps is true"
    )
    assert not asked_for(steps="0", require_steps="False").problems


def test_steps_that_may_not_have_the_time_they_ask_for_are_named():
    assert not any("smaller rehearse_speed" in line for line in asked_for(needs=67).words)
    words = asked_for(needs=68).words[-1]
    assert words.startswith("web1: the timeouts of its steps add up to 68 s, and there are 68 s") and "smaller" in words


@pytest.mark.parametrize("value", ["web9", ["web1", "web9"], "web1,web9"])
def test_a_host_that_takes_no_part_is_refused(value):
    words = problem(affects=value)
    assert "rehearse_affected names 'web9'" in words and "web1, web2, web3" in words


@pytest.mark.parametrize("value", ["", [], None, [1], {"web1": 1}, "web1,", 5])
def test_hosts_are_a_list(value):
    assert f"rehearse_affected is {value!r}" in problem(affects=value)


@pytest.mark.parametrize("value", [["web2", "web3"], "web2, web3", ["web2", "web3", "web2"]])
def test_hosts_that_are_named_share_one_event(value):
    found = asked_for(affects=value)
    assert found.affected == ("web2", "web3") and not found.in_turn and found.events == ()


def test_a_scenario_that_there_is_not_is_refused_with_those_that_there_are():
    words = problem(scenario="rebot")
    assert "rehearse_scenario is 'rebot' (did you mean 'reboot'?)" in words
    assert all(name in words for name in SCENARIOS)
    assert "rehearse_scenario is 7" in problem(scenario=7)


def test_the_emulator_is_on_a_linux_machine_of_the_rehearsal():
    assert "rehearse_emulator_host is 'lb1': a host of the rehearsal is wanted (web1, web2, web3)" in problem(
        emulator_host="lb1"
    )
    windows = Asked("web1", False, "", answer())
    assert "rehearse_emulator_host is web1, a Windows machine" in problem(windows)


def test_all_that_is_wrong_is_said_at_once():
    assert len(asked_for(machine("web2", LOST), port=0, speed=0, affects="web9", scenario="x").problems) == 5


# ---- what is played ----


def test_each_machine_in_turn_has_an_event_of_its_own_each_later_than_the_one_before():
    found = asked_for(affects="all")
    assert found.in_turn and found.affected == HOSTS
    assert [(event["name"], event["resources"], event["notice"]) for event in found.events] == [
        ("reboot1", ["vm-web1"], 900),
        ("reboot2", ["vm-web2"], 2400),
        ("reboot3", ["vm-web3"], 3900),
    ]
    assert "one after the other" in found.words[0]


def test_what_is_cancelled_is_cancelled_in_turn_and_settings_are_kept():
    found = asked_for(affects="all", scenario="cancelled")
    assert [event["cancel_after"] for event in found.events] == [480, 1380, 2280]
    assert asked_for(affects="all", scenario="spot_rebalance", speed=1).settings == {"preview_version": True}
    assert asked_for(affects="all", scenario="preempt", speed=1).settings == {}


def test_in_turn_needs_a_scenario_of_one_machine_that_has_notice():
    assert "is played with 2 machines" in problem(affects="all", scenario="back_to_back")
    assert "come without notice" in problem(affects="all", scenario="hardware_failure_reboot")


def test_a_scenario_of_two_machines_needs_two():
    words = problem(scenario="terminate")
    assert "Scenario terminate is played with 2 machines, and rehearse_affected names web1: name 2" in words
    assert asked_for(scenario="terminate", affects=["web1", "web2"]).problems == ()


@pytest.mark.parametrize("name", sorted(SCENARIOS))
def test_every_scenario_can_be_played_at_speed_4(name):
    affects = ["web1", "web2"] if len(SCENARIOS[name]["resources"]) > 1 else ["web1"]
    assert asked_for(scenario=name, affects=affects, speed=4).problems == ()


# ---- marks that are there ----


def bears(host, made_for):
    return machine(host, mark=dict(mark("A-1"), endpoint=made_for))


def test_a_machine_that_somebody_has_is_refused_with_whose_it_is():
    words = problem(bears("web2", "http://169.254.169.254"))
    assert words.startswith("web2 is marked by run r7 (job 12) on ctl1, since 2026-01-01T00:00:00Z")
    assert "made for Azure's own metadata service" in words and "does not touch it" in words
    assert "made for Azure's own metadata service" in problem(bears("web2", ""))


def test_what_a_rehearsal_has_left_is_refused_with_the_way_to_clean_up():
    assert "rehearse_state=absent" in problem(bears("web2", endpoint("web2")))


def test_a_machine_of_which_nobody_knows_is_refused():
    assert "could not be asked (no route to host)" in problem(machine("web3", LOST))
    assert "unreadable" in problem(machine("web3", mark=UNREADABLE))


def test_of_an_interrupted_rehearsal_what_bears_its_mark_is_brought_back_and_nothing_else():
    machines = [
        bears("web1", endpoint("web1") + "/"),
        bears("web2", "http://169.254.169.254"),
        bears("web3", "http://10.0.0.11:8781/vm/web3"),
        machine("web4"),
        machine("web5", LOST),
        machine("web6", mark=UNREADABLE),
    ]
    found = left_behind(machines, {one.host: endpoint(one.host) for one in machines})
    assert [left.verdict for left in found.values()] == ["back", "leave", "leave", "leave", "refuse", "refuse"]
    assert found["web1"].run == "r7"
    assert "not for this rehearsal (http://10.0.0.11:8780/vm/web3)" in found["web3"].words


def test_before_ansible_core_2_19_templates_make_texts_of_numbers():
    texts = {"needs": "20", "margin": "60", "steps": "1", "require_steps": "True"}
    found = asked_for(**texts, affects="all", speed="10", port="8780")
    assert found.problems == () and found.port == 8780 and len(found.events) == 3


def test_a_machine_that_does_not_see_the_document_of_the_emulator_is_named():
    there = {"endpoint": endpoint("web1")}
    machines = [
        machine("web1")._replace(**there),
        machine("web2", LOST)._replace(**there),
        machine("web3", answer(**DENIED))._replace(**there),
    ]
    assert [words.partition(" (")[::2] for words in unreached(machines)] == [
        (f"web2 does not reach the emulator at {endpoint('web1')}", "no route to host)."),
        (f"web3 does not reach the emulator at {endpoint('web1')}", "HTTP 403)."),
    ]
