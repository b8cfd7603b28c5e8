# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An action on a connection of the real plugins, and a machine behind it that plays a script."""

import base64
import contextlib
import json
import pathlib
import types
from unittest.mock import ANY

from ansible.parsing.dataloader import DataLoader
from ansible.playbook.play_context import PlayContext
from ansible.plugins import loader
from ansible.template import Templar

from ansible_collections.cloudops.azure_maintenance.plugins.action import (
    scheduled_events_approve,
    scheduled_events_info,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows import machine

ENDPOINT = "http://imds.test"
EVENTS = ENDPOINT + "/metadata/scheduledevents?api-version=2020-07-01"
NAME = ENDPOINT + "/metadata/instance/compute/name?api-version=2021-02-01&format=text"
TASK_VARS = {"inventory_hostname": "win1"}
ACTIONS = {"info": scheduled_events_info, "approve": scheduled_events_approve}

# name: (connection plugin, its shell where that is not the plugin's own, whether it leads to a Windows machine)
CONNECTIONS = {
    "winrm": ("winrm", None, True),
    "psrp": ("psrp", None, True),
    "ssh to PowerShell": ("ssh", "powershell", True),
    "ssh to cmd": ("ssh", "cmd", True),
    "ssh": ("ssh", None, False),
    "local": ("local", None, False),
}


def connection(name):
    plugin, shell, _windows = CONNECTIONS[name]
    context = PlayContext()
    if shell:
        context.shell = shell
    return loader.connection_loader.get(plugin, context, "/dev/null")


def action_of_task(plugin, arguments, over=None, check_mode=False, async_val=0, delegate_to=None):
    """The action of a task, as Ansible makes it.

    :arg plugin: its Python module
    :arg over: a connection; one to this machine unless it is given
    """
    task = types.SimpleNamespace(
        action="cloudops.azure_maintenance." + plugin.__name__.rpartition(".")[2],
        args=arguments,
        check_mode=check_mode,
        async_val=async_val,
        delegate_to=delegate_to,
        run_once=False,
        poll=0,
        _parent=None,
        diff=False,
        environment=[],
        collections=[],
    )
    data_loader = DataLoader()
    over = over or connection("local")
    return plugin.ActionModule(task, over, PlayContext(), data_loader, Templar(data_loader), loader)


def action(operation, over, script, check_mode=False, async_val=0, delegate_to=None, **options):
    """The action with these options, over a connection of that name, to a machine that plays this script."""
    module = action_of_task(ACTIONS[operation], options, connection(over), check_mode, async_val, delegate_to)
    module._execute_module = script
    module._connection.script = script
    module._remove_tmp_path = script.removed.append
    return module


class Script:
    """Calls that must come in this order, and what each gets."""

    def __init__(self, *expected, clock=None):
        self.expected = [call for one in expected for call in (one if isinstance(one, Both) else [one])]
        self.clock = clock
        self.removed = []

    def __call__(self, module_name=None, module_args=None, task_vars=None, wrap_async=False):
        assert TASK_VARS.items() <= task_vars.items()
        assert not wrap_async
        return self._next(module_args)

    def look(self, requests):
        """One exchange with the PowerShell that stays."""
        assert all(request.get("MaxBytes", 1048576) == 1048576 for request in requests)
        return self._next([{key: request[key] for key in request if key != "MaxBytes"} for request in requests])[
            "result"
        ]

    def _next(self, arguments):
        assert self.expected, f"nothing more was expected, but {arguments}"
        expected = self.expected.pop(0)
        assert arguments == expected.arguments
        if self.clock:
            self.clock.elapsed += expected.takes
        if isinstance(expected.result, Exception):
            raise expected.result
        return expected.result

    def finish(self):
        assert not self.expected


class Stays:
    """What plays the PowerShell that stays over a connection: its script."""

    def __init__(self, connection, _logins):
        self._script = connection.script

    def look(self, requests, _seconds):
        return self._script.look(requests)

    def alone(self):
        return contextlib.nullcontext()

    def close(self):
        pass


class Call:
    """An exchange, of which `arguments` are the requests and `result` holds an answer to each; or a module."""

    def __init__(self, arguments, result, takes=0.0):
        self.arguments = arguments
        self.result = result
        self.takes = takes

    def __add__(self, other):
        return Both((self, other))


class Both(tuple):
    """One after the other."""

    @property
    def arguments(self):
        return [request for call in self for request in call.arguments]


def _sent(url, method="GET", timeout=10000, **more):
    request = {
        "Do": "http",
        "Stop": False,
        "Expect": {},
        "Method": method,
        "Url": url,
        "Headers": {"Metadata": "true"},
        "Body": "",
        "TimeoutMs": timeout,
        "Known": "",
        "IntervalMs": 0,
        "LimitMs": 0,
        "FromMs": 0,
        "UntilMs": 0,
    }
    return [dict(request, **more)]


def _result(*answers):
    return {"result": {"answers": list(answers)}}


def _gave(status, body, headers, polls=1):
    return _result({"status": status, "headers": headers, "body": _base64(body), "polls": polls})


def _base64(data):
    return base64.b64encode(data).decode("ascii")


def look(body, first=False, etag="", takes=0.0):
    """A single look at the document."""
    return Call(
        _sent(EVENTS, timeout=125000 if first else 10000), _gave(200, body, {"etag": etag} if etag else {}), takes
    )


def own_name(name=b"win1"):
    """The machine's name."""
    return Call(_sent(NAME, timeout=ANY), _gave(200, name, {}))


def wait(known, limit, body=None, etag="", polls=5, takes=0.0, interval=1000):
    """Looking until the document is not `known` any more; it becomes `body`, or stays."""
    arguments = _sent(EVENTS, Known=_base64(known), IntervalMs=interval, LimitMs=limit)
    if etag:
        arguments[0]["Headers"] = {"Metadata": "true", "If-None-Match": etag}
    if body is None:
        result = _gave(304, b"", {}, polls) if etag else _gave(200, known, {}, polls)
    else:
        result = _gave(200, body, {}, polls)
    return Call(arguments, result, takes)


def approval(*event_ids):
    sent = json.dumps({"StartRequests": [{"EventId": event_id} for event_id in event_ids]}).encode()
    headers = {"Metadata": "true", "Content-Type": "application/json"}
    return Call(_sent(EVENTS, "POST", Body=_base64(sent), Headers=headers), _gave(200, b"", {"content-length": "0"}))


def interfaces(*options):
    """What the DHCP client of Windows keeps of its interfaces."""
    text = (pathlib.Path(machine.__file__).with_name("interfaces.ps1")).read_text(encoding="ascii")
    asked = {"Do": "script", "Stop": False, "Expect": {}, "Text": text, "Parameters": {}}
    return Call([asked], _result({"result": {"options": [_base64(one) for one in options], "problems": []}}))


def failure(call, name, message="?"):
    """The same call, but it fails, and what would come after it does not."""
    return answering(call, {"failure": name, "message": message, "part": "head", "polls": 1})


def answering(call, answer):
    """The same call, but it gets this answer, and what would come after it does not."""
    return instead(call, _result(answer))


def instead(call, result):
    """The same call, but another result."""
    first = call[0] if isinstance(call, Both) else call
    return Call(first.arguments, result, first.takes)
