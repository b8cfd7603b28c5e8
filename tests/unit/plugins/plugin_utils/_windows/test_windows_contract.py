# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All Transports say the same of the same fault. (tests/windows asks a real PowerShell, where there is one.)"""

import socket

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import AnswerTimeout
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.http_transport import HttpTransport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.requests_transport import (
    RequestsTransport,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import WindowsMachine
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.transport import WindowsTransport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.played import PlayedMachine
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.windows_machine import (
    Machine,
    gave,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.faulty import (
    DOCUMENT,
    FAULTS,
    LONG,
    TIMEOUT,
    UNKNOWN,
    on_windows,
    serving,
)

PATH = "/metadata/scheduledevents?api-version=2020-07-01"
HEADERS = {"Metadata": "true"}


def unknown_name(*_args, **_kwargs):
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


def outcome_of(call):
    try:
        result = call()
    except Exception as error:  # whatever it is, it is compared
        return type(error)
    answer = result[0] if len(result) == 2 else result
    if answer.status == 200 and answer.body:
        assert answer.body == DOCUMENT and answer.headers["etag"] == '"2"'
    if answer.status == 429:
        assert answer.headers["retry-after"] == "7"
    return answer.status


CALLS = {
    "get": lambda transport, url, timeout: transport.get(url, HEADERS, timeout),
    "post": lambda transport, url, timeout: transport.post(url, HEADERS, b"{}", timeout),
    "get_until_changed": lambda transport, url, timeout: transport.get_until_changed(
        url, HEADERS, timeout, b"other", 0.2, 0.0
    ),
}

# What is another outcome for a POST, of whose answer nothing is read but the status.
POSTED = {"no length, and cut before the body": 200}


@pytest.mark.parametrize("kind", [RequestsTransport, HttpTransport])
@pytest.mark.parametrize("call", ["get", "post"])
@pytest.mark.parametrize("fault", FAULTS)
def test_on_the_machine(fault, call, kind, monkeypatch):
    behaviour, expected, _answers = FAULTS[fault]
    expected = POSTED.get(fault, expected) if call == "post" else expected
    if behaviour == UNKNOWN:  # no resolver is asked
        monkeypatch.setattr(socket, "getaddrinfo", unknown_name)
    with serving(behaviour) as address:
        timeout = TIMEOUT if expected is AnswerTimeout else LONG
        started = Clock().now()
        assert outcome_of(lambda: CALLS[call](kind(), address + PATH, timeout)) == expected
        assert Clock().now() - started < LONG


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault, answer", [(fault, answer) for fault in FAULTS for answer in on_windows(fault)[1]])
def test_windows(fault, answer, call):
    expected = on_windows(fault)[0]
    if call == "post" and "status" in answer:
        expected = POSTED.get(fault, expected)
    machine = Machine(gave(answer))
    assert outcome_of(lambda: CALLS[call](WindowsTransport(machine), "http://imds.test" + PATH, TIMEOUT)) == expected


@pytest.mark.parametrize("kind", [RequestsTransport, HttpTransport, WindowsTransport])
def test_all_say_when_the_answer_of_a_wait_was_asked_for_and_came(kind, tmp_path):
    played = PlayedMachine(tmp_path)
    windows = WindowsMachine("win1", lambda _module, sent: {"result": played.result(sent["parameters"]["Requests"])})
    with serving(FAULTS["nothing wrong"][0]) as address:
        transport = WindowsTransport(windows) if kind is WindowsTransport else kind()
        began = transport.clock.now()
        _answer, polls = transport.get_until_changed(address + PATH, HEADERS, LONG, DOCUMENT, 0.2, 0.4)
        ended = transport.clock.now()
    first, asked, came = transport.moments
    assert began <= first < asked <= came <= ended and polls > 1
    assert asked >= began + 0.2
