# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was cut off can't act later: real processes, of which one is held up at each place where it could."""

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
