# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""look.ps1 under a real PowerShell, against a server that does every fault there is."""

import contextlib
import json
import pathlib

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import WindowsMachine
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.transport import WindowsTransport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.test_windows_contract import (
    outcome_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.faulty import (
    DOCUMENT,
    FAULTS,
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
            lambda transport, url: transport.get_until_changed(url, HEADERS, TIMEOUT, b"{}", 0.2, 60.0),
        ),
        "a wait that fails at once": (
            "500",
            lambda transport, url: transport.get_until_changed(url, HEADERS, TIMEOUT, b"{}", 0.2, 60.0),
        ),
        "a wait without a change": (
            "nothing wrong",
            lambda transport, url: transport.get_until_changed(url, HEADERS, TIMEOUT, DOCUMENT, 0.25, 1.0),
        ),
        "a wait of 304s": (
            "304",
            lambda transport, url: transport.get_until_changed(url, HEADERS, TIMEOUT, b"{}", 0.25, 1.0),
        ),
    }
)


class Recorder(BaseException):  # an Exception would become one of the connection
    """What would have been sent."""


@pytest.fixture(scope="module")
def looked(windows, tmp_path_factory):
    """What win_powershell returned, by the names of CALLS; and for the last of them in check mode."""
    folder = tmp_path_factory.mktemp("looks")
    sent = []

    def record(module, arguments):
        sent.append(arguments)
        raise Recorder

    with contextlib.ExitStack() as servers:
        for fault, call in CALLS.values():
            address = servers.enter_context(serving(FAULTS[fault][0]))
            with contextlib.suppress(Recorder):
                call(WindowsTransport(WindowsMachine("win1", record)), address + PATH)
        printed, status = playbook(
            folder,
            pathlib.Path(__file__).with_name("looks.yml"),
            windows.line,
            {"looks": sent, "results": str(folder / "results.json")},
            **windows.environment,
        )
    assert status == 0, printed
    return dict(zip(list(CALLS) + ["in check mode"], json.loads((folder / "results.json").read_text())))


@pytest.mark.parametrize("name", CALLS)
def test_the_contract(looked, name):
    fault, call = CALLS[name]
    transport = WindowsTransport(WindowsMachine("win1", lambda module, arguments: looked[name]))
    assert outcome_of(lambda: call(transport, "http://imds.test" + PATH)) == on_windows(fault)[0], looked[name]


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_thrown_and_nothing_changed(looked, name):
    assert looked[name]["error"] == []
    assert not looked[name].get("failed")
    assert looked[name]["changed"] is False
    assert looked[name]["result"]["elapsed_ms"] < 1000 * (2.0 + 5 * TIMEOUT)


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
    (answer,) = looked[name]["result"]["answers"]
    assert 1 <= answer["polls"] <= polls
    assert (answer["polls"] > 1) == (polls > 1)


def test_the_look_after_a_post_comes_along_when_that_went_well(looked):
    """Over one connection after the other, the fault's server does the same to both."""
    assert [answer.get("status") for answer in looked["a POST"]["result"]["answers"]] == [200, 200]
    refused, skipped = looked["a POST refused"]["result"]["answers"]
    assert (refused["status"], skipped["failure"]) == (400, "Skipped")
    assert looked["a POST to nobody"]["result"]["answers"][1]["failure"] == "Skipped"


def test_it_looks_in_check_mode(looked):
    assert looked["in check mode"]["result"]["answers"][0]["status"] == 304
    assert looked["in check mode"]["changed"] is False


@pytest.mark.parametrize("name", CALLS)
def test_the_milliseconds_by_which_the_age_of_an_answer_is_known(looked, name):
    found = looked[name]["result"]
    after = [answer["elapsed_ms"] for answer in found["answers"] if "elapsed_ms" in answer]
    assert after == sorted(after) and all(0 <= one <= found["elapsed_ms"] for one in after)


def test_a_wait_pauses_for_its_interval_but_before_its_end(looked):
    (answer,) = looked["a wait without a change"]["result"]["answers"]
    assert answer["elapsed_ms"] >= (answer["polls"] - 2) * 250 + 200
