# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All calls of the machine program together send at most five requests a second."""

import json
import os
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    ScheduledEventsError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.http_transport import HttpTransport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import process
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.machine_rate import MachineRate, rates
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.system import System
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.loopback import (
    Server,
    request_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import Machine, step
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ScriptedClock,
    document,
    event,
)

PROGRAM = "ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.process"
LOOK = {"do": "look", "wait": 0}
APPROVE = {"do": "approve", "ids": ["E1"], "prepared": ["web1"], "allow_unknown": []}


class Asked:
    """A machine and its metadata service, which notes when it was sent what.

    :arg takes: seconds for each answer
    """

    def __init__(self, tmp_path, has_watcher=False, takes=0.0):
        self.machine = Machine(tmp_path / "marks", step("one"))
        self.clock, self.times, self.takes = self.machine.clock, [], takes
        self.folder = tmp_path
        parts = self.machine.parts()
        self.machine.parts = lambda: parts._replace(
            transport=lambda clock: HttpTransport(
                clock, *rates(clock, str(self.folder), "http://imds.test/", has_watcher, now=self.clock.now)
            )
        )

    def __call__(self, *requests, **options):
        with Server(self._answers) as server:
            answer = self.machine.call(*requests, endpoint=server.url.rpartition("/")[0], **options)
        return answer["answers"]

    def _answers(self, _server, connection):
        while True:
            request = request_of(connection)
            self.times.append((request.partition(b" ")[0].decode(), round(self.clock.elapsed, 3)))
            self.clock.elapsed += self.takes
            body = document(1, event("E1")) if b"scheduledevents" in request else b"web1"
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))

    def peak(self):
        """The most requests within a second."""
        times = [time for _method, time in self.times]
        return max(sum(begins <= time < begins + 1 for time in times) for begins in times)


def paced(tmp_path, content=None, most=4, **more):
    """One limit, and what its file holds."""
    clock, path = ScriptedClock(), tmp_path / "requests"
    if content is not None:
        path.write_bytes(content)
    return MachineRate(clock, str(path), most, clock.now, **more), clock, path


def send(rate, times=1):
    for _each in range(times):
        rate.wait()
        rate.ended()


def test_an_approval_right_after_a_look_keeps_the_limit_and_does_not_wait(tmp_path):
    asked = Asked(tmp_path)
    asked(LOOK)
    asked.clock.elapsed += 0.2
    assert asked(APPROVE)[0]["approved"] == ["E1"]
    assert asked.times == [("GET", 0)] * 2 + [("GET", 0.2)] * 2 + [("POST", 0.2), ("GET", 1.0), ("GET", 1.2)]
    assert asked.peak() == 5


@pytest.mark.parametrize("has_watcher, peak", [(False, 4), (True, 2)])
def test_calls_one_after_the_other_share_the_limit_and_leave_a_watcher_its_part(tmp_path, has_watcher, peak):
    asked = Asked(tmp_path, has_watcher)
    for _tick in range(4):
        asked(LOOK)
        asked.clock.elapsed += 0.3
    assert asked.peak() == peak


def test_a_request_counts_from_its_end(tmp_path):
    asked = Asked(tmp_path, takes=0.5)
    for _call in range(4):
        asked(LOOK)
    assert [time for _method, time in asked.times] == [0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5]


def test_a_wait_that_does_not_fit_into_the_call_is_none(tmp_path):
    asked = Asked(tmp_path)
    asked(LOOK, LOOK)
    (looked,) = asked(LOOK, seconds=0.7)
    assert looked["failure"]["kind"] == "timeout" and asked.clock.elapsed <= 0.7


def test_an_approval_goes_before_looks_that_wait(tmp_path):
    noted = [4999.5] * 4 + [5000.5] * 3
    approval, clock, path = paced(tmp_path, json.dumps(noted).encode(), most=5, goes_first=True)
    send(approval)
    assert clock.sleeps == [] and sorted(json.loads(path.read_text())) == sorted([*noted, 5000.0])


def test_two_at_once_take_turns(tmp_path):
    clock, path = ScriptedClock(), str(tmp_path / "requests")
    one, other = (MachineRate(clock, path, 4, clock.now) for _each in range(2))
    times = []
    for _each in range(6):
        for rate in (one, other):
            rate.wait()
            times.append(clock.elapsed)
        one.ended()
        other.ended()
    assert times == [0] * 4 + [1] * 4 + [2] * 4


def test_who_was_ended_before_the_answer_came_has_asked(tmp_path):
    rate, clock, path = paced(tmp_path)
    for _each in range(4):
        MachineRate(clock, str(path), 4, clock.now).wait()
    rate.wait()
    assert clock.sleeps == [1]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[5000.0, 5000.0, 5000.0, 5000.0",
        b"\xff\x00",
        b"{}",
        b"null",
        b"[NaN, Infinity, -Infinity, NaN, true, null, 5000]",
        b'["5000.0", [5000.0], {}, ""]',
        b"[" * 4096,
        b"[" + b"5000.0, " * 1000 + b"5000.0]",
        b"[4998.9, 4998.9, 4998.9, 4998.9]",
        b"[71000.5, 71000.5, 71000.5, 71000.5]",  # of before the machine was rebooted
    ],
)
def test_what_is_not_of_this_moment_counts_as_nothing_and_is_replaced(tmp_path, content):
    rate, clock, path = paced(tmp_path, content)
    send(rate, 4)
    assert clock.sleeps == []
    assert json.loads(path.read_text()) == [5000.0] * 4


def test_nobody_waits_for_longer_than_a_second(tmp_path):
    rate, clock, _path = paced(tmp_path, json.dumps([5000.9] * 40).encode())
    with pytest.raises(ScheduledEventsError, match="other calls on this machine") as caught:
        rate.wait()
    assert caught.value.kind == "throttled" and clock.elapsed == 0
    clock.elapsed += 0.9
    send(rate)
    assert clock.elapsed == pytest.approx(1.9)


def test_who_keeps_the_file_locked_holds_nobody_up(tmp_path):
    rate, clock, path = paced(tmp_path, b"[5000.0, 5000.0, 5000.0, 5000.0]")
    with path.open("r+b") as file:
        native.lock(file.fileno())
        send(rate)
    assert clock.elapsed == pytest.approx(0.1)
    assert path.read_bytes() == b"[5000.0, 5000.0, 5000.0, 5000.0]"


@pytest.mark.parametrize("kind", ["no folder", "a folder", "a link", "a pipe"])
def test_where_nothing_can_be_noted_each_call_keeps_the_limit_for_itself(tmp_path, kind):
    rate, clock, path = paced(tmp_path / "none" if kind == "no folder" else tmp_path)
    if kind == "a folder":
        path.mkdir()
    elif kind == "a link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "a pipe":
        os.mkfifo(str(path))
    send(rate, 9)
    assert clock.sleeps == [1, 1]
    assert not (tmp_path / "elsewhere").exists()


def test_each_service_has_its_limit(tmp_path):
    clock = ScriptedClock()
    for endpoint in ("http://127.0.0.1/vm/web1", "http://127.0.0.1/vm/web2", "http://127.0.0.1/vm/web2/"):
        looks, approvals = rates(clock, str(tmp_path), endpoint, False, now=clock.now)
        send(looks, 2)
        send(approvals, 1)
    assert clock.sleeps == [1], "the last one is the sixth of web2"


def test_an_approval_waits_for_others_only_where_azure_would_refuse_it(tmp_path):
    clock = ScriptedClock()
    calls = [rates(clock, str(tmp_path), "http://imds.test", False, now=clock.now) for _call in range(2)]
    send(calls[0][0], 4)
    send(calls[0][1])
    assert clock.sleeps == []
    send(calls[1][1])
    assert clock.sleeps == [1]


@pytest.mark.parametrize("has_folder", [True, False])
def test_the_program_notes_its_requests_where_it_lies(tmp_path, has_folder):
    call = {"options": {"endpoint": "http://127.0.0.1:1", "folder": str(tmp_path / "marks")}, "requests": [LOOK]}
    arguments = ["answer:", str(tmp_path)] if has_folder else ["answer:"]
    said = subprocess.check_output(
        [sys.executable, "-m", PROGRAM, *arguments],
        input=json.dumps(dict(call, options=dict(call["options"], seconds=1.0))).encode("ascii"),
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)),
    )
    assert b"Connection refused" in said
    assert bool(list(tmp_path.glob("requests-*"))) == has_folder
    assert not (tmp_path / "marks").exists()


@pytest.mark.parametrize("boot_id, looks", [("this one", 2), ("another", 4)])
def test_the_program_leaves_a_watcher_its_part_as_long_as_it_lives(tmp_path, monkeypatch, boot_id, looks):
    system, clock = System("this one"), ScriptedClock()
    said = {"format": 1, "boot_id": boot_id, "uptime": system.uptime(), "mode": "manage", "version": "1"}
    (tmp_path / "watcher.json").write_text(json.dumps(said))
    monkeypatch.setattr(sys, "argv", ["program", "answer:", str(tmp_path)])
    transport = process._transport(clock, FolderStore(str(tmp_path), clock), system, {})
    send(transport._rate, looks)
    assert clock.sleeps == []
    send(transport._rate)
    assert clock.sleeps


def test_an_error_counts_as_well(tmp_path):
    with Server() as server:
        url = server.url
    clock = ScriptedClock()
    for _call in range(5):
        with pytest.raises(Unreachable):
            HttpTransport(clock, *rates(clock, str(tmp_path), url, False, now=clock.now)).get(url, {}, 5.0)
    assert clock.sleeps == [1]
