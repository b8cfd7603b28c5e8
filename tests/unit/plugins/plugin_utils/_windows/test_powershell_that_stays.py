# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said to a PowerShell that stays, and what is made of whatever it answers. tests/windows has a real one."""

import json
import time
import types

import pytest
from ansible.errors import AnsibleError

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows import standing
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.channels import Broken
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.lacks import IIS
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.logins import Logins
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import POWERSHELL

ASKED = [{"Do": "boot"}]


class Played:
    """What plays line.ps1: says its name, and gives back what it was asked.

    answers: what it says instead, one after the other; exceptions are raised
    """

    def __init__(self, connection, name):
        connection.made.append(self)
        self.answers = connection.answers
        self.sent, self.closed, self._says = [], False, []
        self._say({"line": connection.name or name})

    def _say(self, words):
        self._says.append(json.dumps(words).encode() + b"\n")

    def send(self, data):
        self.sent.append(data)
        if data == b"\n":
            return
        asked = json.loads(data)
        answer = self.answers.pop(0) if self.answers else {"result": {"answers": asked["requests"]}}
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, dict):
            self._say(dict({"id": asked["id"]}, **answer))
        else:
            self._says += answer

    def receive(self, seconds):
        if not self._says:
            time.sleep(min(seconds, 0.01))
            return b""
        return self._says.pop(0)

    def close(self):
        self.closed = True


@pytest.fixture
def connection(monkeypatch):
    """made: those that were begun over it; name: what the next one says that it is called"""
    monkeypatch.setattr(standing, "CHANNELS", {"winrm": Played})
    return types.SimpleNamespace(transport="winrm", made=[], answers=[], name="")


@pytest.fixture
def stays(connection):
    one = standing.Standing(connection, Logins(f"user{time.monotonic_ns()}", "win1"))
    yield one
    one.close()


def test_one_start_serves_all_calls(stays, connection):
    assert [stays.look(ASKED, 5.0) for _call in range(3)] == [{"answers": ASKED}] * 3
    (played,) = connection.made
    assert len({json.loads(data)["id"] for data in played.sent}) == 3
    stays.close()
    assert played.closed


def test_after_a_rest_it_is_asked_first_whether_it_is_still_there(stays, connection, monkeypatch):
    stays.look(ASKED, 5.0)
    monkeypatch.setattr(standing, "PROVEN", -1.0)
    stays.look(ASKED, 5.0)
    assert [json.loads(data)["requests"] for data in connection.made[0].sent] == [ASKED, [], ASKED]
    connection.answers += [OSError("no route to host")]
    assert stays.look(ASKED, 5.0) == {"answers": ASKED}
    assert len(connection.made) == 2, "nothing that changes something is sent to one that is gone"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"id": "another", "result": {}}, "its answer is none to what was asked"),
        ({"error": "no memory"}, "no memory"),
        ({"result": None}, "its answer is none"),
        ([b"Welcome\n"], "answered something else: Welcome"),
        ([b"[]\n"], "answered something else"),
        ([b"x" * 2_000_001], "more than 2000000 bytes"),
        ([], "no answer in time"),
    ],
)
def test_an_answer_that_is_none_ends_it(stays, connection, answer, why):
    connection.answers.append(answer)
    with pytest.raises(Broken, match=why):
        stays.look(ASKED, 0.1)
    assert connection.made[0].closed and stays.is_only_slow
    assert stays.look(ASKED, 5.0) == {"answers": ASKED}
    assert len(connection.made) == 2 and not stays.is_only_slow


def test_an_error_of_the_connection_is_its_own_and_nothing_more_is_said_over_it(stays, connection):
    connection.answers.append(OSError("cut"))
    with pytest.raises(OSError, match="cut"):
        stays.look(ASKED, 5.0)
    assert not connection.made[0].closed and not stays.is_only_slow
    assert stays.look(ASKED, 5.0) == {"answers": ASKED}


def test_the_service_gets_no_more_than_five_requests_a_second(stays, monkeypatch):
    poll, slept = [{"Do": "http"}], []
    clock = types.SimpleNamespace(monotonic=lambda: 1000.0, sleep=slept.append)
    stays.look(ASKED, 5.0)
    monkeypatch.setattr(standing, "time", clock)
    for requests in (poll, ASKED, poll):
        stays.look(requests, 5.0)
    assert slept == [0.0, pytest.approx(standing.PAUSE)]


def test_what_is_no_powershell_is_said(stays, connection):
    connection.name = "somebody"
    with pytest.raises(AnsibleError, match="something else than PowerShell answered.*somebody"):
        stays.look(ASKED, 5.0)
    assert connection.made[0].closed and stays.is_only_slow


def test_somebody_is_still_there_in_a_long_call_and_between_two(stays, connection, monkeypatch):
    monkeypatch.setattr(standing, "BEAT", 0.02)
    connection.answers.append([])
    with pytest.raises(Broken):
        stays.look(ASKED, 0.1)
    assert connection.made[0].sent.count(b"\n") >= 2
    stays.look(ASKED, 5.0)
    until = time.monotonic() + 60
    while b"\n" not in connection.made[1].sent:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_nobody_says_a_word_while_something_else_goes_over_the_connection(stays, connection, monkeypatch):
    monkeypatch.setattr(standing, "BEAT", 0.01)
    waited, wait = [], stays._ends.wait
    monkeypatch.setattr(stays._ends, "wait", lambda seconds: waited.append(seconds) or wait(seconds))
    stays.look(ASKED, 5.0)
    (played,) = connection.made

    def module(*_arguments):
        before, asked_before = len(played.sent), len(waited)
        until = time.monotonic() + 60
        while len(waited) < asked_before + 5:  # it was time for a word so often
            assert time.monotonic() < until
            time.sleep(0.001)
        assert len(played.sent) == before
        return {}

    standing.over(stays, module)(IIS[0], {})
    until = time.monotonic() + 60
    while b"\n" not in played.sent:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_what_is_no_look_is_a_module_as_before(stays):
    executed = standing.over(stays, lambda module, arguments: {"of": module})
    assert executed(IIS[0], {"name": "w3svc"}) == {"of": IIS[0]}
    assert executed(POWERSHELL, {"parameters": {"Requests": ASKED}}) == {"result": {"answers": ASKED}}


def test_nobody_waits_longer_for_a_look_than_its_call_lasts(stays, connection):
    connection.answers.append([])
    executed = standing.over(stays, print, time.monotonic() + 0.1)
    with pytest.raises(Broken, match="no answer in time"):
        executed(POWERSHELL, {"parameters": {"Requests": ASKED}})
