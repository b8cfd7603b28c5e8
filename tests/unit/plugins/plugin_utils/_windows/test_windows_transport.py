# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is sent to look.ps1, and what is made of whatever comes back."""

import base64
import contextlib
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

# The whole result of the prototype, as win_powershell returned it, in what has not changed since
RECORDED = {
    "changed": False,
    "debug": [],
    "error": [],
    "failed": False,
    "host_err": "",
    "host_out": "",
    "information": [],
    "output": [],
    "verbose": [],
    "warning": [],
    "result": {
        "answers": [
            {
                "status": 200,
                "body": "eyJEb2N1bWVudEluY2FybmF0aW9uIjogMiwgIkV2ZW50cyI6IFtdfQ==",
                "polls": 1,
                "elapsed_ms": 82,
                "headers": {"ETag": '"2"', "Content-Type": "application/json; charset=utf-8"},
            }
        ],
        "elapsed_ms": 83,
    },
}


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


def test_a_post_brings_the_look_after_it():
    machine = Machine(gave(answered(200, BODY)), gave(answered(200), dict(answered(200, b"{}"), polls=3)))
    transport = WindowsTransport(machine, ScriptedClock())
    headers = {"Metadata": "true", "Content-Type": "application/json"}
    transport.get(URL, {}, 10.0)
    assert transport.post(URL, headers, b'{"StartRequests": []}', 10.0).status == 200
    assert transport.get_until_changed(URL, {}, 10.0, BODY, 1.0, 60.0) == (Answer(200, {}, b"{}"), 3)
    assert sent(machine)[1:] == [
        [
            exchange("POST", Headers=headers, Body=encoded(b'{"StartRequests": []}'), Stop=True),
            exchange("GET", Headers={"Metadata": "true"}, Known=encoded(BODY), IntervalMs=1000, LimitMs=5000),
        ]
    ]


def test_a_wait():
    machine = Machine(gave(dict(answered(304), polls=1801)))
    headers = {"Metadata": "true", "If-None-Match": '"2"'}
    answer, polls = WindowsTransport(machine).get_until_changed(URL, headers, 10.0, BODY, 2.0, 3599.5)
    assert (answer.status, polls) == (304, 1801)
    assert sent(machine) == [[exchange("GET", Headers=headers, Known=encoded(BODY), IntervalMs=2000, LimitMs=3599500)]]


# --- what comes along ---

NAME = "http://imds.test/metadata/instance/compute/name"
GROUP = "http://imds.test/metadata/instance/compute/placementGroupId"


def looked(*brought, lasting=False):
    """A transport that was asked for the document when this was foreseen, by address; its machine, and its clock."""
    machine = Machine(gave(answered(200, BODY), *brought), gave(answered(200, b"anew")))
    clock = machine.clock = ScriptedClock()
    transport = WindowsTransport(machine)
    for url in (NAME, GROUP)[: len(brought)]:
        transport.foresee(url, {"Metadata": "true"}, 3.0, lasting)
    assert transport.get(URL, {}, 10.0).body == BODY
    return transport, machine, clock


def test_what_was_foreseen_comes_along_with_the_next_request():
    transport, machine, _clock = looked(answered(200, b"win1"), answered(200, b"group"))
    assert transport.get(GROUP, {}, 10.0).body == b"group"
    assert transport.get(NAME, {}, 10.0).body == b"win1"
    foreseen = {"Headers": {"Metadata": "true"}, "TimeoutMs": 3000}
    assert sent(machine) == [
        [exchange("GET", Stop=True), exchange("GET", Url=NAME, **foreseen), exchange("GET", Url=GROUP, **foreseen)]
    ]


def test_it_is_given_once():
    transport, machine, _clock = looked(answered(200, b"win1"))
    assert [transport.get(NAME, {}, 10.0).body for _time in range(2)] == [b"win1", b"anew"]
    assert len(machine.calls) == 2


def test_it_is_asked_for_anew_when_time_has_passed():
    transport, machine, clock = looked(answered(200, b"win1"))
    clock.elapsed += 2.1
    assert transport.get(NAME, {}, 10.0).body == b"anew"


def test_it_is_asked_for_anew_when_something_else_was_asked_in_between():
    transport, machine, _clock = looked(answered(200, b"win1"))
    machine.results.insert(0, gave(answered(200, b"other")))
    transport.get(URL, {}, 10.0)
    assert transport.get(NAME, {}, 10.0).body == b"anew"
    assert sent(machine)[1] == [exchange("GET")]  # foreseen once, brought once


def test_what_does_not_change_is_given_again_and_not_asked_for_any_more():
    transport, machine, clock = looked(answered(200, b"win1"), lasting=True)
    transport.get(URL, {}, 10.0)
    clock.elapsed += 100.0
    machine.results.append(gave(answered(200, BODY)))
    transport.foresee(NAME, {}, 3.0, True)
    assert transport.get(URL, {}, 10.0).body == BODY
    assert [transport.get(NAME, {}, 10.0).body for _time in range(2)] == [b"win1"] * 2
    assert sent(machine)[1:] == [[exchange("GET")], [exchange("GET")]]


def test_what_was_foreseen_can_go_with_a_call_that_is_made_for_something_else():
    machine = Machine(gave({"body": None}, answered(200, BODY), answered(200, b"win1")))
    transport = WindowsTransport(machine)
    file = machine.later(Do="read")
    transport.foresee(URL, {}, 10.0)
    transport.foresee(NAME, {}, 3.0, True)
    transport.begin()
    assert file.answer() == {"body": None}
    assert transport.get(URL, {}, 10.0).body == BODY
    assert transport.get(NAME, {}, 10.0).body == b"win1"
    assert sent(machine) == [
        [
            {"Do": "read", "Stop": False, "Expect": {}},
            exchange("GET", Stop=True),
            exchange("GET", Url=NAME, TimeoutMs=3000),
        ]
    ]


def test_it_is_asked_for_when_the_request_before_it_failed_and_kept_it_from_being_sent():
    machine = Machine(gave(answered(500), failed("Skipped")), gave(answered(200, b"win1")))
    transport = WindowsTransport(machine)
    transport.foresee(NAME, {}, 3.0)
    assert transport.get(URL, {}, 10.0).status == 500
    assert transport.get(NAME, {}, 10.0).body == b"win1"


def test_its_failure_is_the_failure_of_whoever_asks_for_it():
    transport, machine, _clock = looked(failed("ConnectionReset"))
    with pytest.raises(Unreachable):
        transport.get(NAME, {}, 10.0)
    assert len(machine.calls) == 1


@pytest.mark.parametrize("timeout, calls", [(3.0, 1), (10.0, 2)])
def test_a_time_out_is_tried_again_when_more_time_is_allowed_than_was_foreseen(timeout, calls):
    transport, machine, _clock = looked(failed("Timeout"))
    with pytest.raises(AnswerTimeout) if calls == 1 else contextlib.nullcontext():
        transport.get(NAME, {}, timeout)
    assert len(machine.calls) == calls


@pytest.mark.parametrize("interval, limit", [(1.0, 7200.0), (1.0, 1e9), (1e9, 1e9), (1.0, float("inf"))])
def test_no_call_is_longer_than_an_hour(interval, limit):
    machine = Machine(gave(answered(304)))
    WindowsTransport(machine).get_until_changed(URL, {}, 10.0, b"", interval, limit)
    ((request,),) = sent(machine)
    assert request["LimitMs"] == 3600000
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
    machine = Machine(gave(answered(200, server="Microsoft-IIS/10.0"), failed("Skipped")))
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
    message = problem_of(gave({"status": 200}, {}), lambda transport: transport.post(URL, {}, b"{}", 10.0))
    assert "it has no polls" in message
    assert message.endswith("Whether the approval was sent is not known; to run this again does no harm.")


# --- when it was ---


class Taking(Machine):
    """One to which each call takes so many seconds, of which the script's are told."""

    def __init__(self, clock, seconds, *results):
        super().__init__(*results)
        self.clock, self.seconds = clock, seconds

    def run(self, module, arguments):
        self.clock.elapsed += self.seconds
        return super().run(module, arguments)


def told(*answers, elapsed):
    return gave(*answers, result={"answers": list(answers), "elapsed_ms": elapsed})


def test_when_an_exchange_was_by_the_milliseconds_of_the_script():
    """Of five seconds the script took two, and of these the exchange half a one: what comes before and after nobody knows."""
    answers = dict(answered(200), elapsed_ms=1000), dict(answered(200, BODY), elapsed_ms=1500)
    machine = Taking(ScriptedClock(), 5.0, told(*answers, elapsed=2000))
    transport = WindowsTransport(machine)
    machine.later(Do="boot")
    transport.get(URL, {}, 10.0)
    assert transport.moments == (5001.0, 5001.0, 5004.5)


def test_when_the_last_request_of_a_wait_was_sent_at_the_earliest():
    """Four requests, one pause of an interval between two of them; the last pause may have been shorter."""
    machine = Taking(ScriptedClock(), 5.0, told(dict(answered(200, BODY), polls=4, elapsed_ms=4000), elapsed=4000))
    transport = WindowsTransport(machine)
    transport.get_until_changed(URL, {}, 10.0, b"other", 1.0, 3.0)
    assert transport.moments == (5000.0, 5002.2, 5005.0)


def test_when_it_was_where_the_script_does_not_say():
    answer = answered(200, BODY)
    del answer["elapsed_ms"]
    machine = Taking(ScriptedClock(), 5.0, gave(answer, result={"answers": [answer]}))
    transport = WindowsTransport(machine)
    transport.get(URL, {}, 10.0)
    assert transport.moments == (5000.0, 5000.0, 5005.0)


def test_what_was_brought_along_is_as_old_as_the_call_that_brought_it():
    machine = Taking(ScriptedClock(), 5.0, told(dict(answered(200, BODY), elapsed_ms=1000), elapsed=1000))
    transport = WindowsTransport(machine)
    transport.foresee(URL, {}, 10.0)
    transport.begin()
    machine.call()
    machine.clock.elapsed += 1.0
    transport.get(URL, {}, 10.0)
    assert transport.moments == (5000.0, 5000.0, 5005.0)
