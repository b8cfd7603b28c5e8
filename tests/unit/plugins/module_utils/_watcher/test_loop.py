# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One tick of the watcher after the other: what handling is told, what becomes of what it wants, and what nothing can stop."""

import json
import pathlib

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.messages import Reason
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.tracked_event import UNBROKEN
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    FAILED,
    PENDING,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.decision import EventDecision
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import (
    Approve,
    Go,
    Hold,
    PutAside,
    Remember,
    Say,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service import command_queue
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.loop import (
    BUSY,
    CRASHES,
    EVERY,
    HOOKS_EVERY,
    IDLE,
    SAME_CRASH_EVERY,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    SuppressedEvents,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import Found
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.played import Played
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import (
    Watched,
    settings,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import event

PREPARE = Go("prepared", 600.0, ("ID-1",), {"outage": "o1", "types": {"ID-1": "Reboot"}}, ("reboot",))
RECOVER = Go("recovered", 600.0, ("ID-1",), {"outage": "o1", "types": {"ID-1": "Reboot"}}, ("reboot",))

DECISION = EventDecision("prepare_and_approve", "", False, False, False, (Reason("other_machines"),), 900.0, 30.0)


@pytest.fixture
def played(tmp_path):
    return Played(tmp_path)


def hook(name="prepare.d/10-app"):
    return dict(step(name, "prepare_hook"), key=name, undoes="", timeout=5.0)


# --- what handling is told ---


def test_the_facts(played):
    played.metadata.shows(event())
    played.system.settled = False
    played.tick()
    facts = played.facts
    assert (facts.now, facts.moment.boot_id, facts.identity.name) == (played.clock.now(), "boot-1", "web1")
    assert facts.polled is played.metadata.polled and (facts.mark, facts.unreadable, facts.answer) == (None, "", None)
    assert (facts.settings.limits, facts.settings.undo_limits, facts.settled) == (60.0, 40.0, False)
    assert facts.steps == played.steps and facts.hold is None and facts.confirmed == frozenset()
    assert not facts.going_down


def test_its_answer_is_told_with_the_next_tick(played):
    played.metadata.shows(event())
    played.tick(PREPARE)
    played.tick(Say("x", "x"))
    facts = played.facts
    assert (facts.answer.to, facts.answer.state, facts.answer.why) == ("prepared", "prepared", "")
    assert facts.mark["phase"] == "prepared" and facts.mark["events"] == ["ID-1"]
    assert facts.mark["holder"] == {"kind": "watcher", "run": "watcher", "job": "", "controller": "web1"}
    assert facts.mark["vm_id"] == "VM-1" and facts.mark["note"] == PREPARE.note


def test_a_mark_that_can_not_be_read(played):
    (played.state / "mark.json").write_text("{")
    played.tick()
    assert played.facts.mark is None and "mark.json can't be understood" in played.facts.unreadable
    assert played.published()["doing"] == "has an unreadable mark"


def test_hooks_are_looked_at_for_each_document_and_now_and_then(played):
    found = []

    def find(_configuration):
        found.append(1)
        return Found({"": (hook(),)})

    parts = played.parts._replace(inside=played.parts.inside._replace(find=find))
    played.loop = type(played.loop)(parts)
    for _each in range(3):
        played.tick()
    assert len(found) == 1 and played.facts.settings.limits == 5.0 and played.facts.settings.undo_limits == 0.0
    played.metadata.shows(event())
    played.tick()
    assert len(found) == 2
    played.tick(seconds=HOOKS_EVERY)
    assert len(found) == 3
    settings(played.file.parent, approve="never")
    played.tick()
    assert len(found) == 4


def test_settings_that_change(played):
    settings(played.file.parent, approve="never")
    played.tick()
    assert played.facts.settings.approve == "never" and len(played.metadata.configured) == 1
    played.file.write_text("{")
    played.tick()
    played.tick()
    assert played.facts.settings.approve == "never" and len(played.metadata.configured) == 1
    assert sum("stay in force" in line for line in played.log.lines) == 1
    assert any("no JSON" in problem for problem in played.published()["problems"])
    settings(played.file.parent, folder=str(played.file.parent / "other"))
    played.tick()
    assert played.log.has("stays in its folder") and played.published()["problems"] == []
    assert (played.state / "watcher.json").exists() and not (played.file.parent / "other").exists()


def test_only_while_there_is_nothing_to_do_it_takes_its_time(played):
    assert played.tick() == IDLE
    played.metadata.poll_problem = "no answer"
    assert played.tick() == EVERY
    played.metadata.poll_problem = ""
    played.metadata.shows(event())
    assert played.tick() == EVERY
    played.metadata.shows()
    assert played.tick() == IDLE
    played.metadata.polled = None
    assert played.tick() == EVERY


# --- what becomes of what it wants ---


def test_while_something_is_under_way_it_ticks_faster(played):
    progress = [Progress(PENDING)]
    played.hand.begin = played.hand.check = played.hand.stop = lambda step_run: progress[-1]
    assert [played.tick(PREPARE) for _each in range(3)] == [BUSY] * 3
    progress.append(Progress(FAILED, "no"))
    assert [played.tick(PREPARE) for _each in range(2)] == [BUSY, EVERY]
    assert played.tick(Say("x", "x")) == EVERY, "it is marked"
    assert played.system.closely[0] is True and played.system.closely[-1] is False


def test_what_stands_behind_one_that_is_under_way_is_carried_out_too(played):
    played.hand.begin = played.hand.check = lambda step_run: Progress(PENDING)
    played.tick(PREPARE, Approve(("ID-1",)), Remember({"a": 1}))
    assert [events for events, _at in played.metadata.approved] == [("ID-1",)] and played.parts.remembered.what == {
        "a": 1
    }


def test_hooks_are_told_the_context(played):
    step_runs = []
    begin = played.hand.begin
    played.hand.begin = lambda step_run: step_runs.append(step_run) or begin(step_run)
    played.steps.update({"": (hook(), step("b"))})
    played.tick(PREPARE)
    assert [step_run.step.get("context") for step_run in step_runs] == [{"of": ["ID-1"]}, None]


def test_each_call_has_a_number_above_that_of_the_mark(played):
    played.tick(PREPARE)
    first = played.tick(PREPARE) and json.loads((played.state / "mark.json").read_text())["number"]
    again = Played.__new__(Played)
    again.__dict__.update(played.__dict__)
    again.parts.program._number = 0  # as in a new process
    again.tick(PREPARE)
    assert json.loads((played.state / "mark.json").read_text())["number"] == first + 1
    again.tick(RECOVER)
    assert not (played.state / "mark.json").exists()


def test_a_mark_of_another_run_is_left_alone(played):
    played.tick(PREPARE)
    path = played.state / "mark.json"
    mark = json.loads(path.read_text())
    mark["holder"] = {"kind": "run", "run": "run-7", "job": "", "controller": "ctl"}
    path.write_text(json.dumps(mark))
    before = path.read_text()
    played.tick(RECOVER)
    played.tick(Say("x", "x"))
    assert played.facts.answer.state == "refused" and "run-7" in played.facts.answer.why
    assert path.read_text() == before and played.published()["doing"] == "owned by run run-7"


def test_the_other_acts(played):
    say = Say("scheduled", "An event.")
    played.tick(say, Approve(("ID-1",)), Remember({"a": 1}))
    assert played.told == [say] and played.metadata.approved == [(("ID-1",), played.facts.now)]
    assert json.loads((played.file.parent / "run" / "remembered.json").read_text()) == {"a": 1}


def test_the_other_acts_of_a_tick_that_leaves_something_under_way(played):
    played.hand.begin = played.hand.check = played.hand.stop = lambda step_run: Progress(PENDING)
    assert played.tick(PREPARE, Approve(("ID-2",)), Remember({"a": 1})) == BUSY
    assert played.metadata.approved == [(("ID-2",), played.facts.now)]
    assert json.loads((played.file.parent / "run" / "remembered.json").read_text()) == {"a": 1}


def test_what_is_another_machines_is_put_aside(played):
    played.tick(PREPARE)
    (played.state / "hold.json").write_text(json.dumps({"format": 1, "reason": "x", "vm_id": "VM-0"}))
    played.tick(PutAside("It is of VM-0.", "hold"))
    assert played.facts.hold.vm_id == "VM-0"
    played.tick(PutAside("It is of VM-0."))
    played.tick(Say("x", "x"))
    assert played.facts.mark is None and played.facts.hold is None
    assert (played.state / "aside" / "mark.json").exists() and played.log.has("Put aside: It is of VM-0.")


def test_the_mark_names_the_service_that_the_settings_name(played):
    """Where that was found elsewhere it is the same, and a run of maintain goes by it, too."""
    played.tick(PREPARE)
    assert played.metadata.endpoint == "http://imds.test"
    assert json.loads((played.state / "mark.json").read_text())["endpoint"] == "http://169.254.169.254"


def test_while_it_ends_nothing_is_begun(played):
    played.loop.stop()
    played.tick(PREPARE, Approve(("ID-1",)), Say("x", "x"))
    assert played.facts.going_down and not (played.state / "mark.json").exists()
    assert played.metadata.approved == [] and len(played.told) == 1 and played.wake.woken == 1


def test_it_runs_until_it_is_stopped(played):
    played.wake.then = lambda: played.loop.stop() if len(played.wake.waits) == 3 else None
    played.loop.run()
    assert played.wake.waits == [IDLE] * 3


# --- what nothing can stop ---


def test_a_tick_that_fails_is_not_the_last_one(played):
    assert played.tick(ValueError("what")) == IDLE
    assert played.log.has("Traceback") and played.log.has("ValueError: what")
    assert [say.happened for say in played.told] == ["internal_error"]
    played.tick()
    assert len(played.told) == 1, "the same is not told again and again"
    played.tick(seconds=SAME_CRASH_EVERY)
    assert len(played.told) == 2
    assert len(played.handlings) == 2 + 1, f"after {CRASHES} in a row it is restarted"
    played.tick(Say("x", "fine"))
    assert played.told[-1].message == "fine"


def test_begun_anew_it_hears_no_old_answer_as_a_new_one(played):
    played.metadata.shows(event())
    played.tick(PREPARE)
    for _each in range(CRASHES):
        played.tick(ValueError("what"))
    played.tick(Say("x", "fine"))
    before, after = played.handlings[-2:]
    assert before.facts[-1].answer is not None and after.facts[-1].answer is None


def test_nor_one_in_which_it_can_not_even_be_told(played):
    def fails(says, identity, keep):
        raise OSError("the disk is full")

    played.loop = type(played.loop)(played.parts._replace(inside=played.parts.inside._replace(tell=fails)))
    played.tick(ValueError("what"))
    assert played.log.has("could not be reported: the disk is full")


def test_a_state_that_can_not_be_published_is_no_reason_to_stop(played):
    (played.state / "watcher.json.new").mkdir()
    played.metadata.shows(event())
    played.tick(PREPARE)
    assert played.hand.begun and any("can't be written" in problem for problem in played.loop._snapshots.problems(""))


def test_the_service_manager_hears_of_it_while_looks_end(played):
    for _each in range(5):
        played.tick()
    assert played.sent.count("WATCHDOG=1") == 5
    assert sum(line.startswith("STATUS=watching") for line in played.sent) == 1
    played.metadata.hung = True
    played.tick()
    assert played.sent.count("WATCHDOG=1") == 5
    played.metadata.hung = False
    played.tick(ValueError("a tick that fails is a tick"))
    assert played.sent.count("WATCHDOG=1") == 6


# --- what it says of itself ---


def test_the_published_state(played):
    played.metadata.shows(event())
    played.metadata.poll_problem = "HTTP 503."
    played.tick()
    found = played.published()
    assert (found["format"], found["mode"], found["approve"], found["name"], found["pid"]) == (
        1,
        "manage",
        "own",
        "web1",
        1,
    )
    assert (found["doing"], found["events"], found["looking"]) == ("watching", ["ID-1"], False)
    assert [(event["id"], event["type"], event["status"]) for event in found["shown"]] == [
        ("ID-1", "Reboot", "Scheduled")
    ]
    assert found["problems"] == ["HTTP 503."] and found["version"] == "0.0.1"


def test_entries_that_can_not_be_read_are_problems(played):
    played.metadata.shows(event(), event("ID-2", resources=["web1", ""]))
    played.handling.unreadable = ["Entry 2 can't be read."]
    played.tick()
    assert (played.published()["unreadable"], played.published()["problems"]) == ([2], ["Entry 2 can't be read."])


def test_it_says_why_an_event_is_not_approved(played):
    played.metadata.shows(event(), event("ID-2", resources=["web2"]))
    played.handling.decisions = {"ID-1": DECISION}
    played.tick()
    assert [shown["waits"] for shown in played.published()["shown"]] == ["it lists other machines, too", ""]


def test_who_may_read_what_is_published(played):
    played.tick()
    assert (played.state / "watcher.json").stat().st_mode & 0o777 == 0o644


def test_it_is_written_when_it_changes_and_else_now_and_then(played):
    written = []
    for _each in range(61):
        played.tick()
        written.append(played.published()["at"])
    assert len(set(written)) == 3
    played.metadata.shows(event())
    played.tick()
    assert played.published()["events"] == ["ID-1"]


def test_steps_are_published_without_their_options(tmp_path):
    played = Played(tmp_path, steps=[dict(step("a"), environment={"PASSWORD": "secret"})])
    played.tick()
    assert played.published()["steps"] == [{"key": "command a", "type": "command", "does": "do a", "undoes": "undo a"}]
    assert "secret" not in json.dumps(played.published())


# --- orders ---


def given(played, order, **more):
    """Give an order; what came of it after the next tick."""
    name = command_queue.place(str(played.state), order, by="anna", **more)
    played.tick(Say("x", "x"))
    return ordered(played, name)


def ordered(played, name):
    found = [entry for entry in played.published()["orders"] if entry["name"] == name]
    return (found[0]["done"], found[0]["outcome"]) if found else None


def test_hold_and_release(played):
    assert given(played, "hold", reason="Friday", until=1767229200)[0]
    hold = played.facts.hold
    assert (hold.reason, hold.by, hold.until, hold.vm_id) == ("Friday", "anna", 1767229200, "VM-1")
    assert given(played, "release") == (True, "Approvals are no longer on hold.")
    assert played.facts.hold is None
    assert given(played, "release") == (True, "Approvals were not on hold.")


def test_approve(played):
    played.metadata.shows(event("aB-1"))
    done, outcome = given(played, "approve", event="nothing")
    assert not done and "Its events: aB-1" in outcome
    words = "The confirmation of aB-1 is noted; it is approved as soon as this machine is prepared and no other event comes first."
    assert given(played, "approve", event="AB-1") == (True, words)
    assert played.facts.confirmed == frozenset({"AB-1"})


def test_a_yes_under_a_hold_names_what_it_waits_for(played):
    played.metadata.shows(event())
    given(played, "hold", reason="Friday", until=played.clock.wall() + 60)
    done, outcome = given(played, "approve", event="ID-1")
    assert done and "it is approved after azure-maintenance release, or when the hold ends" in outcome
    played.clock.sleep(61)
    assert "held" not in given(played, "approve", event="ID-1")[1]


@pytest.mark.parametrize(
    "keys, resources, why",
    [
        ({"approve": "never"}, ("web1",), "it never approves (watcher_approve)"),
        ({"mode": "observe"}, ("web1",), "it only reports (watcher_mode)"),
        ({}, ("WEB1", "web2"), "other machines are affected, too"),
    ],
)
def test_a_yes_to_what_the_watcher_will_not_approve_says_who_goes_by_it(played, keys, resources, why):
    settings(played.file.parent, **keys)
    played.metadata.shows(event(resources=resources))
    done, outcome = given(played, "approve", event="ID-1")
    assert done and f"does not approve it, as {why}; a run of maintain does" in outcome
    assert played.facts.confirmed == frozenset({"ID-1"})


def test_check(played):
    assert given(played, "check") == (True, "Nothing is wrong.")
    played.metadata.poll_problem = "HTTP 503."
    assert given(played, "check") == (False, "HTTP 503.")


def test_recover(played):
    assert given(played, "recover") == (False, "The machine is not marked: there is nothing to undo.")
    role = pathlib.Path(__file__).parents[5] / "roles" / "watcher" / "tasks"  # which goes by these words
    for path in role.rglob("require_in_service.yml"):
        assert "'The machine is not marked' not in __watcher_recovering.stdout" in path.read_text(encoding="utf-8")
    played.metadata.shows(event())
    played.tick(PREPARE)
    done, outcome = given(played, "recover")
    assert not done and "ID-1 is not over" in outcome and "force" in outcome
    played.metadata.shows()
    played.handling.decisions = {"ID-1": DECISION}
    assert "ID-1 is not over" in given(played, "recover")[1], "one document that lacks it does not end it"
    played.handling.decisions = {}
    played.clock.sleep(UNBROKEN + 1)
    assert "not known now" in given(played, "recover")[1], "the last document is old"
    played.metadata.shows()
    name = command_queue.place(str(played.state), "recover")
    played.tick(PREPARE, Approve(("ID-1",)))
    assert ordered(played, name)[0] and not (played.state / "mark.json").exists()
    assert [direction for direction, _name, _at in played.hand.begun] == ["do", "undo"]
    assert played.metadata.approved == [], "a person's word goes first"


def test_recover_by_force(played):
    played.metadata.shows(event())
    played.tick(PREPARE)
    path = played.state / "mark.json"
    mark = dict(json.loads(path.read_text()), holder={"kind": "run", "run": "run-7", "job": "", "controller": "ctl"})
    path.write_text(json.dumps(mark))
    done, outcome = given(played, "recover")
    assert not done and "owned by run run-7" in outcome
    assert given(played, "recover", force=True)[0]
    assert not path.exists()


def test_what_is_published_is_how_it_is_after_the_tick(played):
    played.metadata.shows(event())
    played.tick(PREPARE)
    assert played.facts.mark is None and played.published()["doing"] == "prepared"
    played.metadata.shows()
    played.tick(RECOVER)
    assert played.published()["doing"] == "watching"


DAMAGED = ["", "{", '{"format": 1}', "x" * 3000000]


@pytest.mark.parametrize("content", DAMAGED, ids=["empty", "cut", "no mark", "too large"])
def test_recover_by_force_undoes_all_steps_where_the_mark_can_not_be_read(played, content):
    played.steps["freeze"] = (step("20-freeze"),)
    played.steps["reboot"] = (step(), step("30-reboot"))
    played.metadata.shows(event())
    path = played.state / "mark.json"
    path.write_text(content)
    done, outcome = given(played, "recover")
    assert not done and "recover --force" in outcome and "remove it" not in outcome
    assert path.read_text() == content
    done, outcome = given(played, "recover", force=True)
    assert done and outcome.startswith("The machine is recovered. It stays in service for ID-1")
    assert not path.exists() and (played.state / "unreadable_mark").read_text() == content
    assert {(direction, name) for direction, name, _at in played.hand.begun} == {
        ("undo", "10-app"),
        ("undo", "20-freeze"),
        ("undo", "30-reboot"),
    }
    assert played.facts.suppressed == {"ID-1"}


def test_a_recovery_by_a_mark_that_could_not_be_read_outlives_the_watcher(played):
    played.steps["freeze"] = (step("20-freeze"),)
    played.metadata.shows()
    (played.state / "mark.json").write_text("{")
    command_queue.place(str(played.state), "recover", force=True)

    def pending(step_run):
        return Progress(PENDING)

    played.hand.check = pending
    played.hand.begin = pending
    played.tick()
    mark = json.loads((played.state / "mark.json").read_text())
    assert mark["phase"] == "recovering" and set(mark["note"]["types"].values()) == {"any", "freeze"}


def test_a_mark_of_a_newer_version_is_not_replaced(played):
    path = played.state / "mark.json"
    path.write_text('{"format": 99}')
    done, outcome = given(played, "recover", force=True)
    assert not done and "is of format 99" in outcome
    assert path.read_text() == '{"format": 99}' and played.hand.begun == []


def test_recover_by_force_while_its_event_is_there(played):
    played.metadata.shows(event())
    assert given(played, "approve", event="id-1")[0]
    played.tick(PREPARE)
    assert played.facts.suppressed == frozenset() and played.facts.confirmed == {"ID-1"}
    done, outcome = given(played, "recover", force=True)
    assert done and outcome.endswith(
        "It stays in service for ID-1; azure-maintenance approve ID has it prepared again."
    )
    played.tick()
    assert played.published()["put_back"] == ["ID-1"]
    assert played.facts.suppressed == {"ID-1"} and played.facts.confirmed == frozenset()
    assert SuppressedEvents(str(played.state)).read() == {"ID-1"}


def test_recover_by_force_when_it_is_over_says_no_more(played):
    played.metadata.shows(event())
    played.tick(PREPARE)
    played.metadata.shows()
    assert given(played, "recover", force=True) == (True, "The machine is recovered.")


ANOTHER = Go(
    "prepared", 20.0, ("ID-2",), {"outage": "o2", "types": {"ID-2": "Preempt"}}, ("preempt",), replace_outage=True
)


@pytest.mark.parametrize("force", [False, True])
def test_recover_and_another_event_shows_before_that_is_over(played, force):
    """What has to be prepared for now goes first, unless the order was forced."""
    played.metadata.shows(event())
    played.tick(PREPARE)
    played.metadata.shows()
    begin, check = played.hand.begin, played.hand.check
    played.hand.begin = played.hand.check = lambda step_run: begin(step_run)._replace(state=PENDING)
    name = command_queue.place(str(played.state), "recover", force=force)
    played.tick(RECOVER)
    played.hand.begin, played.hand.check = begin, check
    assert ordered(played, name) is None
    played.tick(ANOTHER)
    if force:
        assert ordered(played, name) == (True, "The machine is recovered.")
        assert not (played.state / "mark.json").exists()
        return
    done, outcome = ordered(played, name)
    assert not done and outcome.endswith("it has to be prepared for ID-2.")
    mark = json.loads((played.state / "mark.json").read_text())
    assert (mark["phase"], mark["events"], mark["note"]) == ("prepared", ["ID-1", "ID-2"], ANOTHER.note)


def test_what_can_not_be_noted_is_not_begun(played, monkeypatch):
    def refuse(self, events, wall):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(SuppressedEvents, "add", refuse)
    played.metadata.shows(event())
    played.tick(PREPARE)
    done, outcome = given(played, "recover", force=True)
    assert not done and "No space left" in outcome
    assert [direction for direction, _name, _at in played.hand.begun] == ["do"]


def test_an_order_that_nobody_knows_and_one_that_is_not_roots(played):
    done, outcome = given(played, "aprove")
    assert not done and "did you mean 'approve'?" in outcome
    name = command_queue.place(str(played.state), "hold")
    (played.state / "orders" / name).chmod(0o666)
    played.tick()
    assert ordered(played, name)[0] is False and played.facts.hold is None
    assert list((played.state / "orders").iterdir()) == []


# --- right before an approval is sent ---


def test_an_approval_that_waits_is_not_sent_once_a_hold_is_confirmed(tmp_path):
    watched = Watched(tmp_path, endpoint="http://127.0.0.1:1")
    watched.parts.hold.put(Hold("a freeze", "anna", None, "VM-1"), watched.clock.wall())
    assert _why_not_sent(watched) == "It was not sent: approvals are on hold (anna: a freeze)"
    watched.parts.hold.put(Hold("a freeze", "anna", watched.clock.wall() - 1.0), watched.clock.wall())
    assert not _why_not_sent(watched).startswith("It was not sent")


def test_nor_once_a_person_has_put_the_machine_back(tmp_path):
    watched = Watched(tmp_path, endpoint="http://127.0.0.1:1")
    SuppressedEvents(str(watched.state)).add(["ID-1"], watched.clock.wall())
    assert _why_not_sent(watched).startswith("It was not sent: a person has recovered the machine")
    watched.parts.program.confirm_event("id-1", "anna")
    assert not _why_not_sent(watched).startswith("It was not sent")


def _why_not_sent(watched):
    """What came of an approval that was decided on just now; nobody listens at this service."""
    metadata = watched.parts.metadata
    metadata._approval_sender.send(("Id-1",), watched.clock.now())
    return metadata.posted()["ID-1"].why
