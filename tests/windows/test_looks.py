# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""look.ps1 under a real PowerShell, against a server that does every fault there is."""

import contextlib
import functools
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import WindowsMachine
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.transport import WindowsTransport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.test_windows_contract import (
    outcome_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.faulty import (
    DOCUMENT,
    FAULTS,
    LONG,
    TIMEOUT,
    on_windows,
    serving,
)

PATH = "/metadata/scheduledevents?api-version=2020-07-01"
HEADERS = {"Metadata": "true", "If-None-Match": '"1"'}
POST = {"Metadata": "true", "Content-Type": "application/json"}

# name: (fault, what the Transport is asked)
CALLS = {name: (name, lambda transport, url: transport.get(url, HEADERS, TIMEOUT)) for name in FAULTS}
CALLS.update(
    {
        "a POST": (
            "nothing wrong",
            lambda transport, url: transport.post(url, POST, b'{"StartRequests": []}', TIMEOUT),
        ),
        "a POST refused": ("400", lambda transport, url: transport.post(url, POST, b"{}", TIMEOUT)),
        "a POST to nobody": ("connection refused", lambda transport, url: transport.post(url, POST, b"{}", TIMEOUT)),
        "a wait that ends at once": (
            "nothing wrong",
            lambda transport, url: transport.get_until_changed(url, HEADERS, LONG, b"{}", 0.2, 60.0),
        ),
        "a wait that fails at once": (
            "500",
            lambda transport, url: transport.get_until_changed(url, HEADERS, LONG, b"{}", 0.2, 60.0),
        ),
        "a wait without a change": (
            "nothing wrong",
            lambda transport, url: transport.get_until_changed(url, HEADERS, LONG, DOCUMENT, 0.25, 1.0),
        ),
        "a wait of 304s": (
            "304",
            lambda transport, url: transport.get_until_changed(url, HEADERS, LONG, b"{}", 0.25, 1.0),
        ),
    }
)


class Recorder:
    """A machine that is this one, and what look.ps1 said."""

    def __init__(self, look):
        self._look, self.results = look, []

    def __call__(self, _module, arguments):
        found = self._look(arguments["parameters"]["Requests"])
        self.results.append(found["answers"])
        return {"result": found}


@pytest.fixture(scope="module")
def looked(look):
    """What came of each of CALLS, the answers of look.ps1 in each exchange, and how many seconds it took."""
    found = {}
    with contextlib.ExitStack() as servers:
        for name, (fault, call) in CALLS.items():
            address = servers.enter_context(serving(FAULTS[fault][0]))
            record = Recorder(look)
            asked = functools.partial(call, WindowsTransport(WindowsMachine("win1", record)), address + PATH)
            began = time.monotonic()
            found[name] = outcome_of(asked), record.results, time.monotonic() - began
    return found


@pytest.mark.parametrize("name", CALLS)
def test_the_contract(looked, name):
    outcome, said, _seconds = looked[name]
    assert outcome == on_windows(CALLS[name][0])[0], said


@pytest.mark.parametrize("name", CALLS)
def test_it_comes_in_time(looked, name):
    assert looked[name][2] < 2.0 + 5 * TIMEOUT


@pytest.mark.parametrize(
    "name, polls",
    [
        ("a wait that ends at once", 1),
        ("a wait that fails at once", 1),
        ("a wait without a change", 5),
        ("a wait of 304s", 5),
    ],
)
def test_how_often_it_polled(looked, name, polls):
    ((answer,),) = looked[name][1]
    assert 1 <= answer["polls"] <= polls
    assert (answer["polls"] > 1) == (polls > 1)


def test_a_wait_pauses_for_its_interval_but_before_its_end(looked):
    _outcome, ((answer,),), seconds = looked["a wait without a change"]
    assert seconds >= (answer["polls"] - 2) * 0.25 + 0.2
