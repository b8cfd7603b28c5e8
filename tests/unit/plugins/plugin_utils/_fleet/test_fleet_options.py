# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What must be equal is equal, what is out of range is refused, and both name the machines."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.options import (
    PlanError,
    checked_options,
    variable_of,
)

OWN = {
    "policy": [{"name": "All", "do": "prepare"}],
    "margin": 60,
    "allow_unknown": False,
    "prepare_before": 3600,
    "on_failure": "revert",
    "recover_timeout": 900,
    "max_unavailable": "50%",
    "max_domains": 0,
    "settle": 0.0,
    "hold": "wait",
}
SAME = {"rounds": 1, "wait_timeout": 3600, "event_timeout": 3600}


def facts(host, group="", scope="", **changes):
    return {
        "host": host,
        "group": group,
        "scope": scope,
        "options": {name: changes.get(name, value) for name, value in OWN.items()},
        "same": {name: changes.get(name, value) for name, value in SAME.items()},
    }


def problem(*machines):
    with pytest.raises(PlanError) as caught:
        checked_options(machines)
    return caught.value.message


def test_each_machine_keeps_what_is_its_own():
    rules = [{"name": "Databases", "do": "hold"}]
    found = checked_options([facts("app1"), facts("db1", policy=rules, margin=300, on_failure="hold", hold="leave")])
    assert asdict(found.hosts["app1"]) == OWN
    assert asdict(found.hosts["db1"]) == {**OWN, "policy": rules, "margin": 300, "on_failure": "hold", "hold": "leave"}
    assert asdict(found.same) == SAME
    assert found.warnings == []


def test_texts_that_templates_make_are_read():
    texts = {name: str(value) for name, value in SAME.items()}
    found = checked_options(
        [facts("app1", **texts, margin="60.0", max_unavailable=2, allow_unknown="True"), facts("db1")]
    )
    assert asdict(found.same) == SAME
    assert isinstance(found.same.rounds, int)
    assert asdict(found.hosts["app1"]) == {**OWN, "max_unavailable": "2", "allow_unknown": True}
    assert checked_options([facts("app1", allow_unknown="False")]).hosts["app1"].allow_unknown is False


@pytest.mark.parametrize("name, other", [("rounds", 3), ("wait_timeout", 0), ("event_timeout", 60)])
def test_what_concerns_the_run_must_be_equal(name, other):
    found = problem(facts("app1"), facts("app2"), facts("db1", **{name: other}))
    assert f"maintain_{name} must be equal in a run: it is {SAME[name]} on app1, app2; {other} on db1." in found
    assert found.endswith("Nothing was changed.")


def test_numbers_that_are_written_differently_are_equal():
    checked_options(
        [
            facts("app1", wait_timeout=3600, max_unavailable=2, group="web"),
            facts("app2", wait_timeout="3600.0", max_unavailable=" 2", group="web"),
        ]
    )


def test_the_capacity_of_a_group_must_be_equal_in_it():
    found = problem(
        facts("web1", "web", max_unavailable=1),
        facts("web2", "web", max_unavailable=2),
        facts("db1", "db", max_unavailable=3),
    )
    assert "maintain_max_unavailable must be equal in the capacity group 'web': it is 1 on web1; 2 on web2." in found
    assert "db" not in found
    assert "'set1'" in problem(
        facts("web1", scope="set1", max_unavailable=1), facts("web2", scope="set1", max_unavailable=2)
    )


def test_groups_have_capacities_of_their_own():
    checked_options(
        [
            facts("web1", "web", max_unavailable=1),
            facts("db1", "db", max_unavailable=3),
            facts("lone1", max_unavailable=7),
            facts("lone2"),
        ]
    )
    checked_options([facts("web1", "web", "set1", max_unavailable=1), facts("db1", "db", "set1", max_unavailable=3)])


@pytest.mark.parametrize(
    "name, value, wanted",
    [
        ("rounds", -1, "a whole number, 0 or more"),
        ("rounds", 1.5, "a whole number, 0 or more"),
        ("wait_timeout", "soon", "a number of seconds, 0 or more"),
        ("event_timeout", 0, "a number of seconds, above 0"),
        ("margin", -1, "a number of seconds, 0 or more"),
        ("margin", True, "a number of seconds, 0 or more"),
        ("prepare_before", "nan", "a number of seconds, 0 or more"),
        ("recover_timeout", "inf", "a number of seconds, 1 or more"),
        ("on_failure", "revrt", "one of revert, hold (did you mean 'revert'?)"),
        ("hold", "stay", "one of wait, leave"),
        ("max_unavailable", 0, "a number of machines, 1 or more, or a share"),
        ("max_unavailable", "0%", "a number of machines, 1 or more, or a share"),
        ("max_unavailable", "101%", "a number of machines, 1 or more, or a share"),
        ("max_unavailable", "half", "a number of machines, 1 or more, or a share"),
        ("max_unavailable", 1.5, "a number of machines, 1 or more, or a share"),
        ("max_unavailable", True, "a number of machines, 1 or more, or a share"),
    ],
)
def test_what_is_out_of_range_is_refused(name, value, wanted):
    found = problem(facts("app1", **{name: value}), facts("app2", **{name: value}), facts("app3"))
    assert f"{variable_of(name)} is {value!r}, but must be {wanted}" in found
    assert "(app1, app2)." in found and found.endswith("Nothing was changed.")


def test_all_that_is_wrong_is_said_at_once():
    found = problem(facts("app1", margin=-1), facts("db1", policy=[{"do": "aprove"}]))
    assert "maintain_margin is -1" in found
    assert (
        "azure_maintenance_policy: Rule 1 of the policy" in found
        and "did you mean 'approve'?" in found
        and "(db1)." in found
    )


@pytest.mark.parametrize("when", [{"sources": ["Usr"]}, {"statuses": ["Startd"]}])
def test_a_typo_in_a_policy_does_not_fall_through_to_the_next_rule(when):
    assert "did you mean" in problem(facts("db1", policy=[{"when": when, "do": "ignore"}, {"do": "approve"}]))


def test_an_unknown_type_is_warned_of_once_for_all_machines():
    rules = [{"name": "One", "when": {"types": ["Hibernate"]}, "do": "ignore"}, {"do": "approve"}]
    (warning,) = checked_options([facts("app1", policy=rules), facts("app2", policy=rules), facts("db1")]).warnings
    assert "did you mean 'Terminate'?" in warning and warning.endswith("(app1, app2)")


def test_a_run_without_machines():
    assert "no machine" in problem()
