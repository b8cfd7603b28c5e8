# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine that can't be asked, and which endpoints it has."""

import base64
import json
import pathlib

import pytest
from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.discovery import base_urls
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import (
    POWERSHELL,
    find_endpoints,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.windows_machine import (
    Machine,
    gave,
    problem_of,
    sent,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.faulty import answered

VECTORS = pathlib.Path(__file__).parents[4] / "vectors"

ERROR = {
    "output": "Cannot invoke method. Method invocation is supported only on core types in this language mode.",
    "fully_qualified_error_id": "MethodInvocationNotSupportedInConstrainedLanguage",
}


def said(result, **more):
    return dict(gave(), result=result, **more)


@pytest.mark.parametrize(
    "result, text, advice",
    [
        (said({}, failed=True, error=[ERROR]), "Cannot invoke method", "FullLanguage"),
        (
            said({"failure": "PowerShell", "message": "PowerShell 5.1.19041.4648, ConstrainedLanguage"}),
            "PowerShell 5.1.19041.4648, ConstrainedLanguage",
            "FullLanguage",
        ),
        (said({"failure": "PowerShell", "message": "PowerShell 3.0, FullLanguage"}), "PowerShell 3.0", "5.1 or newer"),
        (
            said({"failure": "PowerShell", "message": "PowerShell 5.0.10586.117, FullLanguage"}),
            "5.0.10586",
            "5.1 or newer",
        ),
        (
            {
                "failed": True,
                "msg": 'This module cannot run as it requires a minimum PowerShell version of 5.1, actual was "4.0"',
            },
            "actual was",
            "5.1 or newer",
        ),
        (
            {
                "failed": True,
                "msg": "Unhandled exception",
                "module_stderr": "[X] does not contain a method named 'new'.",
            },
            "Unhandled exception",
            "5.1 or newer",
        ),
        (
            AnsibleError("winrm or requests is not installed: No module named 'winrm'"),
            "No module",
            "pip install pywinrm",
        ),
        ({"failed": True, "msg": "Access is denied"}, "Access is denied", "local administrator"),
        (
            {"failed": True, "msg": "cannot be loaded because running scripts is disabled on this system"},
            "is disabled",
            "Get-ExecutionPolicy",
        ),
        (
            {"failed": True, "msg": "MODULE FAILURE", "module_stdout": "", "module_stderr": "boom"},
            "MODULE FAILURE",
            "win_ping",
        ),
        ({"failed": True, "msg": 7, "error": "none"}, "did not say why", "win_ping"),
        ({"changed": True, "msg": "skipped, running in check mode"}, "skipped, running", "win_ping"),
        (said({}), "did not say why", "win_ping"),
        (said(None), "did not say why", "win_ping"),
        (said("text"), "did not say why", "win_ping"),
        (gave(answered(200), failed=True), "did not say why", "win_ping"),
        ({}, "did not say why", "win_ping"),
    ],
)
def test_what_keeps_a_machine_from_looking(result, text, advice):
    message = problem_of(result)
    assert POWERSHELL in message
    assert text in message
    assert advice in message


@pytest.mark.parametrize(
    "result, text",
    [
        (answered(200), "it has no list of answers"),
        ({"answers": "none"}, "it has no list of answers"),
        ({"answers": [answered(200), 7]}, "it has no list of answers"),
        ({"answers": []}, "1 requests got 0 answers"),
        ({"answers": [answered(200)] * 2}, "1 requests got 2 answers"),
    ],
)
def test_answers_that_are_not_one_for_each_request(result, text):
    assert text in problem_of(said(result))


def test_what_is_asked_together_is_one_exchange():
    machine = Machine(gave({"body": "eA=="}, {"files": {}}), gave({"body": None}))
    assert machine.ask({"Do": "read"}, {"Do": "folder", "Stop": True}) == [{"body": "eA=="}, {"files": {}}]
    assert machine.ask({"Do": "read"}) == [{"body": None}]
    assert sent(machine) == [
        [{"Do": "read", "Stop": False, "Expect": {}}, {"Do": "folder", "Stop": True, "Expect": {}}],
        [{"Do": "read", "Stop": False, "Expect": {}}],
    ]


def test_a_machine_that_was_lost_is_not_asked_again():
    machine = Machine(AnsibleConnectionFailure("gone"))
    for _time in range(2):
        with pytest.raises(AnsibleConnectionFailure):
            machine.ask({"Do": "read"})
    assert len(machine.calls) == 1


def test_no_result_at_all():
    assert "a NoneType instead of a result" in problem_of(None)


# --- discovery ---


def interfaces(*options, problems=()):
    """What interfaces.ps1 finds."""
    kept = [base64.b64encode(bytes.fromhex(one)).decode() for one in options]
    return gave({"changed": False, "result": {"options": kept, "problems": list(problems)}})


VALUES = [
    case
    for case in json.loads((VECTORS / "leases.json").read_text())["cases"]
    if case["form"] == "windows_interface_options"
]


@pytest.mark.parametrize("case", VALUES, ids=[case["name"] for case in VALUES])
def test_the_vectors_as_the_registry_has_them(case):
    found = find_endpoints(Machine(interfaces(case["hex"])))
    assert found.endpoints == base_urls([case["address"]])
    assert found.skipped == ()


def test_discovery_asks_once_for_every_interface():
    value = "f5000000000000000400000000000000ffffff7fa83f8110"
    machine = Machine(interfaces("", value, value, problems=["{B}: DhcpInterfaceOptions\nis not binary"]))
    found = find_endpoints(machine)
    assert found.endpoints == ("http://168.63.129.16", "http://168.63.129.16:8080")
    assert found.skipped == ("{B}: DhcpInterfaceOptions is not binary",)
    (((asked,),)) = sent(machine)
    assert asked["Do"] == "script" and "Tcpip" in asked["Text"] and asked["Parameters"] == {}


def test_discovery_says_why_nothing_can_be_read():
    machine = Machine(gave({"failure": "Unknown", "message": "Access is denied", "part": "script"}))
    found = find_endpoints(machine)
    assert found.endpoints == () and "local administrator" in found.skipped[0]
    assert found.skipped[0].startswith("win1: PowerShell did not do its work")
    assert machine.lost is None, "its endpoint may come from elsewhere"
