# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When an event may be approved, and which machine does it."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.decision import Standing, decide
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.messages import Reason
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.approval_reasons import (
    unknown_machines,
    words_of,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.approving import (
    PAUSE,
    TAKEOVER,
    Approver,
    next_approver,
    tried,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.evaluation import matched
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.event_state import ApprovalTries, Whom


def event(*resources, type="Reboot", status="Scheduled", id="A"):
    names = resources or ("vm1", "vm2")
    return Event(id, type, status, "VirtualMachine", names, names, "", None, "", "Platform", None)


class TestMatched:
    NAMES = {"web1": "vm1", "web2": "VM2", "db1": "", "old1": "vm1"}

    def test_whole_names_in_any_case(self):
        found = matched(event("Vm2", "vm", "vm22"), self.NAMES, ["web2"])
        assert found == Whom(("web2",), ("vm", "vm22"))

    def test_a_machine_of_another_scope_is_neither_unknown_nor_affected_before_its_own_scope_shows_the_event(self):
        names = {"web1": "vm1", "web2": "vm2", "web3": "vm3"}
        found = matched(event("vm1", "vm2", "vm9"), names, ["web3", "web2"])
        assert (found.affected, found.unknown) == (("web2",), ("vm9",))
        assert list(found.ambiguous) == [
            "it names the VM 'vm1', which is web1, and no document of that machine's scope shows the event: if this stays so, correct "
            "azure_maintenance_scope",
        ]

    def test_of_machines_of_one_name_those_are_meant_that_share_a_scope_with_who_was_shown_it(self):
        assert matched(event("vm1"), self.NAMES, ["old1", "web2"]).affected == ("old1",)

    def test_where_that_tells_nothing_all_are_meant_and_a_person_is_asked(self):
        found = matched(event("vm1"), self.NAMES, ["web1", "old1"])
        assert (found.affected, found.unknown) == (("web1", "old1"), ())
        assert list(found.ambiguous) == [
            "it names the VM 'vm1', and the inventory has it as web1 and as old1: remove one of them, or correct "
            "azure_maintenance_resource_name",
        ]


class Ready(NamedTuple):
    ready: bool
    waits_for: tuple
    against: str
    yet: str


def ready(
    *standings,
    action="prepare_and_approve",
    what=None,
    unknown=(),
    nameless=(),
    ambiguous=(),
    capacity="",
    yes=False,
):
    """What is decided by what a run hands in."""
    what = what or event()
    allow = {one.machine: allows for one, allows in standings}
    found = decide(
        what,
        action,
        [one for one, _allows in standings],
        yes,
        600.0,
        first=[*(Reason("ambiguous", words=words) for words in ambiguous), *unknown_machines(unknown, nameless, allow)],
        passing=[Reason("capacity", words=capacity)] if capacity else [],
    )
    never = [reason for reason in found.lasting if not reason.code.startswith("policy")]
    said = (words_of(never, what.event_id), words_of(found.passing, what.event_id))
    return Ready(found.approve, found.waits_for, *said)


def standing(host="web1", action="prepare_and_approve", prepared=True, allow_unknown=False, problem="", denies=False):
    never = (Reason("unreachable", host, problem.partition(": ")[2]),) if problem else ()
    return Standing(host, action, prepared, never, (Reason("denied", host),) if denies else ()), allow_unknown


class TestReadiness:
    def test_when_all_machines_bear_the_mark(self):
        assert ready(standing(), standing("web2")) == (True, (), "", "")

    def test_a_machine_that_was_brought_back_or_bears_another_s_mark_is_not_prepared(self):
        found = ready(standing(), standing("web2", prepared=False))
        assert found == (False, ("web2",), "", "web2 is not prepared yet")

    def test_a_machine_whose_policy_approves_at_once_needs_no_mark(self):
        assert ready(standing(action="approve", prepared=False), standing("web2")).ready

    def test_one_that_can_not_be_prepared_stands_against_it(self):
        found = ready(standing(), standing("web2", prepared=False, problem="can't be reached: no route"))
        assert found == (False, (), "it affects web2, which can't be reached: no route", "")

    @pytest.mark.parametrize("action", ["ignore", "notify", "prepare"])
    def test_the_strictest_policy_forbids_it(self, action):
        assert not ready(standing(), action=action).ready

    def test_hold_waits_for_a_yes(self):
        found = ready(standing(action="hold"), action="hold")
        assert not found.ready and found.against == ""
        assert found.yet == (
            "it waits for a confirmation: ansible-playbook cloudops.azure_maintenance.approve -e approve_event=A"
        )
        assert ready(standing(action="hold"), action="hold", yes=True).ready

    def test_a_yes_does_not_make_up_for_a_mark(self):
        assert not ready(standing(action="hold", prepared=False), action="hold", yes=True).ready

    def test_an_id_is_quoted_for_the_shell(self):
        assert ready(standing(), action="hold", what=event(id="A; reboot")).yet.endswith("-e approve_event='A; reboot'")

    def test_capacity(self):
        assert ready(standing(), capacity="it waits for its turn") == (False, (), "", "it waits for its turn")

    def test_machines_that_are_not_of_the_run(self):
        found = ready(standing(), unknown=["vm9"])
        assert (found.ready, found.against) == (False, "it also affects vm9, which this run knows nothing about")

    def test_they_must_be_allowed_by_every_machine(self):
        allowed, other = standing(allow_unknown=True), standing("web2")
        assert ready(allowed, unknown=["vm9"]).ready
        found = ready(allowed, other, unknown=["vm9"])
        assert not found.ready and found.against.endswith("(maintain_allow_unknown is false on web2)")

    def test_what_may_be_a_machine_of_the_run_can_not_be_allowed(self):
        found = ready(standing(allow_unknown=True), unknown=["vm9"], nameless=["web3"])
        assert not found.ready and found.against.endswith("(of web3 the VM's name is not known)")
        assert ready(standing(), nameless=["web3"]).ready

    def test_a_machine_whose_own_document_lacks_the_event(self):
        found = ready(standing(), standing("web2", denies=True))
        assert (found.ready, found.yet) == (False, "the document of web2 does not list it")

    def test_ambiguous_names(self):
        assert ready(standing(), ambiguous=["it names the VM 'vm1' twice"]).against == "it names the VM 'vm1' twice"

    @pytest.mark.parametrize(
        "what",
        [
            event(type="SpotRebalanceRecommendation"),
            event(status="Advisory"),
            event(status="Started"),
            event(status="Odd"),
        ],
    )
    def test_what_is_never_approved(self, what):
        assert not ready(standing(), what=what, action="approve").ready

    def test_no_machine_of_the_run(self):
        assert not ready(action="approve").ready


def approver(host, affected=False, own=False, shown=True, able=True):
    return Approver(host, shown, affected or own, own, able)


FREE, OTHER, OWN = approver("free1"), approver("hit1", affected=True), approver("own1", own=True)


def who(*approvers, tries=None, at=100.0, left=600.0, what=None):
    return next_approver(what or event(), approvers, tries or ApprovalTries(), at, left)


class TestWhoIsFirst:
    def test_one_that_no_open_event_affects(self):
        assert who(OWN, OTHER, FREE).host == "free1"
        assert who(OWN, OTHER).host == "hit1"
        assert who(OWN).host == "own1"

    def test_the_inventory_s_order_otherwise(self):
        assert who(approver("b"), approver("a")).host == "b"

    def test_only_one_that_was_shown_it_and_can_be_asked(self):
        found = who(approver("far1", shown=False), approver("down1", able=False))
        assert (found.host, found.wait) == ("", PAUSE) and "no machine that was shown it" in found.words
        assert who(approver("far1", shown=False), OWN).host == "own1"

    @pytest.mark.parametrize("type", ["Terminate", "terminate", ""])
    def test_a_machine_s_end_only_by_itself(self, type):
        assert who(FREE, OWN, what=event(type=type)).host == "own1"
        found = who(FREE, OTHER, what=event(type=type))
        assert found.host == "" and "machine that it deletes" in found.words

    def test_advice_never(self):
        found = who(FREE, what=event(status="Advisory"))
        assert (found.host, found.wait) == ("", None)

    @pytest.mark.parametrize("left, host", [(0.5, "free1"), (0.0, ""), (-5.0, "")])
    def test_until_its_not_before(self, left, host):
        assert who(FREE, left=left).host == host


class TestTryingAgain:
    def run(self, results, seconds, approvers=(FREE, OWN)):
        """Who tries when, over so many seconds, and what its tries bring: a word, or a list of them by try."""
        tries, found, at = ApprovalTries(), [], 0.0
        while at < seconds:
            choice = who(*approvers, tries=tries, at=at, left=seconds - at)
            if choice.host:
                found.append((at, choice.host))
                tries = tried(tries, choice.host, at, results(choice.host, at), "410")
            elif choice.wait is None:
                break
            at += 0.5
        return tries, found

    def test_what_was_accepted_is_not_sent_again(self):
        tries, found = self.run(lambda host, at: "accepted", 600)
        assert found == [(0.0, "free1")]
        assert (tries.accepted, tries.times) == ("free1", 1)

    def test_a_lost_one_is_sent_again_by_the_next_at_once(self):
        _tries, found = self.run(lambda host, at: "lost" if host == "free1" else "accepted", 600)
        assert found == [(0.0, "free1"), (0.5, "own1")]

    def test_a_lost_one_is_sent_again_though_there_is_no_other(self):
        _tries, found = self.run(lambda host, at: "lost" if at < 5 else "accepted", 600, [FREE])
        assert found == [(0.0, "free1"), (PAUSE, "free1"), (2 * PAUSE, "free1"), (3 * PAUSE, "free1")]

    def test_one_tries_for_the_time_of_a_takeover_then_the_next_one(self):
        _tries, found = self.run(lambda host, at: "failed", 60)
        first = [at for at, host in found if host == "free1"]
        assert first == [PAUSE * count for count in range(int(TAKEOVER / PAUSE))]
        assert [at for at, host in found if host == "own1"][0] == TAKEOVER

    def test_a_service_that_is_updated_for_75_seconds_does_not_exhaust_anybody(self):
        tries, found = self.run(lambda host, at: "failed" if at < 75 else "accepted", 132)
        assert tries.accepted == "free1" and 75 <= found[-1][0] <= 75 + PAUSE

    def test_all_try_again_and_again_until_the_end(self):
        others = [approver(f"free{number}") for number in range(1, 4)]
        _tries, found = self.run(lambda host, at: "failed", 600, [*others, OWN])
        assert found[-1][0] >= 600 - 2 * PAUSE
        turns = [host for position, (_at, host) in enumerate(found) if not position or found[position - 1][1] != host]
        assert turns[:9] == ["free1", "free2", "free3", "own1"] * 2 + ["free1"]

    def test_whoever_refuses_gives_way_at_once(self):
        _tries, found = self.run(lambda host, at: "refused" if host == "free1" else "accepted", 600)
        assert found == [(0.0, "free1"), (0.5, "own1")]

    def test_nobody_starves_beside_two_that_refuse_or_are_lost(self):
        results = {"free1": "refused", "free2": "lost", "free3": "failed", "own1": "failed"}
        others = [approver(f"free{number}") for number in range(1, 4)]
        _tries, found = self.run(lambda host, at: results[host], 300, [*others, OWN])
        assert {host for at, host in found if at > 150} == set(results)

    def test_one_that_was_lost_gets_another_turn_after_a_better_one_that_came_later(self):
        tries = tried(ApprovalTries(), "own1", 0.0, "lost")
        tries = tried(tries, "free1", 1.0, "failed")
        assert who(FREE, OWN, tries=tries, at=30.9).host == "free1"
        assert who(FREE, OWN, tries=tries, at=31.0).host == "own1"

    def test_what_came_of_the_last_try_is_kept_as_one_line(self):
        assert tried(ApprovalTries(), "web1", 5.0, "failed", "a\nb").note == "a b"
