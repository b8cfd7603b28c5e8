# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an event is prepared for and approved, else why not."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.decision import (
    AGAIN,
    AGAIN_FAILED,
    AGAIN_UNANSWERED,
    Judged,
    Standing,
    acts,
    by_policy,
    decide,
    is_wanted,
    judged,
    may_be_sent,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.messages import Reason
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import ACTIONS, parse_policy

HELD, FULL = Reason("on_hold", words="ann"), Reason("capacity", words="two are out")


def event(status="Scheduled", kind="Reboot", duration=-1):
    return Event("E1", kind, status, "VirtualMachine", ("vm1",), ("vm1",), "", None, "", "Platform", duration)


def standing(machine="web1", action="prepare_and_approve", prepared=True, lasting=(), passing=()):
    return Standing(machine, action, prepared, tuple(lasting), tuple(passing))


def decided(*standings, action="prepare_and_approve", what=None, yes=False, left=600.0, **more):
    return decide(what or event(), action, standings or (standing(),), yes, left, **more)


def codes(found):
    return [reason.code for reason in found.reasons]


class TestWanted:
    @pytest.mark.parametrize("action", ACTIONS)
    def test_by_the_policy_or_by_a_person_where_the_machine_is_prepared(self, action):
        assert is_wanted(action, False) is (action in ("hold", "prepare_and_approve", "approve"))
        assert is_wanted(action, True) is (action not in ("ignore", "notify"))

    def test_something_is_done(self):
        assert [action for action in ACTIONS if not acts(action)] == ["ignore", "notify"]


class TestJudged:
    ONCE_SCHEDULED = parse_policy([{"when": {"statuses": ["Scheduled"]}, "do": "prepare"}, {"do": "notify"}])
    SHORT = parse_policy([{"when": {"notice_below": 60}, "do": "notify"}, {"do": "prepare"}])

    def judge(self, rules, *seen):
        by, action = None, ""
        for what, notice in seen:
            by = judged(what, notice, by, acts(action))
            action = by_policy(what, rules, by).action
        return action

    def test_what_was_decided_stays_though_it_starts(self):
        assert self.judge(self.ONCE_SCHEDULED, (event(), 900.0), (event("Started"), None)) == "prepare"
        assert self.judge(self.ONCE_SCHEDULED, (event("Started"), None)) == "notify"

    def test_what_was_decided_stays_though_its_notice_becomes_known_or_less(self):
        assert self.judge(self.SHORT, (event(), None), (event(), 30.0)) == "prepare"
        assert self.judge(self.SHORT, (event(), 900.0), (event(), 30.0)) == "prepare"

    def test_what_was_left_alone_is_judged_anew(self):
        assert self.judge(self.SHORT, (event(), 30.0), (event(), 90.0)) == "prepare"

    def test_a_new_duration_or_type_counts(self):
        rules = parse_policy([{"when": {"duration_below": 9}, "do": "approve"}, {"do": "prepare"}])
        assert self.judge(rules, (event(duration=-1), 900.0), (event(duration=5), 800.0)) == "approve"

    def test_of_a_status_that_nobody_knows_it_is_only_shown(self):
        found = by_policy(event("Odd"), parse_policy([{"do": "approve"}]), Judged("Odd", 900.0))
        assert (found.action, found.reason) == ("notify", "its status 'Odd' is not one that can be prepared for")


class TestApprove:
    def test_when_all_machines_are_prepared(self):
        found = decided(standing(), standing("web2"))
        assert (found.approve, found.prepare, found.reasons, found.waits_for) == (True, True, (), ())

    def test_one_whose_policy_approves_at_once_needs_no_preparation(self):
        assert decided(standing(action="approve", prepared=False)).approve

    def test_it_waits_for_those_that_are_not(self):
        found = decided(standing(), standing("web2", prepared=False), standing("web3", prepared=False))
        assert not found.approve and found.prepare and found.waits_for == ("web2", "web3")
        assert found.passing == (Reason("not_prepared", "web2, web3"),)

    @pytest.mark.parametrize("action", ["ignore", "notify", "prepare"])
    def test_not_without_a_policy_that_wants_it(self, action):
        found = decided(standing(action=action), action=action)
        assert not found.approve and codes(found)[0].startswith("policy_")

    def test_a_person_s_word_has_it_approved_though_the_policy_leaves_that_to_azure(self):
        assert decided(standing(action="prepare"), action="prepare", yes=True).approve
        assert not decided(standing(action="notify"), action="notify", yes=True).approve

    def test_hold_waits_for_a_person_and_is_prepared_meanwhile(self):
        found = decided(standing(action="hold"), action="hold")
        assert not found.approve and found.prepare and codes(found) == ["confirmation"]
        assert decided(standing(action="hold"), action="hold", yes=True).approve

    def test_not_once_its_time_has_come(self):
        assert codes(decided(left=0.0)) == ["not_before"]
        assert decided(left=0.1).approve

    @pytest.mark.parametrize(
        "what, code",
        [
            (event("Started"), "started"),
            (event("Odd"), "status"),
            (event("Advisory"), "advice"),
            (event(kind="SpotRebalanceRecommendation"), "advice"),
        ],
    )
    def test_what_is_never_approved(self, what, code):
        found = decided(standing(action="approve"), action="approve", what=what)
        assert not found.approve and not found.prepare and codes(found) == [code]

    def test_one_that_was_seen_to_start_is_not_though_another_document_says_scheduled(self):
        assert codes(decided(has_started=True)) == ["started"]

    def test_not_without_a_machine(self):
        found = decide(event(), "approve", (), False, 600.0)
        assert not found.approve and codes(found) == ["none_of_ours"]


class TestReasons:
    def test_in_one_order(self):
        found = decided(
            standing("web1", "hold", False, lasting=[Reason("unreachable", "web1")]),
            standing("web2", "hold", False, passing=[Reason("late", "web2")]),
            action="hold",
            left=0.0,
            first=[Reason("put_back")],
            lasting=[HELD],
            passing=[FULL],
        )
        assert codes(found) == [
            "put_back",
            "on_hold",
            "unreachable",
            "capacity",
            "confirmation",
            "not_before",
            "late",
            "not_prepared",
        ]
        assert found.waits_for == ("web2",), "nobody waits for one that will not be prepared"

    @pytest.mark.parametrize("how", ["first", "lasting"])
    def test_what_lasts_forbids_an_early_preparation(self, how):
        assert not decided(**{how: [HELD]}).prepare
        assert not decided(standing(lasting=[HELD])).prepare
        assert decided(must=True, **{how: [HELD]}).prepare, "but not one that has to be"

    def test_what_passes_does_not(self):
        assert decided(standing(passing=[FULL]), passing=[FULL]).prepare


class TestSentAgain:
    @pytest.mark.parametrize(
        "asked, answered, accepted, pause",
        [
            (100.0, 100.2, True, AGAIN + 0.2),
            (100.0, 100.2, False, AGAIN_FAILED + 0.2),
            (100.0, None, False, AGAIN_UNANSWERED),
            (100.0, 90.0, True, AGAIN_UNANSWERED),  # that was the one before
            (None, 100.0, True, AGAIN),
        ],
    )
    def test_after_a_while(self, asked, answered, accepted, pause):
        assert not may_be_sent(100.0 + pause - 0.1, asked, answered, accepted)
        assert may_be_sent(100.0 + pause + 0.1, asked, answered, accepted)

    def test_at_first_at_once(self):
        assert may_be_sent(0.0, None, None, False)
