# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of look.ps1 does what look.ps1 does: as it is played elsewhere, which tests/windows compares with a real PowerShell; and in
time, by what stands in the script."""

from __future__ import annotations

import base64
import random

import pytest
from lives import collection
from lives.azure import Azure, Event
from lives.clock import Clock
from lives.journal import Journal
from lives.windows.disk import MARK
from lives.windows.machine import WindowsMachine
from lives.windows.script import Script

collection.decider()
URL = "http://169.254.169.254/metadata/"
ONE, TWO = (base64.b64encode(content).decode() for content in (b'{"number": 1}\n', b"\x00\xff\r\n"))


class Machine(WindowsMachine):
    def __init__(self):
        clock = Clock()
        clock.now = 100.0
        azure = Azure(clock, Journal(clock), random.Random(1))
        super().__init__("h0a", "vm0", clock, azure.journal, azure, azure.scope("scope0"))
        self.booted = 0.0

    def written(self, path, before, run):
        """What the life of a run would note."""

    def begin(self, *requests):
        return self.clock.begin(Script(self, "run1").result(list(requests)))

    def run(self, *requests):
        """The answers, and the seconds that they took."""
        began, process = self.clock.now, self.begin(*requests)
        assert self.clock.run(1e5, lambda: process.over)
        return process.result["answers"], round(self.clock.now - began, 2)


@pytest.fixture
def machine():
    return Machine()


def edit(body, known=None, compare=True, window=(0, 0), stop=False, path=MARK):
    request = {"Do": "edit", "Path": path, "Body": body, "Known": known, "Compare": compare, "Stop": stop, "Expect": {}}
    return dict(request, FromMs=window[0], UntilMs=window[1])


def read(path=MARK, stop=False, **expect):
    return {"Do": "read", "Path": path, "Stop": stop, "Expect": expect}


def http(what="scheduledevents?api-version=2020-07-01", method="GET", **more):
    request = {
        "Do": "http",
        "Method": method,
        "Url": URL + what,
        "Headers": {},
        "Body": "",
        "Stop": False,
        "Expect": {},
    }
    times = {"TimeoutMs": 10000, "MaxBytes": 1048576, "Known": "", "IntervalMs": 0, "LimitMs": 0}
    return {**request, **times, "FromMs": 0, "UntilMs": 0, **more}


def essence(answers):
    return [{key: said[key] for key in said if key != "message"} for said in answers]


# --- files: what a real PowerShell is compared with, too ---


def test_it_answers_as_it_is_played(machine, tmp_path):
    tests = f"{collection.NAME}.tests"
    played = collection.module(f"{tests}.unit.plugins.plugin_utils._windows.played").PlayedMachine(tmp_path)
    for requests in collection.module(f"{tests}.windows.test_files").LISTS[:-1]:
        there = [dict(request, Path=f"there/{request['Path']}") for request in requests]
        mine = [dict(request, Path="there\\" + request["Path"].replace("/", "\\")) for request in requests]
        expected = played.result(there)["answers"]
        assert essence(machine.run(*mine)[0]) == essence(expected), requests


def test_a_cut_replacement_leaves_the_content_that_was_there(machine):
    machine.run(edit(ONE))
    machine.faults = [(0.0, 1e6, "cut")]
    process = machine.begin(edit(TWO, ONE))
    machine.programs.append(process)
    machine.clock.run(1e5, lambda: process.over)
    assert process.result is None and MARK not in machine.disk.files and not machine.locked
    machine.clock.now += 60
    assert machine.run(read())[0][0]["body"] == ONE
    assert machine.run(edit(TWO, ONE), read())[0][1]["body"] == TWO
    assert f"{MARK}.old" not in machine.disk.files


@pytest.mark.parametrize(
    "fault, failure, seconds, left",
    [
        ("lock-busy", "Busy", 2.05, ONE),
        ("file-busy", "Busy", 2.05, ONE),
        ("denied", "Unknown", 0.0, ONE),
        ("disk-full", "Unknown", 0.02, ONE),
    ],
)
def test_what_goes_wrong_with_files(machine, fault, failure, seconds, left):
    machine.run(edit(ONE))
    machine.faults = [(0.0, machine.clock.now + 3.0, fault)]
    (answer,), took = machine.run(edit(TWO, ONE))
    assert (answer["failure"], answer["part"], took) == (failure, "edit", pytest.approx(seconds, abs=0.06))
    machine.clock.now += 3.0
    assert machine.run(read())[0][0]["body"] == left


def test_a_lock_that_comes_free_in_time_is_waited_for(machine):
    machine.faults = [(0.0, machine.clock.now + 1.0, "lock-busy")]
    (answer,), took = machine.run(edit(ONE))
    assert answer["body"] == ONE and 1.0 < took < 1.2


def test_of_two_that_write_at_once_the_second_sees_what_the_first_has_written(machine):
    processes = [machine.begin(edit(body)) for body in (ONE, TWO)]
    machine.clock.run(1e5, lambda: all(process.over for process in processes))
    first, second = (process.result["answers"][0] for process in processes)
    assert first["body"] == ONE and (second["failure"], second["body"]) == ("Changed", ONE)


# --- Stop, and the time in which something may be changed ---


def test_what_comes_after_a_failure_with_stop_is_skipped(machine):
    answers, _took = machine.run(edit(ONE, "other", stop=True), http("x", "POST"), edit(ONE))
    assert [answer.get("part") for answer in answers] == ["compare", "stop", "stop"]
    assert machine.journal.of("post") == []


@pytest.mark.parametrize("window, happens", [((99000, 100100), True), ((0, 99000), False), ((101000, 200000), False)])
def test_nothing_is_changed_outside_of_its_time(machine, window, happens):
    machine.azure.announce(machine.scope, Event("ID", "Reboot", ["vm0"], 900.0))
    body = base64.b64encode(b'{"StartRequests": [{"EventId": "ID"}]}').decode()
    more = {"FromMs": window[0], "UntilMs": window[1], "Body": body}
    (written, posted), _took = machine.run(edit(ONE, window=window), http(method="POST", **more))
    assert (written.get("part") != "late", posted.get("part") != "late") == (happens, happens)
    assert len(machine.journal.of("post")) == happens and (MARK in machine.disk.files) == happens


# --- the metadata service ---


def test_who_it_is_and_what_it_sees(machine):
    answers, took = machine.run(http("instance/compute/name?api-version=2021-02-01&format=text"), http())
    assert base64.b64decode(answers[0]["body"]) == b"vm0" and b'"Events": []' in base64.b64decode(answers[1]["body"])
    assert took == pytest.approx(0.24)


@pytest.mark.parametrize(
    "fault, expected, takes",
    [
        ("imds-unreachable", "ConnectionRefused", 0.02),
        ("imds-slow", "Timeout", 3.0),
        ("imds-410", 410, 0.02),
        ("imds-429", 429, 0.02),
    ],
)
def test_a_service_that_fails(machine, fault, expected, takes):
    machine.faults = [(0.0, 1e6, fault)]
    (answer,), took = machine.run(http(TimeoutMs=3000))
    assert (answer.get("failure") or answer["status"], took) == (expected, takes)


def test_a_wait_ends_with_the_poll_that_sees_a_change(machine):
    (now,), _took = machine.run(http())
    machine.clock.after(7.3, machine.azure.announce, machine.scope, Event("ID", "Reboot", ["vm0"], 900.0))
    (answer,), took = machine.run(http(Known=now["body"], IntervalMs=1000, LimitMs=60000))
    assert b"ID" in base64.b64decode(answer["body"]) and 7.3 < took < 8.5 and answer["polls"] in (8, 9)


def test_a_wait_without_a_change_polls_once_more_at_its_limit(machine):
    (now,), _took = machine.run(http())
    (answer,), took = machine.run(http(Known=now["body"], IntervalMs=1000, LimitMs=60000))
    assert answer["body"] == now["body"] and 60.0 <= took < 60.5


def test_a_wait_ends_with_the_service_s_failure(machine):
    (now,), _took = machine.run(http())
    machine.faults = [(machine.clock.now + 5.0, 1e6, "imds-410")]
    (answer,), took = machine.run(http(Known=now["body"], IntervalMs=1000, LimitMs=60000))
    assert answer["status"] == 410 and 5.0 < took < 6.5


# --- the boot ---


def test_a_boot_is_of_a_second_by_a_clock_that_is_set(machine):
    (first,), _took = machine.run({"Do": "boot", "Stop": False, "Expect": {}})
    machine.ahead = 90.0
    (second,), _took = machine.run({"Do": "boot", "Stop": False, "Expect": {}})
    assert len(first["booted"]) == len("2027-01-15T08:00:00") and first["booted"] != second["booted"]
    assert first["uptime_ms"] < second["uptime_ms"] and first["clock_ms"] < second["clock_ms"]
    assert first["id"] == second["id"] == "boot-h0a-1"


def test_a_user_who_may_not_write_the_registry_gets_no_id(machine):
    machine.has_id = False
    assert machine.run({"Do": "boot", "Stop": False, "Expect": {}})[0][0]["id"] == ""


def test_nothing_is_done_after_what_is_not_what_it_was(machine):
    boot = {"Do": "boot", "Stop": True}
    first, second = dict(boot, Expect={"id": machine.boot_id}), dict(boot, Expect={"id": "another"})
    (_same, changed, skipped), _seconds = machine.run(first, second, edit(ONE))
    assert (changed["failure"], skipped["failure"]) == ("Changed", "Skipped") and MARK not in machine.disk.files
