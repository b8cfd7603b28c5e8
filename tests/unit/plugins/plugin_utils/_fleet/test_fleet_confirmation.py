# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A confirmation: who bears it, and what becomes of it where no run lives."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.approval_reasons import is_agreed
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.confirmation import (
    after_waiting,
    approved,
    confirmation_of,
    recorded,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked, inspected
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet import asked_machines
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import watcher
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import Run
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    event as shown_event,
)


def event(id="A-1", *resources, **keys):
    """One that has no not-before."""
    return asked_machines.event(id, *resources, notice=None, not_before="", **keys)


def mark(*ids, phase="prepared", kind="run", run="r7", number=17):
    return {
        "number": number,
        "holder": {"kind": kind, "run": run, "job": "", "controller": "ctl"},
        "lease": {"uptime": 100.0, "boot_id": "b1", "until": 220.0},
        "boot_id": "b1",
        "events": list(ids or ("A-1",)),
        "phase": phase,
        "steps": [],
    }


DEAD = {"mark": mark(), "expired": True}
BARE = {"mark": None}
SHOWN = (event(),)


def fleet(first="dead", second="dead", third="bare", shown=SHOWN):
    """web1 and web2, which the event affects, and web3, which is shown it, too."""
    first, second, third = (
        {"dead": DEAD, "bare": BARE}.get(mark, mark) if isinstance(mark, str) else mark
        for mark in (first, second, third)
    )
    return [
        _machine(f"web{number}", f"vm{number}", **{"events": list(shown), **changes})
        for number, changes in enumerate((first, second, third), 1)
    ]


def _machine(host, name, events=(), expired=False, problem="", **changes):
    look = {"events": events, "incarnation": None if events is None else 3, "msg": "", "failure": None}
    answer = {
        "lost": problem,
        "answers": None if problem else [{"vm_id": f"id of {name}"}, {**look, "events": events or []}],
        "boot_id": "b1",
        "uptime": 220.0 if expired else 140.0,
        "ended": 100.0,
    }
    return Asked(host, True, name, {**answer, **changes})


def changed(machine, **changes):
    """The machine, with another answer."""
    return machine._replace(answer={**machine.answer, **changes})


def test_one_yes_on_any_machine_of_the_event_is_enough():
    run = Run("web1", "web2")
    run["web1"].yes, run["web2"].yes = ["A-11"], ["B", "a-1"]
    run.show(shown_event("A-1", ["vm1", "vm2"]), shown_event("C", ["vm1"]))
    run.tick()
    assert is_agreed(run.record, run.event("A-1"))
    assert not is_agreed(run.record, run.event("C"))


class TestWhatAMachineAnswered:
    LOOK = {"events": [event()], "incarnation": 3, "msg": "", "unusable_events": []}
    LEASED = mark()

    def answer(self, **changes):
        hello = {"resource_name": "vm1", "problem": ""}
        answers = [hello, changes.pop("look", self.LOOK)]
        return {"lost": "", "answers": answers, "mark": self.LEASED, "boot_id": "b1", "uptime": 219.0, **changes}

    def found(self, answer, name=""):
        return inspected([Asked("web1", True, name, answer)])

    def test_all_of_it(self):
        found = self.found(self.answer(), "inventory")
        assert found.machines["web1"].name == "vm1"
        assert (found.events("web1"), found.mark("web1")) == ([event()], self.LEASED)
        assert (found.silent("web1"), found.lasts("web1"), found.is_over("web1")) == (119.0, 1.0, False)
        assert (found.machines["web1"].said.boot_id, found.owner("web1")) == ("b1", "run")

    @pytest.mark.parametrize(
        "changes, expired",
        [
            ({"uptime": 220.0}, True),
            ({"boot_id": "b2", "uptime": 1.0}, True),
            ({"uptime": None}, False),
            ({"mark": None}, False),
        ],
    )
    def test_a_lease_ends_by_the_machine_s_uptime_or_with_its_boot(self, changes, expired):
        assert self.found(self.answer(**changes)).is_over("web1") is expired

    @pytest.mark.parametrize(
        "look, why",
        [
            ({"problem": "no route to the service"}, "no route to the service"),
            ({**LOOK, "failure": {"kind": "unreachable"}, "msg": "It took too long."}, "It took too long."),
            (
                {**LOOK, "incarnation": None},
                "the service answered with nothing, which does not say whether there are events",
            ),
        ],
    )
    def test_a_look_without_a_document_says_nothing_of_events_but_its_mark_counts(self, look, why):
        answer = self.answer(look=look, uptime=220.0)
        found = self.found(answer)
        assert (found.events("web1"), found.machines["web1"].lost, found.blind("web1")) == (None, "", why)
        machines = fleet(second=BARE, shown=(event("A-1", "vm1"),))
        assert confirmation_of("A-1", [Asked("web1", True, "", answer), *machines[1:]]).verdict == "approve"

    def test_one_that_is_lost_keeps_the_inventory_s_name(self):
        nothing = {"lost": "no route", "answers": None, "mark": None, "yes": None, "boot_id": None}
        found = self.found(nothing, "vm1")
        assert (found.machines["web1"].name, found.machines["web1"].lost) == ("vm1", "no route")
        assert (found.events("web1"), found.mark("web1"), found.is_over("web1")) == (None, None, False)


class TestALivingRun:
    def test_it_approves(self):
        found = confirmation_of("a-1", fleet({"mark": mark()}))
        assert (found.verdict, found.id, found.host, found.recorded_on) == ("run", "A-1", "", ("web1", "web2"))
        assert found.numbers == {"web1": 17}
        assert "Run r7 on ctl owns web1 for Reboot A-1 (web1, web2) and approves it" in found.sentences[0]

    def test_it_approves_later_what_is_not_prepared_yet(self):
        assert confirmation_of("A-1", fleet({"mark": mark(phase="preparing")}, BARE)).verdict == "run"

    @pytest.mark.parametrize("other", [mark("B-2"), mark(kind="drain"), {"unreadable": "cut off"}])
    def test_another_mark_is_no_run_that_approves_it(self, other):
        assert confirmation_of("A-1", fleet({"mark": other})).verdict != "run"

    def test_a_machine_that_can_not_be_reached_gets_no_yes(self):
        found = confirmation_of("A-1", fleet({"mark": mark()}, {"events": None, "mark": None, "problem": "no route"}))
        assert (found.verdict, found.recorded_on) == ("run", ("web1",))


class TestWhetherTheRunLives:
    """A mark counts as a living run's for two minutes after the run has ended: that it changes shows that it lives."""

    def before(self):
        return confirmation_of("A-1", fleet({"mark": mark()}))

    def test_a_mark_that_changed_shows_that_it_does(self):
        found = after_waiting(confirmation_of("A-1", fleet({"mark": mark(number=18)})), self.before())
        assert found.verdict == "run"

    def test_one_that_did_not_is_no_good_ending(self):
        found = after_waiting(self.before(), self.before())
        assert found.verdict == "silent"
        assert "not renewed its mark since" in found.sentences[-1] and "The confirmation is kept" in found.sentences[-1]

    def test_one_that_has_expired_meanwhile_is_gone_by_as_ever(self):
        assert after_waiting(confirmation_of("A-1", fleet()), self.before()).verdict == "approve"

    def test_an_event_that_has_left_meanwhile_was_approved_or_cancelled(self):
        found = after_waiting(confirmation_of("A-1", fleet(shown=())), self.before())
        assert found.verdict == "started" and "is over or has been cancelled since" in found.sentences[0]


class TestWhatCameOfIt:
    def test_one_machine_that_takes_the_yes_is_enough(self):
        found = confirmation_of("A-1", fleet())
        lost = {"lost": "no route", "answers": None}
        assert recorded(found, {"web1": lost, "web2": {"answers": [{}]}}) == (
            True,
            "The confirmation of event A-1 is recorded on web2.",
        )
        said = recorded(found, {"web1": lost, "web2": {"answers": [{"problem": "/m can't be written."}]}, "web3": {}})
        assert said[0] is False
        assert (
            "web1: no route, web2: /m can't be written, web3: the task that was to do it failed (see above)." in said[1]
        )

    @pytest.mark.parametrize("words", [{"approved": ["A-1"]}, {"already": ["A-1"]}])
    def test_an_approval_that_was_taken(self, words):
        done, sentence = approved(confirmation_of("A-1", fleet()), {"answers": [words]})
        assert done and sentence.startswith("web3 has approved event A-1.")

    @pytest.mark.parametrize(
        "answer, why",
        [
            ({"lost": "no route"}, "no route. It is not known whether Azure got the approval."),
            ({}, "the task that was to do it failed (see above). It is not known"),
            ({"answers": [{"not_approved": [{"message": "It grew."}]}]}, "It grew. It is not approved."),
            ({"answers": [{"failure": {"kind": "denied"}, "msg": "HTTP 403."}]}, "HTTP 403. It is not approved."),
            ({"answers": [{"problem": "broken"}]}, "broken. It is not approved."),
            ({"answers": [{"approved": []}]}, "it did not report a result. It is not approved."),
        ],
    )
    def test_one_that_was_not_says_why_and_what_to_do(self, answer, why):
        done, sentence = approved(confirmation_of("A-1", fleet()), answer)
        assert not done and why in sentence and "Confirm it again" in sentence


class TestNoRunLives:
    def test_who_is_not_affected_approves_when_all_are_prepared(self):
        found = confirmation_of(" a-1 ", fleet())
        assert (found.verdict, found.id, found.host) == ("approve", "A-1", "web3")
        assert (tuple(found.request["prepared"]), found.recorded_on) == (("vm1", "vm2"), ("web1", "web2"))

    def test_one_that_bears_the_mark_does_where_there_is_no_other(self):
        machines = fleet(third={"events": None, "mark": None, "problem": "no route"})
        found = confirmation_of("A-1", machines)
        assert (found.verdict, found.host) == ("approve", "web1")

    def test_one_that_another_open_event_affects_is_spared_while_there_is_a_free_one(self):
        web4 = _machine("web4", "vm4", [event()])
        assert confirmation_of("A-1", [*fleet(shown=(event(), event("B-2", "vm3"))), web4]).host == "web4"

    def test_a_machine_with_another_mark_is_spared(self):
        assert confirmation_of("A-1", fleet(third={"mark": mark("B-2")})).host == "web1"

    @pytest.mark.parametrize(
        "second, why",
        [
            (BARE, "web2 is not marked: it is in service."),
            ({"mark": mark("B-2"), "expired": True}, "web2 has a mark of run r7 on ctl that is not for this event."),
            (
                {"mark": mark("B-2", kind="drain", run="")},
                "web2 has a mark of role drain in run on ctl that is not for this event.",
            ),
            (
                {"mark": {**mark(), "endpoint": "http://10.0.0.11:8780"}},
                "web2 is marked by run r7 on ctl, made for a metadata service other than Azure's, as in a rehearsal (http://10.0.0.11:8780).",
            ),
            (
                {"mark": {**mark(), "vm_id": "vm-a"}},
                "web2 has the mark of VM vm-a, of which it is a copy: it is in service.",
            ),
            ({"mark": mark(phase="half"), "expired": True}, "web2 has a mark that says 'half', not 'prepared'."),
            ({"mark": {"unreadable": "cut off"}}, "web2 has an unreadable mark: cut off."),
            ({"mark": None, "events": None, "problem": "no route"}, "web2 could not be asked: no route."),
        ],
    )
    def test_whose_mark_is_missing(self, second, why):
        found = confirmation_of("A-1", fleet(second=second))
        assert (found.verdict, found.host) == ("missing", "")
        assert why == found.sentences[1] and len(found.sentences) == 3
        assert "Run maintain" in found.sentences[-1]
        assert "web1" in found.recorded_on

    def test_one_that_was_started_anew_since_is_in_service(self):
        found = confirmation_of("A-1", fleet(second={**DEAD, "boot_id": "b2"}))
        assert found.verdict == "missing"
        assert "web2 was rebooted since it was prepared" in found.sentences[1]
        assert "Run maintain for these machines" in found.sentences[2]
        again = {**DEAD, "mark": {**mark(), "again": "b2"}, "boot_id": "b2"}
        assert confirmation_of("A-1", fleet(second=again)).verdict == "approve", (
            "its steps were done again under this start"
        )

    @pytest.mark.parametrize("at, verdict", [(110.0, "approve"), (110.1, "missing")])
    def test_what_is_approved_by_is_no_older_than_its_age_allows(self, at, verdict):
        found = confirmation_of("A-1", fleet(), at=at)
        assert found.verdict == verdict
        assert verdict == "approve" or "answered too long ago" in found.sentences[1]

    def test_before_anything_is_approved_by_it_no_answer_is_too_old(self):
        assert confirmation_of("A-1", [changed(one, age=60.0) for one in fleet()]).verdict == "approve"

    def test_who_approves_is_prepared_itself_where_it_is_affected(self):
        assert confirmation_of("A-1", fleet(), at=101.0).request["own"] == []
        found = confirmation_of("A-1", fleet()[:2], at=101.0)
        assert (found.host, found.request["own"], found.request["decided"]) == ("web1", ["A-1"], 101.0)

    def test_a_watcher_that_leaves_out_a_step_has_not_prepared_it(self):
        watched = {"mark": mark(kind="watcher", run="watcher"), "watcher": watcher(lacks=["service nginx"])}
        assert "lacks steps" in confirmation_of("A-1", fleet(second=watched)).sentences[1]

    def test_machines_that_the_inventory_does_not_have(self):
        shown = (event("A-1", "vm1", "vm2", "vm9"),)
        found = confirmation_of("A-1", fleet(shown=shown))
        assert found.verdict == "missing" and len(found.sentences) == 2
        assert found.sentences[1].startswith("It also affects vm9, which this inventory doesn't have: approve it from")
        assert confirmation_of("A-1", fleet(shown=shown), allow_unknown=["VM9"]).verdict == "approve"

    def test_a_machine_that_only_one_document_names_counts(self):
        third = {"mark": None, "events": [event("A-1", "vm1", "vm2", "vm3")]}
        assert confirmation_of("A-1", fleet(third=third)).sentences[1] == "web3 is not marked: it is in service."

    def test_only_the_machine_itself_approves_its_end(self):
        shown = (event("A-1", "vm1", type="Terminate"),)
        found = confirmation_of("A-1", fleet(second=BARE, shown=shown))
        assert (found.verdict, found.host) == ("approve", "web1")

    def test_nobody_left_who_could(self):
        shown = (event("A-1", "vm1", type="Terminate"),)
        machines = fleet(second=BARE, shown=shown)
        machines[0] = _machine("web1", "vm1", None, mark=mark(), expired=True)
        found = confirmation_of("A-1", machines)
        assert found.verdict == "refused" and "no machine that it deletes can be asked" in found.sentences[0]


class TestWhatARunWouldHoldAgainstIt:
    """A confirmation overrules the policy. What else stands against an approval, a run and a watcher ask as well."""

    def test_approvals_that_are_on_hold_there(self):
        said = {**DEAD, "hold": {"by": "ann", "reason": "a freeze", "vm_id": ""}}
        found = confirmation_of("A-1", fleet(second=said))
        assert (found.verdict, found.host) == ("missing", "")
        assert found.sentences[1:] == [
            "Approvals are on hold on web2 (ann: a freeze).",
            "Run there: azure-maintenance release.",
        ]

    def test_a_machine_that_has_another_name_in_the_inventory(self):
        machines = fleet()
        hello = {"resource_name": "vm2", "vm_id": "id of vm2"}
        machines[1] = changed(machines[1], answers=[hello, machines[1].answer["answers"][1]])._replace(name="other")
        found = confirmation_of("A-1", machines)
        assert found.verdict == "missing" and "web2, which has another name in the inventory" in found.sentences[1]
        assert found.sentences[2] == "Correct azure_maintenance_resource_name."

    @pytest.mark.parametrize("notice, verdict", [(1, "approve"), (0, "refused"), (-90, "refused")])
    def test_a_not_before_that_has_come(self, notice, verdict):
        found = confirmation_of("A-1", fleet(shown=(dict(event(), notice=notice),)))
        assert found.verdict == verdict
        assert verdict == "approve" or "its not-before has come: it starts by itself" in found.sentences[0]

    def test_a_machine_without_a_name_that_may_be_one_of_those_which_are_allowed(self):
        machines = fleet(shown=(event("A-1", "vm1", "vm2", "vm9"),))
        assert confirmation_of("A-1", machines, ["vm9"]).verdict == "approve"
        machines[2] = machines[2]._replace(name="")
        found = confirmation_of("A-1", machines, ["vm9"])
        assert (found.verdict, len(found.sentences)) == ("missing", 2)
        assert "vm9, which this inventory doesn't have (of web3 the VM's name is not known)" in found.sentences[1]

    def test_one_that_its_own_watcher_has_prepared_approves_as_such(self):
        watched = {"mark": mark(kind="watcher", run="watcher"), "watcher": watcher()}
        found = confirmation_of("A-1", fleet(first=watched, third={"mark": mark("B-2")}), at=101.0)
        assert (found.verdict, found.host) == ("approve", "web1")
        assert (found.request["own"], found.request["by_watcher"]) == (["A-1"], True)


class TestNothingToApprove:
    def test_an_event_that_nobody_is_shown(self):
        found = confirmation_of("{{ x }}\n", fleet(third={"events": None, "mark": None, "problem": "no route"}))
        assert (found.verdict, found.recorded_on) == ("not_shown", ())
        assert found.sentences[0].startswith("No machine is shown an event '{{ x }}\\n'")
        assert found.sentences[1] == "These are shown: Reboot A-1 (Scheduled), which affects vm1, vm2."
        assert found.sentences[2] == "These could not poll: web3 (no route)."

    def test_one_whose_id_is_like_it_is_named(self):
        assert "'A-11' (did you mean 'A-1'?): it is over" in confirmation_of("A-11", fleet()).sentences[0]

    def test_marks_of_an_event_that_is_over(self):
        found = confirmation_of("A-1", fleet(shown=()))
        assert "web1, web2 are marked for it: run maintain or recover" in found.sentences[-1]

    def test_one_that_has_started_by_anybody_s_document(self):
        found = confirmation_of("A-1", fleet(third={"mark": None, "events": [event(status="Started")]}))
        assert (found.verdict, found.host, found.recorded_on) == ("started", "", ())

    @pytest.mark.parametrize(
        "shown, why",
        [
            (event(status="Advisory"), "advice"),
            (event(type="SpotRebalanceRecommendation"), "advice"),
            (event(status="Pondering"), "'Pondering'"),
            (event("A-1", "vm9"), "none of its machines"),
        ],
    )
    def test_what_nobody_may_approve(self, shown, why):
        found = confirmation_of("A-1", fleet(shown=(shown,)))
        assert (found.verdict, found.recorded_on) == ("refused", ()) and why in found.sentences[0]

    def test_a_name_that_is_two_machines(self):
        machines = fleet()
        machines[2] = machines[2]._replace(name="vm1")
        found = confirmation_of("A-1", machines)
        assert found.verdict == "refused" and "web1 and as web3" in found.sentences[0]
