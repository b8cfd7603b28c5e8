# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine program asks the metadata service."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    BrokenAnswer,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    Always,
    document,
    event,
    get,
    look,
    own_name,
    sent,
)

LEAF = "/metadata/instance/compute/{}?api-version=2021-02-01&format=text"


@pytest.fixture
def machine(tmp_path):
    machine = Machine(tmp_path, step("one"))
    yield machine
    machine.transport.finish()


def leaf(name, *outcome, **expected):
    return get(LEAF.format(name), *outcome, **expected)


def test_hello_says_who_it_is(machine):
    machine.transport.expect(
        leaf("name", 200, b"web1"),
        leaf("placementGroupId", 200, b""),
        leaf("vmId", 200, b'"0a-1b"'),
        leaf("priority", 200, b"Spot"),
    )
    assert machine.call({"do": "hello"})["answers"] == [
        {"resource_name": "web1", "placement_group": "", "vm_id": "0a-1b", "priority": "Spot", "problem": ""}
    ]


def test_hello_says_where_it_is_when_that_is_asked(machine):
    machine.transport.expect(*(leaf(name, 200, b"x") for name in ("name", "placementGroupId", "vmId", "priority")))
    machine.transport.expect(leaf("zone", 200, b"2"), leaf("platformFaultDomain", 200, b"0"))
    (answer,) = machine.call({"do": "hello", "domain": True})["answers"]
    assert (answer["zone"], answer["fault_domain"], answer["problem"]) == ("2", "0", "")


def test_what_cant_be_learned_is_empty_and_says_why(machine):
    machine.transport.expect(
        leaf("name", 200, b"web1", timeout=3.0),
        leaf("placementGroupId", 500),
        leaf("vmId", 404),
        leaf("priority", 200, b""),
    )
    (answer,) = machine.call({"do": "hello"})["answers"]
    assert (answer["resource_name"], answer["placement_group"], answer["vm_id"]) == ("web1", "", "")
    assert "answered HTTP 500" in answer["problem"]
    assert machine.clock.elapsed == 0


def test_who_asks_in_the_same_second_as_others_asks_once_more(machine):
    machine.transport.expect(leaf("name", 429), leaf("name", 200, b"web1"), leaf("placementGroupId", 429))
    machine.transport.expect(leaf("placementGroupId", 429), leaf("vmId", 200, b""), leaf("priority", 200, b""))
    (answer,) = machine.call({"do": "hello"})["answers"]
    assert answer["resource_name"] == "web1" and "answered HTTP 429" in answer["problem"]
    assert machine.clock.elapsed == 2.2


def test_who_does_not_answer_is_not_asked_three_times_more(machine):
    machine.transport.expect(leaf("name", Unreachable("no route")))
    assert "no route" in machine.call({"do": "hello"})["answers"][0]["problem"]


def test_a_look_is_what_the_module_returns_and_says_how_old_it_is(machine):
    machine.transport.expect(look(200, document(7, event("E1")), takes=0.5), own_name(takes=1.5))
    (answer,) = machine.call({"do": "look", "wait": 0, "since": None})["answers"]
    assert (answer["incarnation"], answer["events"][0]["id"], answer["resource_name"]) == (7, "E1", "web1")
    assert (answer["failure"], answer["msg"], answer["polls"]) == (None, "", 1)
    assert (answer["began"], answer["age"]) == (2.0, 1.5)


def test_its_age_does_not_go_by_a_clock_that_is_set_meanwhile(machine):
    machine.transport.expect(look(200, document(7)), own_name(takes=1.5))
    wall = machine.clock.wall
    machine.clock.wall = lambda: wall() + (3600 if machine.clock.elapsed else 0)
    (answer,) = machine.call({"do": "look", "wait": 0})["answers"]
    assert answer["age"] == 1.5


def test_a_waiting_look_ends_with_the_change(machine):
    machine.transport.expect(look(200, document(7)), own_name(), look(200, document(7)), look(200, document(8)))
    (answer,) = machine.call({"do": "look", "wait": 60, "since": 7}, seconds=90)["answers"]
    assert (answer["incarnation"], answer["failure"], answer["age"]) == (8, None, 0.0)
    assert answer["began"] == machine.clock.elapsed > 1


def test_one_that_sees_no_change_ends_in_its_time_with_what_it_saw(machine):
    machine.transport.script = Always(machine.clock, 200, document(7))  # to the question for its name as well
    (answer,) = machine.call({"do": "look", "wait": 5, "since": 7}, seconds=90, resource_name="web1")["answers"]
    machine.transport.script = []
    assert 5 <= machine.clock.elapsed < 6
    assert (answer["incarnation"], answer["failure"]["kind"]) == (7, "timeout")


def test_a_look_never_lasts_longer_than_its_call(machine):
    machine.transport.script = Always(machine.clock, 410)
    answer = machine.call({"do": "look", "wait": 0}, seconds=10)
    machine.transport.script = []
    assert machine.clock.elapsed <= 10
    (looked,) = answer["answers"]
    assert looked["failure"]["kind"] == "timeout"
    assert looked["incarnation"] is None
    assert "no answer in the time that this call has" in looked["msg"]
    assert "HTTP 410" in looked["msg"]


def test_an_exchange_gets_no_more_time_than_the_call_has(machine):
    machine.transport.expect(look(200, document(1), timeout=7.5), own_name())
    machine.call({"do": "look", "wait": 0}, seconds=8)


def test_options_that_are_refused_are_the_requests_problem(machine):
    (answer,) = machine.call({"do": "look", "wait": 0}, endpoint="ftp://x")["answers"]
    assert "endpoint" in answer["problem"]


def test_an_approval_goes_out_once_and_is_looked_after_at_once(machine):
    machine.transport.expect(
        look(200, document(1, event("E1"))),
        own_name(),
        sent("E1"),
        look(200, document(2, event("E1", "Started"))),
        own_name(),
    )
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert (answer["approved"], answer["already"], answer["not_approved"]) == (["E1"], [], [])
    assert (answer["failure"], answer["msg"]) == (None, "")
    assert answer["look"]["incarnation"] == 2
    assert machine.clock.elapsed == 0


def test_one_that_fails_is_not_tried_again_within_the_call(machine):
    machine.transport.expect(
        look(200, document(1, event("E1"))),
        own_name(),
        sent("E1", outcome=(500,)),
        look(200, document(1, event("E1"))),
        look(200, document(1, event("E1"))),
        own_name(),
    )
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert answer["approved"] == []
    assert answer["failure"]["kind"] == "unavailable"
    assert "HTTP 500" in answer["msg"]
    assert "It was sent once, and may or may not have arrived" in answer["msg"]
    assert answer["look"]["incarnation"] == 1


@pytest.mark.parametrize("outcome", [(500,), (Unreachable("cut"),), (AnswerTimeout("slow"),), (BrokenAnswer("?"),)])
def test_one_whose_answer_does_not_tell_may_have_arrived(machine, outcome):
    shows = look(200, document(1, event("E1")))
    machine.transport.expect(shows, own_name(), sent("E1", outcome=outcome), shows, shows, own_name())
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert (answer["approved"], answer["unanswered"]) == ([], ["E1"])


def test_one_whose_answer_does_not_tell_may_have_arrived_whatever_is_seen_after_it(machine):
    """What fails then is another request, which says nothing of the approval."""
    machine.transport.expect(
        look(200, document(1, event("E1"))), own_name(), sent("E1", outcome=(500,)), look(403), look(403)
    )
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert (answer["failure"]["kind"], answer["unanswered"]) == ("denied", ["E1"])


@pytest.mark.parametrize("status, looks_after", [(400, True), (403, False), (429, True), (410, True), (302, False)])
def test_one_that_azure_has_refused_has_not_arrived(machine, status, looks_after):
    shows = look(200, document(1, event("E1")))
    after = [shows] if looks_after else []
    machine.transport.expect(shows, own_name(), sent("E1", outcome=(status,)), *after, shows, own_name())
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert answer["failure"] and (answer["approved"], answer["unanswered"]) == ([], [])


def test_nothing_has_arrived_where_the_poll_before_it_failed(machine):
    machine.transport.expect(look(403), look(403))
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert answer["failure"] and answer["unanswered"] == []


def test_unknown_machines_hold_it_back(machine):
    documents = look(200, document(1, event("E1", resources=("web1", "db9"))))
    machine.transport.expect(documents, own_name(), documents, own_name())
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert answer["not_approved"][0]["reason"] == "unknown_machines"


def test_whoever_asked_and_is_gone_gets_nothing_sent(machine):
    class Gone:
        def is_gone(self):
            return True

    parts = machine.parts()._replace(caller=Gone())
    machine.parts = lambda: parts
    looked = look(200, document(1, event("E1"))), own_name()
    machine.transport.expect(*looked, *looked)
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert (answer["approved"], answer["not_approved"]) == ([], [])
    assert answer["failure"]["kind"] == "interrupted"


def test_a_look_goes_on_where_the_mark_cant_be_renewed(machine, monkeypatch):
    from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files

    machine.go()

    def refuse(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files, "_written", refuse)
    machine.transport.expect(look(200, document(1)), own_name())
    (answer,) = machine.call({"do": "look", "wait": 0})["answers"]
    assert answer["incarnation"] == 1
    assert any("could not be renewed" in warning for warning in answer["warnings"])


@pytest.mark.parametrize("why", ["recovered", "started anew", "another event"])
def test_nothing_is_sent_by_a_machine_that_is_not_prepared_itself_any_more(machine, why):
    machine.go()
    assert machine.mark()["phase"] == "prepared"
    approve = {"do": "approve", "ids": ["E1"], "own": ["E1"], "prepared": ["web1"], "allow_unknown": []}
    looked = look(200, document(1, event("E1"))), own_name()
    machine.transport.expect(*looked, sent("E1"), *looked)
    assert machine.call(approve)["answers"][0]["approved"] == ["E1"]
    if why == "recovered":
        machine.go("recovered")
    elif why == "started anew":
        machine.boot_id = "boot-2"
    else:
        approve["own"] = ["E2"]
    machine.transport.expect(*looked)
    (answer,) = machine.call(approve)["answers"]
    assert answer["approved"] == [] and answer["not_approved"][0]["reason"] == "fenced"
    assert "not prepared for it any more" in answer["not_approved"][0]["message"]


def test_nothing_is_sent_by_the_mark_of_another_vm_or_service(machine):
    """The decision may be older than the mark."""
    machine.go()
    approve = {"do": "approve", "ids": ["E1"], "own": ["E1"], "prepared": ["web1"], "allow_unknown": []}
    made_here = machine.mark()
    for changes in ({"vm_id": "vm-a"}, {"endpoint": "http://10.0.0.11:8780"}):
        machine.store.replace(
            dict(machine.mark(), **dict(made_here, **changes, number=machine.mark()["number"])),
            "run-1",
            machine.mark()["number"],
        )
        machine.transport.expect(look(200, document(1, event("E1"))), own_name())
        (answer,) = machine.call(approve, vm_id="vm-b")["answers"]
        assert answer["approved"] == [] and "not prepared for it any more" in answer["not_approved"][0]["message"]


def test_after_a_wait_the_mark_is_as_it_is_then(machine):
    """A person recovers the machine while a run waits for a change."""
    machine.go()

    def brought_back(seconds):
        machine.store.take_off()
        machine.clock.elapsed += seconds

    machine.clock.sleep = brought_back
    unchanged = look(200, document(1, event("E1")))
    machine.transport.expect(unchanged, own_name(), unchanged)
    assert machine.call({"do": "look", "wait": 1, "since": 1})["mark"] is None


def test_a_look_says_how_old_its_request_is_and_since_when_nobody_looked_away(machine):
    machine.transport.expect(look(200, document(7), takes=0.5), own_name(takes=1.0))
    machine.transport.expect(look(200, document(7), takes=0.5), look(200, document(8), takes=0.5))
    (answer,) = machine.call({"do": "look", "wait": 60, "since": 7}, seconds=90)["answers"]
    ended = machine.clock.elapsed
    assert (answer["age"], answer["asked"], answer["since"], answer["began"]) == (0.0, 0.5, ended, ended)


def test_one_that_brought_no_document_is_as_old_as_nothing(machine):
    machine.transport.expect(look(Unreachable("no route"), takes=0.5))
    machine.transport.script = [machine.transport.script[0]] * 20
    (answer,) = machine.call({"do": "look", "wait": 0}, seconds=3)["answers"]
    machine.transport.script = []
    assert answer["incarnation"] is None and (answer["age"], answer["asked"], answer["since"]) == (0.0, 0.0, 0.0)


def test_the_look_after_an_approval_says_so_too(machine):
    looked = look(200, document(1, event("E1"))), own_name()
    later = look(200, document(2, event("E1", "Started")), takes=0.5), own_name(takes=1.0)
    machine.transport.expect(*looked, sent("E1"), *later)
    (answer,) = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"]
    assert (answer["look"]["age"], answer["look"]["asked"], answer["look"]["since"]) == (1.0, 1.5, 1.5)


@pytest.mark.parametrize("ahead", [0.0, 3600.0])
def test_the_notice_goes_by_the_service_and_not_by_a_clock_of_the_machine_that_is_wrong(machine, ahead):
    wall = machine.clock.wall
    machine.clock.wall = lambda: wall() + ahead
    shown = document(7, event("E1", NotBefore="Thu, 01 Jan 2026 00:15:00 GMT"))
    machine.transport.expect(look(200, shown, {"date": "Thu, 01 Jan 2026 00:05:00 GMT"}), own_name())
    (answer,) = machine.call({"do": "look", "wait": 0})["answers"]
    assert (answer["events"][0]["notice"], answer["looked_at"]) == (599, "2026-01-01T00:05:00Z")
