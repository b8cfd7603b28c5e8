# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A call that begins with what an earlier one has found: one start of PowerShell, which changes nothing unless all of it still holds."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import call as action
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine import acting
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import document, event
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows import (
    test_windows_calls as calls,
)

LOOK, SERVICE, START = calls.LOOK, calls.SERVICE, calls.START
APPROVE = dict(calls.APPROVE, own=["ID-1"])
READ = ["trust", "read", "read", "read", "read", "folder", "boot"]
BEGIN = calls.go(before={SERVICE: {"ran": True}})
END = calls.go(outcomes={SERVICE: {"state": "done", "note": "", "seconds": 2.0}})


class Windows(calls.Windows):
    """The same, and each call is given what the one before has found."""

    def __init__(self, folder, *steps):
        super().__init__(folder, *steps)
        self.takes = START
        self.played.boot_id = "boot-1"
        self.heard = None

    def call(self, *requests, **options):
        known = action.known(self.heard, self.clock.now())
        answer = super().call(*requests, **dict({"known": known, "resource_name": "web1"}, **options))
        if not answer["lost"]:
            # as it comes through the record of a run
            self.heard = action.heard(json.loads(json.dumps(answer)), self.clock.now())
        return answer

    @property
    def posts(self):
        return self.service.asked.count("POST scheduledevents")


@pytest.fixture
def machine(tmp_path):
    """One whose step has been begun."""
    made = Windows(tmp_path, acting.step("W3SVC", "service", elsewhere=True))
    made.call(LOOK)
    assert made.call(BEGIN, LOOK)["elsewhere"]["key"] == SERVICE
    return made


# --- one start ---


def test_the_first_mark_and_a_look_are_one_start(tmp_path):
    machine = Windows(tmp_path, acting.step("W3SVC", "service", elsewhere=True))
    machine.call(LOOK)
    answer = machine.call(BEGIN, LOOK)
    assert machine.starts == [[*READ, "edit", "GET", "trust"]]
    assert answer["answers"][1]["events"] and answer["mark"] == machine.mark()
    assert (answer["took"], answer["age"]) == (START, 0.0)


def test_that_it_is_prepared_and_the_approval_are_one_start(machine):
    went, approve = machine.call(END, APPROVE)["answers"]
    assert machine.starts == [[*READ, "GET", "edit", "POST", "GET"]]
    assert went["state"] == "prepared" and machine.mark()["phase"] == "prepared"
    assert approve["approved"] == ["ID-1"] and approve["look"]["events"][0]["status"] == "Started"


def test_without_what_is_known_they_are_two(machine):
    approve = machine.call(END, APPROVE, known=None)["answers"][1]
    assert machine.starts == [[*READ, "GET", "GET"], ["edit", "POST", "GET"]]
    assert approve["approved"] == ["ID-1"]


def test_a_wait_is_one_start(machine):
    machine.call(LOOK)
    answer = machine.call({"do": "look", "wait": 60, "since": 2}, seconds=85)
    assert machine.starts == [[*READ, "GET"]]
    assert answer["answers"][0]["failure"]["kind"] == "timeout"


def test_a_wait_from_a_document_that_is_another_one_by_now_ends_at_once(machine):
    machine.call(LOOK)
    machine.service.document = document(3, event("ID-1", status="Started", resources=["web1"]))
    (look,) = machine.call({"do": "look", "wait": 60, "since": 2}, seconds=85)["answers"]
    assert machine.starts == [[*READ, "GET"]] and look["incarnation"] == 3


def test_what_is_known_is_no_look(machine):
    """Who asks for another document than the one that is known gets one of now, and not that."""
    machine.call(LOOK)
    machine.service.document = document(3)
    (look,) = machine.call({"do": "look", "wait": 60, "since": 1}, seconds=85)["answers"]
    assert look["incarnation"] == 3 and machine.starts[-1] == [*READ, "GET", "GET"]


def test_what_only_asks_others_is_none(tmp_path):
    """What it says of the machine is as old as it is."""
    machine = Windows(tmp_path, acting.step("W3SVC", "service", elsewhere=True))
    machine.call(LOOK)
    machine.clock.sleep(3.0)
    answer = machine.call(calls.go())
    assert machine.starts == [] and answer["ask"] == [SERVICE]
    assert answer["age"] == 3.0 and answer["start"] == START


def test_the_start_is_no_time_for_a_step(tmp_path):
    machine = Windows(tmp_path, acting.step("W3SVC", "service", elsewhere=True))
    machine.call(LOOK)
    assert machine.call(dict(BEGIN, left=30.0), LOOK)["elsewhere"]["begins"] == 30.0 - START


# --- what does not hold any more ---


def taken(machine):
    calls.overtake(machine)()


def removed(machine):
    machine.file.unlink()


def rebooted(machine):
    machine.played.boot_id = "boot-2"


def opened_to_all(machine):
    machine.played.trust = calls.OTHERS_FOLDER


def in_use(machine):
    machine.played.busy = {"mark.json"}


def grown(machine):
    machine.service.document = document(3, event("ID-1", resources=["web1", "web2"]))


CHANGES = [taken, removed, rebooted, opened_to_all, in_use, grown]


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_hold_any_more_is_not_acted_upon(machine, change):
    """The start that finds it does nothing, and the call begins anew by what is there: nothing of this is to be approved."""
    before = machine.mark()
    machine.before_start[0] = lambda: change(machine)
    at_second = []
    machine.before_start[1] = lambda: at_second.append((machine.mark(), machine.posts))
    answer = machine.call(END, APPROVE)
    changed = machine.mark() if change is taken else None if change is removed else before
    if change is not taken:
        assert at_second == [(changed, 0)]
    assert machine.posts == 0
    assert answer["lost"] or not answer["answers"][1]["approved"]


def held(machine):
    calls.says(machine, "hold.json", reason="a release", by="me", until=None, vm_id="")


def confirmed(machine):
    folder = machine.file.parent / "yes"
    folder.mkdir(exist_ok=True)
    (folder / "a.json").write_text("{}")


def watched(machine):
    calls.says(machine, "watcher.json")


@pytest.mark.parametrize("change", [held, confirmed, watched])
def test_what_a_person_or_the_watcher_says_meanwhile_is_heard_first(machine, change):
    before, at_second = machine.mark(), []
    machine.before_start[0] = lambda: change(machine)
    machine.before_start[1] = lambda: at_second.append((machine.mark(), machine.posts))
    machine.call(END, APPROVE)
    assert at_second == [(before, 0)]
    assert machine.starts[0] == [*READ, "GET", "edit", "POST", "GET"]


def test_what_changes_under_its_hands_is_fenced(machine):
    """Between what is compared first and the mark itself, which is compared once more when it is replaced."""
    carry_out = machine.played._carried_out

    def between(request):
        if request["Do"] == "edit":
            taken(machine)
        return carry_out(request)

    machine.played._carried_out = between
    answer = machine.call(END, APPROVE)
    assert machine.posts == 0 and answer["answers"][0]["state"] == "refused" and "by run run-2" in answer["fenced"]


def test_a_start_that_hangs_does_nothing(machine):
    before = machine.mark()
    machine.before_start[0] = calls.slow(machine, 70.0)
    answer = machine.call(END, APPROVE)
    assert machine.posts == 0 and machine.mark() == before
    assert answer["answers"][0]["state"] == "skipped" and answer["known"] is None


def test_it_may_change_something_no_longer_than_its_call(machine):
    """However long ago the machine has shown its clock."""
    machine.clock.sleep(100.0)
    requests = []
    carry_out = machine.played.result
    machine.played.result = lambda sent: requests.extend(sent) or carry_out(sent)
    began = machine.clock.now()
    machine.call(END, APPROVE, seconds=10.0)
    untils = [request["UntilMs"] for request in requests if request.get("UntilMs")]
    assert len(untils) == 2 and all(0 <= 1000 * (began + 10.0) - until <= 1000 for until in untils)


@pytest.mark.parametrize("start, most", [(2.0, 20.0), (10.0, 30.0), (30.0, 60.0)])
def test_a_start_that_hangs_while_its_run_ends_changes_nothing_after_some_seconds(machine, start, most):
    """Twenty, or what it may take where PowerShell is slow."""
    machine.heard["known"]["start"] = start
    requests = []
    carry_out = machine.played.result
    machine.played.result = lambda sent: requests.extend(sent) or carry_out(sent)
    began = machine.clock.now()
    machine.call(END, APPROVE, seconds=60.0)
    untils = {request["UntilMs"] for request in requests if request.get("UntilMs")}
    assert len(untils) == 1 and 0 <= 1000 * (began + most) - untils.pop() <= 1000


def test_how_long_a_start_takes_is_without_the_wait_in_it(machine):
    """Else the start after a wait could change something long after its run has ended."""
    machine.call(LOOK)
    answer = machine.call({"do": "look", "wait": 60, "since": 2}, seconds=85)
    assert answer["took"] >= 60 and answer["start"] == pytest.approx(START, abs=0.1)
    assert machine.heard["known"]["start"] == answer["start"]


def test_the_approval_of_a_machine_that_is_not_prepared_by_it_is_not_sent(machine):
    pending = calls.go(outcomes={SERVICE: {"state": "pending"}})
    went, approve = machine.call(pending, APPROVE)["answers"]
    assert went["state"] == "preparing" and machine.posts == 0
    assert [entry["reason"] for entry in approve["not_approved"]] == ["fenced"]


def test_an_approval_that_is_not_sent_brings_a_look_of_now(machine):
    """The document that was assumed is compared all the same."""
    machine.before_start[0] = lambda: grown(machine)
    pending = calls.go(outcomes={SERVICE: {"state": "pending"}})
    look = machine.call(pending, APPROVE)["answers"][1]["look"]
    assert look["events"][0]["resources"] == ["web1", "web2"]


# --- what is kept ---


def test_what_is_known_of_a_boot_without_an_id_is_not_kept(tmp_path):
    machine = Windows(tmp_path)
    machine.played.boot_id = ""
    assert machine.call(LOOK)["known"] is None


@pytest.mark.parametrize("change", [confirmed, watched])
def test_what_may_change_at_any_time_is_not_kept(machine, change):
    change(machine)
    assert machine.call(LOOK)["known"] is None and machine.call(LOOK)["known"] is None


def test_a_large_document_is_not_kept(machine):
    events = [event(f"ID-{number}", resources=["web1"]) for number in range(40)]
    machine.service.document = document(3, *events)
    assert not any("scheduledevents" in url for url in machine.call(LOOK)["known"]["seen"])


def test_a_call_that_asks_who_the_machine_is_begins_from_nothing(machine):
    machine.call(calls.HELLO, LOOK)
    assert machine.starts == [[*READ, *["GET"] * 5]]


def test_it_ages_on_its_way_and_until_the_next_call():
    answer = {"took": 2.0, "answers": [], "uptime": 50.0, "boot_id": "b", "known": {"age": 1.0, "mark": None}}
    came = action.result(answer, 2.5, 0.0)
    last = action.heard(came, 100.0)
    assert "known" not in came
    assert action.known(last, 107.0) == {"age": 8.5, "mark": None}
    assert action.known(None, 107.0) is None and action.known({"at": 1.0}, 107.0) is None


# --- how old what it says is ---


def test_the_mark_is_as_old_as_its_reading(machine):
    """A machine counts as prepared only for a while after that: a wait in the same call is part of it."""
    machine.call(LOOK)
    alone = machine.call({"do": "look", "wait": 20, "since": 2}, seconds=45)
    assert 19.0 <= alone["age"] <= 21.0
    twice = machine.call({"do": "look", "wait": 20, "since": 2}, seconds=45, known=None)
    assert 20.0 <= twice["age"] - START <= 22.0


def test_a_look_is_as_old_as_its_document(machine):
    """Of two starts the second one wrote the mark."""
    (_went, look) = machine.call(END, LOOK, known=None)["answers"]
    assert look["age"] == START
    (_went, look) = machine.call(calls.go("recovered"), LOOK)["answers"]
    assert look["age"] == 0.0


# --- what a person has said ---


def test_a_confirmation_is_read_in_each_call(machine):
    assert machine.call(LOOK)["yes"] == []
    acting_machine = machine.call({"do": "yes", "event": "ID-1", "by": "me"}, run="", known=None)
    assert acting_machine["known"] is None
    for requests in ([LOOK], [calls.go(), LOOK], [dict(APPROVE, own=[])]):
        assert machine.call(*requests)["yes"] == ["ID-1"]


def test_what_can_not_be_read_of_what_a_person_has_said_is_not_taken_for_nothing(machine):
    """Or a machine that a person has recovered would be taken out of service again."""
    carry_out = machine.played._carried_out
    broken = {"failure": "Unknown", "message": "Access to the path is denied.", "part": "folder"}
    machine.played._carried_out = lambda request: broken if request["Do"] == "folder" else carry_out(request)
    answer = machine.call(LOOK, known=None)
    assert answer["answers"] is None and "can't be read" in answer["lost"] and "administrator" in answer["lost"]
