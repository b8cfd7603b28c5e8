# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was cut off can't act later: real processes, of which one is held up at each place where it could."""

import contextlib
import os
import signal

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    SharedWorld,
    another_run,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    document,
    event,
    look,
    own_name,
    sent,
)


class HeldUp:
    """A call in a process of its own, which is stopped at a certain place until it is let go.

    :arg place: the how-many-th time that the program asks for the time, which it does between any two things that it does
    """

    def __init__(self, machine, place, *requests):
        reader, writer = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                times = iter(range(place - 1, -1, -1))
                moment = machine.moment
                machine.moment = lambda: moment() if next(times, 1) else self._stop() or moment()
                os.write(writer, machine.call(*requests)["answers"][0]["state"].encode("ascii"))
            finally:
                os._exit(0)
        os.close(writer)
        self._reader = reader
        _pid, status = os.waitpid(self.pid, os.WUNTRACED)
        self.is_held = os.WIFSTOPPED(status)

    def _stop(self):
        os.kill(os.getpid(), signal.SIGSTOP)

    def go_on(self):
        """The state that it answers once it is let go."""
        os.kill(self.pid, signal.SIGCONT)
        os.waitpid(self.pid, 0)
        with os.fdopen(self._reader, "rb") as file:
            return file.read().decode("ascii")


@pytest.fixture
def held_up():
    """Makes calls that are held up; none of them is left behind."""
    made = []

    def make(*args):
        made.append(HeldUp(*args))
        return made[-1]

    yield make
    for call in made:
        try:
            os.kill(call.pid, signal.SIGKILL)
            os.waitpid(call.pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass


def a_machine(folder):
    return Machine(folder / "marks", step("one"), step("two"), step("three"), world=SharedWorld(folder))


def later_calls(folder):
    machine = a_machine(folder)
    machine.number = 10
    return machine


GO = {"do": "go", "to": "prepared", "left": 600.0, "lease": 120.0, "events": ["E1"]}
BACK = dict(GO, to="recovered", unmarked=True)
APPROVE_FOR_ITS_WATCHER = {
    "do": "approve",
    "ids": ["E1"],
    "own": ["E1"],
    "prepared": ["web1"],
    "allow_unknown": [],
    "by_watcher": True,
}
PLACES = range(2, 11)  # from the first step on; before, there is no mark yet


@pytest.mark.parametrize("place", PLACES)
def test_a_call_that_was_overtaken_by_the_recovery_does_nothing_more(tmp_path, held_up, place):
    early = held_up(a_machine(tmp_path), place, GO)
    assert early.is_held, "there is no such place"
    later = later_calls(tmp_path)
    assert later.call(BACK)["answers"][0]["state"] == "recovered"
    journal = later.world.journal
    assert early.go_on() == "refused"
    assert later.world.journal == journal
    assert later.mark() is None


@pytest.mark.parametrize("place", PLACES)
def test_of_two_calls_that_go_on_each_step_is_begun_by_one(tmp_path, held_up, place):
    early = held_up(a_machine(tmp_path), place, GO)
    assert early.is_held, "there is no such place"
    later = later_calls(tmp_path)
    assert later.call(GO)["answers"][0]["state"] == "prepared"
    assert early.go_on() == "refused"
    assert later.world.journal == [("do", "one"), ("do", "two"), ("do", "three")]
    assert later.mark()["number"] == 11


def test_what_an_earlier_call_writes_while_the_lock_is_waited_for_is_not_lost(tmp_path):
    machine = Machine(tmp_path, step("one", elsewhere=True), step("two"))
    machine.go()  # step one is begun
    machine.number = 9
    reading, opens = machine.store.read, []

    def read():
        """What is read first is older than what the one under the lock writes."""
        found = reading()
        if not opens:
            opens.append(found)
            steps = [dict(entry, state="begun") for entry in found["steps"]]
            machine.store.replace(dict(found, steps=steps), "run-1", found["number"])
        return found

    machine.store.read = read
    outcome = {"command one": {"state": "done", "note": "", "direction": "do"}}
    machine.go("recovered", outcomes=outcome)
    assert machine.world.journal == [("stop", "two"), ("undo", "two")]


def test_of_two_that_take_the_machine_the_second_is_refused(tmp_path, held_up):
    early = held_up(a_machine(tmp_path), 1, GO)
    assert early.is_held, "there is no such place"
    later = later_calls(tmp_path)
    assert later.call(GO, **another_run())["answers"][0]["state"] == "prepared"
    assert early.go_on() == "refused"
    assert later.world.journal == [("do", "one"), ("do", "two"), ("do", "three")]
    assert later.mark()["holder"]["run"] == "run-2"


def test_a_number_that_was_there_already_is_refused_even_without_a_race(tmp_path):
    machine = a_machine(tmp_path)
    machine.number = 6
    machine.go()
    for number in (7, 3):
        machine.number = number - 1
        answer = machine.call(BACK)
        assert answer["answers"][0]["state"] == "refused"
        assert "comes too late: call 7 of the same run has been here since" in answer["fenced"]
    assert machine.mark()["phase"] == "prepared"


def test_a_call_that_only_looks_is_answered_although_it_was_overtaken(tmp_path):
    machine = a_machine(tmp_path)
    machine.number = 6
    machine.go()
    machine.number = 2
    machine.transport.expect(look(200, document(1)), own_name())
    answer = machine.call({"do": "look", "wait": 0, "since": None})
    assert answer["answers"][0]["incarnation"] == 1
    assert "comes too late" in answer["fenced"]
    assert machine.mark()["number"] == 7


@pytest.mark.parametrize("why", ["overtaken", "another run", "taken in between"])
def test_an_approval_is_a_piece_too(tmp_path, why):
    machine = a_machine(tmp_path)
    machine.number = 6
    machine.go()
    options = {}
    script = [look(200, document(1, event("E1"))), own_name()]
    if why == "overtaken":
        machine.number = 2
    elif why == "another run":
        options = another_run()
    else:  # after this call has begun, and before it would send
        original = machine.transport.get
        machine.transport.get = lambda *args: _taken(machine) or original(*args)
        script = script + script
    machine.transport.expect(*script)
    answer = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []}, **options)
    (refused,) = answer["answers"][0]["not_approved"]
    assert (refused["id"], refused["reason"]) == ("E1", "fenced")
    assert answer["answers"][0]["approved"] == []
    assert answer["answers"][0]["look"]["incarnation"] == 1
    assert answer["fenced"]
    machine.transport.finish()


def _taken(machine):
    mark = machine.mark()
    if mark["number"] == 8:
        machine.store.replace(dict(mark, number=20), "run-1", 8)


@pytest.mark.parametrize(
    "kind, phase, events, may",
    [
        ("watcher", "prepared", ["E0", "e1"], True),
        ("watcher", "preparing", ["E1"], False),
        ("watcher", "prepared", ["E0"], False),
        ("run", "prepared", ["E1"], False),
    ],
)
def test_what_its_own_watcher_has_prepared_may_be_approved_there(tmp_path, kind, phase, events, may):
    machine = a_machine(tmp_path)
    machine.go()
    mark = machine.mark()
    held = dict(mark, holder=dict(mark["holder"], kind=kind, run="watcher"), phase=phase, events=events)
    machine.store.replace(held, "run-1", mark["number"])
    if may:
        started = look(200, document(2, event("E1", "Started")))
        machine.transport.expect(look(200, document(1, event("E1"))), own_name(), sent("E1"), started, own_name())
    else:
        machine.transport.expect(look(200, document(1, event("E1"))), own_name())
    answer = machine.call(APPROVE_FOR_ITS_WATCHER)["answers"][0]
    assert answer["approved"] == (["E1"] if may else [])
    assert [one["reason"] for one in answer["not_approved"]] == ([] if may else ["fenced"])
    assert machine.mark() == held, "it stays the watcher's"
    machine.transport.finish()


def test_what_its_watcher_takes_back_before_the_approval_is_sent_is_not_approved(tmp_path):
    machine = a_machine(tmp_path)
    machine.go()
    mark = machine.mark()
    held = dict(mark, holder=dict(mark["holder"], kind="watcher", run="watcher"), phase="prepared", events=["E1"])
    machine.store.replace(held, "run-1", mark["number"])
    original = machine.transport.get

    def get(*args):
        if machine.mark()["phase"] == "prepared":
            machine.store.replace(dict(held, phase="recovering"), "watcher", held["number"])
        return original(*args)

    machine.transport.get = get
    machine.transport.expect(*[look(200, document(1, event("E1"))), own_name()] * 2)
    answer = machine.call(APPROVE_FOR_ITS_WATCHER)["answers"][0]
    assert (answer["approved"], answer["not_approved"][0]["reason"]) == ([], "fenced")
    machine.transport.finish()


def test_whoever_bears_no_mark_may_approve(tmp_path):
    """A machine that only watches the event, and is not affected."""
    machine = a_machine(tmp_path)
    started = look(200, document(2, event("E1", "Started")))
    machine.transport.expect(look(200, document(1, event("E1"))), own_name(), sent("E1"), started, own_name())
    answer = machine.call({"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []})["answers"][0]
    assert answer["approved"] == ["E1"]
    assert answer["not_approved"] == []
    assert answer["look"]["events"][0]["status"] == "Started"
    machine.transport.finish()


# ---- calls for which nobody waits any more ----

APPROVE = {"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []}


def sent_before(machine, seconds, boot_id="boot-1"):
    """The option of a call that was sent so many seconds ago, and is waited for for 10 s."""
    uptime = machine.moment().uptime - seconds
    return {"within": {"uptime": uptime, "boot_id": boot_id, "until": uptime + 10.0}}


def test_a_call_that_comes_too_late_makes_no_mark_and_begins_nothing(tmp_path):
    machine = a_machine(tmp_path)
    answer = machine.call(GO, {"do": "yes", "event": "E1", "by": "me"}, **sent_before(machine, 62.0))
    went, yes = answer["answers"]
    assert went["state"] == "skipped"
    assert went["why"] == (
        "This call comes too late: nobody has waited for it since 10 s after it was sent, and that was 62 s ago. "
        "Nothing was started."
    )
    assert yes["problem"] == went["why"] and answer["yes"] == []
    assert machine.mark() is None and machine.world.journal == []
    assert machine.go(options=sent_before(machine, 9.0))["state"] == "prepared"


def test_a_call_from_before_the_machine_was_started_anew_comes_too_late_whatever_its_uptime_says(tmp_path):
    machine = a_machine(tmp_path)
    went = machine.go(options=sent_before(machine, 1.0, boot_id="boot-0"))
    assert (went["state"], machine.mark()) == ("skipped", None)
    assert went["why"] == "This call was sent before the machine was rebooted. Nothing was started."


def test_an_approval_that_comes_too_late_is_not_sent_though_no_mark_is_there(tmp_path):
    machine = a_machine(tmp_path)
    shows = (look(200, document(1, event("E1"))), own_name())
    machine.transport.expect(*shows)
    answer = machine.call(APPROVE, **sent_before(machine, 133.0))["answers"][0]
    assert answer["approved"] == [] and "comes too late" in answer["not_approved"][0]["message"]

    asking = machine.transport.get  # and one that hangs between its look and the POST
    machine.transport.get = lambda *args: (asking(*args), setattr(machine.clock, "elapsed", machine.clock.elapsed + 4))[
        0
    ]
    machine.transport.expect(*shows, *shows)
    answer = machine.call(APPROVE, seconds=30, **sent_before(machine, 5.0))["answers"][0]
    assert answer["approved"] == [] and "comes too late" in answer["not_approved"][0]["message"]
    machine.transport.finish()


def test_an_approval_for_its_own_watcher_that_comes_too_late_is_not_sent_either(tmp_path):
    machine = a_machine(tmp_path)
    machine.go()
    mark = machine.mark()
    held = dict(mark, holder=dict(mark["holder"], kind="watcher", run="watcher"), phase="prepared", events=["E1"])
    machine.store.replace(held, "run-1", mark["number"])
    machine.transport.expect(look(200, document(1, event("E1"))), own_name())
    answer = machine.call(APPROVE_FOR_ITS_WATCHER, **sent_before(machine, 133.0))["answers"][0]
    assert answer["approved"] == [] and "comes too late" in answer["not_approved"][0]["message"]
    machine.transport.finish()


def test_who_bears_no_mark_does_not_approve_once_somebody_else_has_marked_the_machine(tmp_path):
    machine = a_machine(tmp_path)
    machine.transport.expect(look(200, document(1, event("E1"))), own_name())
    asking = machine.transport.get

    def get(*args):
        machine.transport.get = asking
        later_calls(tmp_path).call(GO, **another_run())
        return asking(*args)

    machine.transport.get = get
    machine.transport.expect(look(200, document(1, event("E1"))), own_name())
    answer = machine.call(APPROVE)["answers"][0]
    assert answer["approved"] == [] and "run-2" in answer["not_approved"][0]["message"]


@pytest.mark.parametrize("hangs", [1, 2, 3, 4])
def test_a_call_that_hangs_in_the_lock_begins_nothing_once_it_is_too_late(tmp_path, hangs):
    machine = Machine(tmp_path, step("one"))
    locking, times = machine.store._locked, []

    @contextlib.contextmanager
    def locked():
        with locking():
            times.append(1)
            machine.clock.elapsed += 60.0 * (len(times) == hangs)
            yield

    machine.store._locked = locked
    went = machine.go(options=sent_before(machine, 1.0))
    assert machine.world.journal == []
    assert went["state"] == ("preparing" if hangs == 3 else "skipped")
    assert hangs < 3 or machine.states() == {"one": "waiting"}, "the first two times are before there is a mark"


def test_a_call_that_comes_too_late_renews_no_mark(tmp_path):
    machine = a_machine(tmp_path)
    machine.go()
    machine.transport.expect(look(200, document(1)), own_name())
    answer = machine.call({"do": "look", "wait": 0, "since": None}, **sent_before(machine, 11.0))
    assert answer["answers"][0]["incarnation"] == 1 and answer["mark"]["number"] == 1


def test_what_is_left_is_less_by_the_age_of_the_call(tmp_path):
    machine = Machine(tmp_path, step("one"))
    machine.go(left=30.0, options=sent_before(machine, 8.0))
    assert machine.mark()["steps"][0]["budget"] == 22.0
    other = Machine(tmp_path / "other", step("one"))
    assert other.go(left=7.0, options=sent_before(other, 8.0))["state"] == "failed"
    assert other.world.journal == [] and other.mark() is None


def test_a_machine_that_stood_still_has_as_much_time_left_as_when_it_was_called(tmp_path):
    """A freeze or a live migration stops its uptime, too, so it is less than the run reckons from its last answer."""
    machine = Machine(tmp_path, step("one"))
    went = machine.go(left=30.0, options=sent_before(machine, -0.5))
    assert machine.mark()["steps"][0]["budget"] == 30.0 and went["state"] != "failed"


def test_a_step_of_others_is_handed_out_with_what_is_left_of_its_time_and_whether_anything_new_may_begin(tmp_path):
    machine = Machine(tmp_path, step("one", elsewhere=True))
    went = machine.go(left=30.0, options=sent_before(machine, 8.0))
    assert went["elsewhere"] == {
        "key": "command one",
        "direction": "do",
        "begun": True,
        "no_new_steps": False,
        "begins": 22.0,
        "left": 60.0,
    }
    assert machine.go(left=20.0, no_new_steps=True)["elsewhere"]["no_new_steps"]
