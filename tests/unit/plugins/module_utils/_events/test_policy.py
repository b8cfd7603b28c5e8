# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import ScheduledEventsError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events import policy
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


def event(type="Freeze", status="Scheduled", source="Platform", duration=5):
    return Event("A", type, status, "VirtualMachine", ("web1",), ("web1",), "", None, "", source, duration)


@pytest.mark.parametrize("case", cases("policies.json", lambda case: "action" in case))
def test_decision(case):
    found = policy.decide(event(**case["event"]), policy.parse_policy(case["policy"]), case["notice"])
    assert (found.action, found.rule) == (case["action"], case["rule"])


@pytest.mark.parametrize("case", cases("policies.json", lambda case: "error" in case))
def test_wrong_policy(case):
    with pytest.raises(policy.PolicyError) as caught:
        policy.parse_policy(case["policy"])
    assert caught.value.kind == case["error"]["kind"]
    assert isinstance(caught.value, ScheduledEventsError)
    for mention in case["error"]["mentions"]:
        assert mention in caught.value.message


@pytest.mark.parametrize(
    "rules, wanted",
    [
        ([{"do": "notify"}], "rule 1 matches every event"),
        (
            [{"when": {"types": ["Freeze", "Reboot"], "duration_below": 9.5}, "do": "notify"}, {"do": "ignore"}],
            "rule 1 matches types freeze/reboot, duration_below 9.5",
        ),
    ],
)
def test_the_reason_names_the_rule_and_its_conditions(rules, wanted):
    assert policy.decide(event(), policy.parse_policy(rules)).reason == wanted


def test_the_reason_says_that_advice_can_not_be_approved():
    decision = policy.decide(event("SpotRebalanceRecommendation"), policy.parse_policy([{"do": "approve"}]))
    assert decision.reason == (
        "rule 1 matches every event; notify instead of approve, because advice can't be approved"
    )


def test_no_text_of_the_event_is_in_the_decision():
    rules = policy.parse_policy(policy.DEFAULT_POLICY)
    assert "evil" not in repr(policy.decide(event("{{ evil }}", "{{ evil }}", "{{ evil }}"), rules))


def test_the_default_policy_is_the_one_of_the_vectors():
    for case in cases("policies.json", lambda case: case["name"].startswith("default")):
        assert case.values[0]["policy"] == policy.DEFAULT_POLICY


def test_the_position_is_counted_from_one():
    assert [rule.position for rule in policy.parse_policy(policy.DEFAULT_POLICY)] == [1, 2, 3, 4]


def test_the_actions_stand_in_the_order_of_their_strictness():
    assert policy.ACTIONS == ("ignore", "notify", "prepare", "hold", "prepare_and_approve", "approve")
    assert policy.strictest(["approve", "hold", "prepare_and_approve"]) == "hold"
    assert policy.strictest(["prepare_and_approve", "prepare"]) == "prepare"
    assert policy.strictest(["approve"]) == "approve"


def test_a_type_that_nobody_knows_is_warned_of_and_no_error():
    rules = [
        {"name": "Restart", "when": {"types": ["Freeze", "Hibernate", "Supernova"]}, "do": "notify"},
        {"when": {"types": [" freeze "]}, "do": "notify"},
        {"do": "ignore"},
    ]
    policy.parse_policy(rules)
    known = "so the rule matches only if Azure brings one. The known types are Freeze, Reboot, Redeploy, Preempt,"
    assert [warning[: warning.index(" Terminate")] for warning in policy.policy_warnings(rules)] == [
        f"Rule 1 of the policy ('Restart'): no type 'Hibernate' is known (did you mean 'Terminate'?), {known}",
        f"Rule 1 of the policy ('Restart'): no type 'Supernova' is known, {known}",
    ]
    assert policy.policy_warnings(policy.DEFAULT_POLICY) == []


@pytest.mark.parametrize(
    "word, meant", [("Rebot", "Reboot"), ("redeployed", "Redeploy"), (" freez", "Freeze"), ("Pre-empt", "Preempt")]
)
def test_a_type_that_is_misspelt_is_an_error(word, meant):
    with pytest.raises(
        policy.PolicyError, match=rf"no type .* is known \(did you mean '{meant}'\?\)\. The known types are Freeze"
    ):
        policy.parse_policy([{"when": {"types": ["Freeze", word]}, "do": "approve"}, {"do": "notify"}])


def test_a_condition_named_by_a_number():
    with pytest.raises(policy.PolicyError, match=r"Rule 1 of the policy: `when`: unknown key 5\. The keys are types"):
        policy.parse_policy([{"when": {5: ["Freeze"]}, "do": "notify"}, {"do": "ignore"}])


def test_an_action_of_another_type_that_can_not_be_hashed():
    with pytest.raises(policy.PolicyError, match="`do` must be one of"):
        policy.parse_policy([{"do": {}}])


def test_a_long_wrong_value_is_shown_in_part():
    with pytest.raises(policy.PolicyError) as caught:
        policy.parse_policy([{"do": "x" * 5000}])
    assert len(caught.value.message) < 250


def test_rules_that_were_not_checked_and_do_not_match():
    rules = policy.parse_policy([{"when": {"types": ["Reboot"]}, "do": "notify"}, {"do": "ignore"}])
    with pytest.raises(policy.PolicyError, match="no final rule"):
        policy.decide(event(), rules[:1])
