# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine that gives the results which a test wants."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import (
    POWERSHELL,
    WindowsMachine,
    WindowsProblem,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.transport import WindowsTransport

URL = "http://imds.test/metadata/scheduledevents?api-version=2020-07-01"
BODY = b'{"DocumentIncarnation": 2, "Events": []}'


class Machine(WindowsMachine):
    """A machine that gives these results in turn, and remembers what it was asked."""

    def __init__(self, *results):
        super().__init__("win1", self.run)
        self.results = list(results)
        self.calls = []

    def run(self, module, arguments):
        self.calls.append((module, arguments))
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


def gave(*answers, **more):
    """What comes back when look.ps1 has answered this to one request after the other."""
    return dict({"result": {"answers": list(answers)}}, **more)


def sent(machine):
    """The requests of each exchange."""
    assert [module for module, _arguments in machine.calls] == [POWERSHELL] * len(machine.calls)
    return [arguments["parameters"]["Requests"] for _module, arguments in machine.calls]


def exchange(method, **more):
    """What is sent for one exchange."""
    request = {
        "Do": "http",
        "Stop": False,
        "Expect": {},
        "Method": method,
        "Url": URL,
        "Headers": {},
        "Body": "",
        "TimeoutMs": 10000,
        "MaxBytes": 1048576,
        "Known": "",
        "IntervalMs": 0,
        "LimitMs": 0,
        "FromMs": 0,
        "UntilMs": 0,
    }
    return dict(request, **more)


def problem_of(result, call=None):
    """The message of the problem that this result is."""
    machine = Machine(result)
    call = call or (lambda transport: transport.get(URL, {}, 10.0))
    with pytest.raises(WindowsProblem) as caught:
        call(WindowsTransport(machine))
    assert caught.value.kind == "invalid"
    assert caught.value.message.startswith("win1: ")
    assert caught.value.message.isprintable()
    assert len(machine.calls) == 1
    return caught.value.message
