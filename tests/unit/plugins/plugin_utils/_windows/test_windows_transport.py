# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is sent to look.ps1, and what is made of whatever comes back."""

import base64
import json

import pytest
from ansible.errors import AnsibleConnectionFailure

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    BrokenAnswer,
    TransportError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import Answer
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import POWERSHELL
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.transport import WindowsTransport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.windows_machine import (
    BODY,
    URL,
    Machine,
    exchange,
    gave,
    problem_of,
    sent,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.faulty import answered, failed

# As PowerShell 7.6 has answered
RECORDED = gave(
    {
        "status": 200,
        "body": "eyJEb2N1bWVudEluY2FybmF0aW9uIjogMiwgIkV2ZW50cyI6IFtdfQ==",
        "polls": 1,
        "headers": {"ETag": '"2"', "Content-Type": "application/json; charset=utf-8"},
    }
)


def encoded(data):
    return base64.b64encode(data).decode()


# --- what is sent ---


def test_a_get():
    machine = Machine(RECORDED)
    assert WindowsTransport(machine).get(URL, {"Metadata": "true"}, 125.0) == Answer(
        200, {"etag": '"2"', "content-type": "application/json; charset=utf-8"}, BODY
    )
    assert machine.calls == [
        (
            POWERSHELL,
            {"parameters": {"Requests": [exchange("GET", Headers={"Metadata": "true"}, TimeoutMs=125000)]}},
        )
    ]


def test_a_post():
    machine = Machine(gave(answered(200)))
    headers = {"Metadata": "true", "Content-Type": "application/json"}
    assert WindowsTransport(machine).post(URL, headers, b'{"StartRequests": []}', 10.0).status == 200
    assert sent(machine) == [[exchange("POST", Headers=headers, Body=encoded(b'{"StartRequests": []}'))]]


def test_a_wait():
    machine = Machine(gave(dict(answered(304), polls=30)))
    headers = {"Metadata": "true", "If-None-Match": '"2"'}
    answer, polls = WindowsTransport(machine).get_until_changed(URL, headers, 10.0, BODY, 2.0, 59.5)
    assert (answer.status, polls) == (304, 30)
    assert sent(machine) == [[exchange("GET", Headers=headers, Known=encoded(BODY), IntervalMs=2000, LimitMs=59500)]]


@pytest.mark.parametrize("interval, limit", [(1.0, 7200.0), (1.0, 1e9), (1e9, 1e9), (1.0, float("inf"))])
def test_no_wait_is_longer_than_a_minute(interval, limit):
    """A machine may not notice that nobody waits any more."""
    machine = Machine(gave(answered(304)))
    WindowsTransport(machine).get_until_changed(URL, {}, 10.0, b"", interval, limit)
    ((request,),) = sent(machine)
    assert request["LimitMs"] == 60000
    assert request["IntervalMs"] <= 3600000  # what PowerShell calls an int ends at 24 days


def test_no_timeout_is_0_for_dotnet_refuses_that():
    machine = Machine(gave(answered(200)))
    WindowsTransport(machine).get(URL, {}, 0.0001)
    assert sent(machine)[0][0]["TimeoutMs"] == 1


def test_what_is_sent_is_plain_json():
    machine = Machine(gave(answered(200)))
    WindowsTransport(machine).get_until_changed(URL, {"Metadata": "true"}, 10.0, b"\x00\xff", 1.0, 2.0)
    assert json.loads(json.dumps(machine.calls[0][1])) == machine.calls[0][1]


# --- failures ---


def test_a_failure_carries_its_polls():
    machine = Machine(gave(dict(failed("ConnectionReset", "Connection reset by peer"), polls=42)))
    with pytest.raises(Unreachable) as caught:
        WindowsTransport(machine).get_until_changed(URL, {}, 10.0, b"", 1.0, 60.0)
    assert caught.value.polls == 42
    assert caught.value.url == URL
    assert caught.value.message == f"No connection to {URL}, or it was cut: Connection reset by peer (ConnectionReset)."


def test_a_time_out_says_what_was_allowed():
    with pytest.raises(AnswerTimeout, match="no whole answer within 125 s"):
        WindowsTransport(Machine(gave(failed("Timeout")))).get(URL, {}, 125.0)


def test_an_unknown_failure_is_told_with_its_words():
    machine = Machine(gave(failed("TrustFailure", "Could not establish\r\ntrust relationship.\x07")))
    with pytest.raises(Unreachable, match=r"Could not establish trust relationship \(TrustFailure\)"):
        WindowsTransport(machine).get(URL, {}, 10.0)


def test_a_connection_that_breaks_off_is_ansibles_unreachable_whatever_it_raises():
    with pytest.raises(AnsibleConnectionFailure, match="win1: the connection broke off: OSError: Read timed out"):
        WindowsTransport(Machine(OSError("Read timed out"))).get(URL, {}, 10.0)


@pytest.mark.parametrize(
    "failure", ["Timeout", "TooLarge", "InvalidResponse", "ResponseEnded", "\x1b[31mNew", "Unknown"]
)
@pytest.mark.parametrize("part", ["head", "body"])
def test_no_failure_can_steer_a_terminal(failure, part):
    said = failed(failure, "invalid status line: \x1b[2J\u202e\r\n", part)
    with pytest.raises(TransportError) as caught:
        WindowsTransport(Machine(gave(said))).get(URL, {}, 10.0)
    assert caught.value.message.isprintable()


def test_a_connection_that_breaks_off_can_not_steer_a_terminal_either():
    with pytest.raises(AnsibleConnectionFailure, match=r"broke off: OSError: \[2Jgone"):
        WindowsTransport(Machine(OSError("\x1b[2Jgone"))).get(URL, {}, 10.0)


def test_a_broken_answer_carries_its_polls():
    said = dict(answered(200, b"{", content_length="100"), polls=42)
    with pytest.raises(BrokenAnswer, match="after 1 of 100 bytes") as caught:
        WindowsTransport(Machine(gave(said))).get_until_changed(URL, {}, 10.0, b"", 1.0, 60.0)
    assert caught.value.polls == 42


def test_an_approval_was_taken_whatever_its_answer_says_about_its_body():
    machine = Machine(gave(answered(200, server="Microsoft-IIS/10.0")))
    assert WindowsTransport(machine).post(URL, {}, b"{}", 10.0).status == 200


def test_a_lost_connection_is_left_to_ansible():
    with pytest.raises(AnsibleConnectionFailure):
        WindowsTransport(Machine(AnsibleConnectionFailure("gone"))).get(URL, {}, 10.0)


# --- answers that can't be used ---


@pytest.mark.parametrize("key", ["status", "headers", "body", "polls"])
def test_a_result_that_lacks_a_key(key):
    answer = answered(200)
    del answer[key]
    assert f"it has no {key}" in problem_of(gave(answer))


@pytest.mark.parametrize(
    "key, value, said",
    [
        ("status", "200", "status is not a number but '200'"),
        ("status", True, "status is not a number but True"),
        ("status", None, "status is not a number but None"),
        ("polls", "1", "polls is not a number"),
        ("headers", [], "headers is not a dictionary"),
        ("headers", {"ETag": 2}, "the header ETag is not text but 2"),
        ("headers", {"\x1b[2J": None}, "the header [2J is not text but None"),
        ("status", "\x1b[2J", "status is not a number but '\\x1b[2J'"),
        ("body", {}, "body is not text"),
        ("body", "***", "the body is not base64"),
        ("body", "eyJ", "the body is not base64"),
        ("body", "ümlaut", "the body is not base64"),
    ],
)
def test_a_result_with_a_wrong_type(key, value, said):
    assert said in problem_of(gave(dict(answered(200), **{key: value})))


@pytest.mark.parametrize("key, value", [("failure", 1), ("message", None), ("polls", None)])
def test_a_failure_with_a_wrong_type(key, value):
    assert f"{key} is not" in problem_of(gave(dict(failed("Timeout"), **{key: value})))


def test_a_post_that_may_have_arrived():
    message = problem_of(gave({"status": 200}), lambda transport: transport.post(URL, {}, b"{}", 10.0))
    assert "it has no polls" in message
    assert message.endswith("Whether the approval was sent is not known; to run this again does no harm.")


# --- when it was ---


class Taking(Machine):
    """One to which each exchange takes five seconds."""

    def __init__(self, *results):
        super().__init__(*results)
        self.clock = ScriptedClock()

    def run(self, module, arguments):
        self.clock.elapsed += 5.0
        return super().run(module, arguments)


def test_an_answer_is_as_old_as_its_exchange():
    transport = WindowsTransport(Taking(gave(answered(200, BODY))))
    transport.get(URL, {}, 10.0)
    assert transport.moments == (5000.0, 5000.0, 5005.0)


@pytest.mark.parametrize("polls, asked", [(1, 5000.0), (2, 5000.2), (4, 5002.2), (40, 5005.0)])
def test_when_the_last_request_of_a_wait_was_sent_at_the_earliest(polls, asked):
    """One pause of an interval between two of them; the last pause may have been shorter."""
    transport = WindowsTransport(Taking(gave(dict(answered(200, BODY), polls=polls))))
    transport.get_until_changed(URL, {}, 10.0, b"other", 1.0, 3.0)
    assert transport.moments == (5000.0, asked, 5005.0)
