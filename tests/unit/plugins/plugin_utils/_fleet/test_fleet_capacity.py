# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""By choice never more is out than the capacity allows; what Azure is going to affect anyway is prepared in time."""

from __future__ import annotations

import itertools

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import capacity
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.capacity import Candidate, turns

WEB = {"web1": "web", "web2": "web", "web3": "web"}


def candidate(key, *hosts, left=900.0, needs=60.0, **more):
    return Candidate(key, f"Reboot {key}", hosts, left, needs, **more)


def given(*candidates, groups=None, max_unavailable="50%", out=(), left=()):
    groups = WEB if groups is None else groups
    limits = max_unavailable if isinstance(max_unavailable, dict) else dict.fromkeys(groups, max_unavailable)
    return turns(
        groups, limits, dict.fromkeys(out, "can't be reached") if not isinstance(out, dict) else out, left, candidates
    )


def states(*candidates, **more):
    return {key: turn.state for key, turn in given(*candidates, **more).items()}


@pytest.mark.parametrize(
    "max_unavailable, size, limit",
    [
        ("50%", 1, 1),
        ("50%", 2, 1),
        ("50%", 3, 1),
        ("50%", 4, 2),
        ("50%", 5, 2),
        ("1%", 9, 1),
        ("100%", 3, 3),
        ("2", 1, 2),
        ("2", 9, 2),
    ],
)
def test_the_limit_of_a_group(max_unavailable, size, limit):
    assert capacity.limit_of(max_unavailable, size) == limit


class TestTurns:
    def test_of_three_events_at_once_one_goes(self):
        events = [candidate("A", "web1"), candidate("B", "web2"), candidate("C", "web3")]
        found = given(*events)
        assert [turn.state for turn in found.values()] == ["turn", "waits", "waits"]
        assert found["A"] == ("turn", True, True, False, "")
        assert (found["B"].prepare, found["B"].approve) == (False, False)
        assert found["B"].words == (
            "it waits for its turn: of the 3 machines of group web at most 1 may be out of service voluntarily, and web1 is about to be, for "
            "Reboot A"
        )
        assert found["C"].words.startswith(found["B"].words)
        assert found["C"].words.endswith("; Reboot B came first")

    def test_the_order_is_that_of_their_not_before_and_then_of_their_ids(self):
        first, second, third = candidate("C", "web1", left=500), candidate("A", "web2"), candidate("B", "web3")
        for order in itertools.permutations([first, second, third]):
            assert states(*order) == {"C": "turn", "A": "waits", "B": "waits"}
        assert states(second, third) == {"A": "turn", "B": "waits"}

    def test_an_event_that_has_begun_keeps_its_turn(self):
        found = given(
            candidate("A", "web1", left=500), candidate("B", "web2", begun=True), out={"web2": "bears our mark"}
        )
        assert (found["B"].state, found["B"].prepare, found["B"].approve) == ("turn", True, True)
        assert found["A"].state == "waits"
        assert "web2 bears our mark" in found["A"].words

    def test_a_later_event_does_not_overtake_one_that_waits_in_its_group(self):
        groups = {"web1": "web", "web2": "web", "web3": "web", "web4": "web"}
        big, small = candidate("A", "web1", "web2", left=500), candidate("B", "web3")
        assert states(big, small, groups=groups, out=["web4"]) == {"A": "waits", "B": "waits"}
        assert given(big, small, groups=groups, out=["web4"])["B"].words == "it waits for its turn: Reboot A came first"

    def test_an_event_in_another_group_goes(self):
        groups = {**WEB, "db1": "db", "db2": "db"}
        events = [candidate("A", "web1"), candidate("B", "web2"), candidate("C", "db1")]
        assert states(*events, groups=groups) == {"A": "turn", "B": "waits", "C": "turn"}

    def test_an_event_in_several_groups_needs_room_in_all_and_takes_it_in_all(self):
        groups = {**WEB, "db1": "db", "db2": "db"}
        both, web, db = candidate("A", "web1", "db1", left=500), candidate("B", "web2"), candidate("C", "db2")
        assert states(both, web, db, groups=groups) == {"A": "turn", "B": "waits", "C": "waits"}
        assert states(both, web, db, groups=groups, out=["db2"]) == {"A": "waits", "B": "waits", "C": "waits"}

    def test_what_is_left_for_later_holds_up_nobody(self):
        found = given(candidate("A", "web1", left=500, wanted=False), candidate("B", "web2"))
        assert (found["A"].state, found["A"].prepare, found["A"].words) == ("later", False, "")
        assert found["B"].state == "turn"


class TestWhoIsOut:
    def test_a_machine_that_is_not_back_stops_the_next_approval(self):
        found = given(candidate("A", "web1"), out={"web3": "is not back since Reboot Z"})
        assert (found["A"].state, found["A"].prepare, found["A"].approve) == ("waits", False, False)
        assert "web3 is not back since Reboot Z" in found["A"].words

    def test_it_stops_the_approval_of_what_has_begun_too(self):
        found = given(candidate("A", "web1", begun=True), out={"web1": "bears our mark", "web3": "can't be reached"})
        assert (found["A"].state, found["A"].prepare, found["A"].approve) == ("turn", True, False)
        assert "web3 can't be reached: it keeps its turn" in found["A"].words

    def test_a_machine_that_is_out_already_is_not_counted_twice(self):
        assert states(candidate("A", "web1"), out=["web1"]) == {"A": "turn"}

    def test_a_machine_of_another_group_is_not_in_the_way(self):
        assert states(candidate("A", "web1"), groups={**WEB, "db1": "db"}, out=["db1"]) == {"A": "turn"}

    def test_what_was_taken_away_leaves_the_group(self):
        four = {**WEB, "web4": "web"}
        assert states(candidate("A", "web1"), candidate("B", "web2"), groups=four) == {"A": "turn", "B": "turn"}
        gone = {"groups": four, "left": ["web3", "web4"]}
        assert states(candidate("A", "web1"), candidate("B", "web2"), **gone) == {"A": "turn", "B": "waits"}
        # and is not counted among those who are out
        assert states(candidate("A", "web1"), groups=WEB, out=["web3"], left=["web3"]) == {"A": "turn"}

    def test_where_a_group_was_learned_late_the_smallest_capacity_holds(self):
        limits = {"web1": "3", "web2": "1", "web3": "2"}
        assert states(candidate("A", "web1"), candidate("B", "web2"), max_unavailable=limits) == {
            "A": "turn",
            "B": "waits",
        }


class TestTooLarge:
    def test_it_is_never_approved_early_and_that_is_said(self):
        found = given(candidate("A", "web1", "web2"))["A"]
        assert (found.too_large, found.prepare, found.approve) == (True, False, False)
        assert found.words == (
            "it affects 2 machines at once, and of the 3 machines of group web at most 1 may be out of service voluntarily: it is never approved "
            "early; they are prepared when 75 s are left"
        )

    def test_nor_when_all_of_its_machines_are_prepared(self):
        found = given(candidate("A", "web1", "web2", begun=True), out=["web1", "web2"])["A"]
        assert (found.too_large, found.prepare, found.approve) == (True, True, False)

    def test_it_holds_up_nobody_while_it_is_far_away(self):
        assert given(candidate("A", "web1", "web2", left=500), candidate("B", "web3"))["B"].approve

    def test_it_is_prepared_in_time(self):
        found = given(candidate("A", "web1", "web2", left=70), candidate("B", "web3"))
        assert (found["A"].state, found["A"].prepare, found["A"].approve) == ("due", True, False)
        assert "prepared now, as that may take 60 s and 70 s are left" in found["A"].words
        assert found["B"].state == "waits" and "web1 is about to be, for Reboot A, web2 is" in found["B"].words


class TestDue:
    @pytest.mark.parametrize("left, state", [(60 + capacity.SLACK, "due"), (61 + capacity.SLACK, "waits")])
    def test_what_waits_is_prepared_when_its_notice_runs_out(self, left, state):
        first = candidate("A", "web1", left=10, begun=True)
        found = given(first, candidate("B", "web2", left=left))["B"]
        assert (found.state, found.prepare, found.approve) == (state, state == "due", False)

    def test_it_is_not_approved_by_choice_as_long_as_too_many_are_out(self):
        found = given(candidate("A", "web1", left=10, begun=True), candidate("B", "web2", left=50))
        assert not found["A"].approve and not found["B"].approve
        assert "web1 is about to be, for Reboot A" in found["B"].words

    def test_it_is_approved_once_there_is_room(self):
        assert given(candidate("B", "web2", left=50))["B"].approve

    def test_an_earlier_event_that_waits_behind_it_does_not_keep_it_from_being_approved(self):
        # It could not go before, as this one's machine is out: both would wait for each other.
        slow = candidate("B", "web2", left=600, needs=590)
        found = given(candidate("A", "web1", left=500), slow)
        assert (found["A"].state, found["B"].state, found["B"].approve) == ("waits", "due", True)

    def test_what_was_left_for_later_is_prepared_when_its_notice_runs_out(self):
        assert states(candidate("A", "web1", left=50, wanted=False)) == {"A": "due"}

    def test_all_of_an_eviction_s_machines_are_prepared_at_once(self):
        events = [candidate(key, host, left=30) for key, host in zip("ABC", WEB, strict=True)]
        assert [turn.prepare for turn in given(*events).values()] == [True, True, True]


def test_never_more_than_the_limit_is_approved_whatever_comes():
    """Over many small fleets: what may be approved early fits, with all who are out, into every group."""
    hosts = {"a": "g", "b": "g", "c": "g", "d": "h"}
    sets = [("a",), ("b",), ("a", "b"), ("c", "d"), ("d",)]
    for first, second, third in itertools.product(sets, repeat=3):
        for limit, out, flags in itertools.product(
            ("1", "2"), ((), ("c",), ("a", "d")), itertools.product((0, 1, 2), repeat=3)
        ):
            events = [
                candidate(key, *affected, left=50 if flag == 1 else 900, begun=flag == 2)
                for key, affected, flag in zip("ABC", (first, second, third), flags, strict=True)
            ]
            found = given(*events, groups=hosts, max_unavailable=limit, out=out)
            gone = set(out).union(
                *(event.hosts for event in events if found[event.key].prepare or found[event.key].approve)
            )
            for event in events:
                if found[event.key].approve:
                    for group in {hosts[host] for host in event.hosts}:
                        assert len([host for host in gone if hosts[host] == group]) <= int(limit)
                assert found[event.key].prepare or (event.left > 75 and not event.begun)
                assert found[event.key].words or found[event.key].approve


def test_a_group_that_only_events_have_made_counts_all_of_its_machines():
    assert limit_in({"a": "a", "b": "a", "c": "a", "d": "a"}, joined=["a", "b", "c", "d"]) == 2
    assert limit_in({"a": "a", "b": "a", "c": "a", "d": "a"}, joined=["d"]) == 1


def test_where_all_of_a_group_may_be_out_so_may_be_a_machine_that_an_event_joined_to_it():
    assert limit_in({"a": "a", "b": "a"}, joined=["b"], max_unavailable="100%") == 2


def test_groups_that_an_event_has_joined_count_together_too():
    groups, one = {"a": "web", "b": "web", "c": "wbe"}, "wbe and web"
    assert limit_in(groups, joined=[]) == 2
    assert limit_in(groups, joined=[], wider=dict.fromkeys(groups, one)) == 1
    # ... and do not enlarge each other
    larger = {"a": "web", "b": "web", "c": "wbe", "d": "wbe"}
    candidates = [Candidate(host, host, (host,), 900.0, 30.0) for host in "ab"]
    found = turns(larger, dict.fromkeys(larger, "50%"), {}, [], candidates, (), dict.fromkeys(larger, one))
    assert [turn.state for turn in found.values()] == ["turn", "waits"]


def limit_in(groups, joined, wider=None, max_unavailable="50%"):
    """How many of the machines of one group may be out, by how many events of one machine each get their turn."""
    candidates = [Candidate(host, host, (host,), 900.0, 30.0) for host in groups]
    found = turns(groups, dict.fromkeys(groups, max_unavailable), {}, [], candidates, joined, wider)
    return sum(turn.prepare for turn in found.values())


PLACES = {"a": "zone 1", "b": "zone 1", "c": "zone 2", "d": "", "e": ""}


def in_domains(most, *events, out=None):
    """Which events get their turn, of machines that may all be out as far as their number goes."""
    groups = dict.fromkeys(PLACES, "web")
    candidates = [Candidate("".join(hosts), "".join(hosts), tuple(hosts), 900.0, 30.0) for hosts in events]
    every = dict.fromkeys(groups, "100%")
    found = turns(groups, every, out or {}, [], candidates, (), None, PLACES, dict.fromkeys(groups, most))
    return found, [key for key, turn in found.items() if turn.approve]


def test_machines_are_out_in_so_many_zones_or_fault_domains():
    assert in_domains(0, "a", "b", "c")[1] == ["a", "b", "c"]
    found, approved = in_domains(1, "a", "b", "c")
    assert approved == ["a", "b"]
    assert found["c"].words.startswith(
        "it waits for its turn: of the 5 machines of group web at most 5 may be out of service voluntarily, in at most 1 of its zones or "
        "fault domains, and a is about to be, for a"
    )
    assert in_domains(2, "a", "b", "c")[1] == ["a", "b", "c"]


def test_one_that_says_neither_is_a_domain_of_its_own():
    assert in_domains(1, "d", "e")[1] == ["d"]
    assert in_domains(1, "a", out={"d": "can't be reached"})[1] == []


def test_an_event_in_more_domains_than_that_is_never_approved_early():
    found, approved = in_domains(1, "ac")
    assert approved == [] and found["ac"].too_large
    assert in_domains(2, "ac")[1] == ["ac"]
