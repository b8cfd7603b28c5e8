# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a real PowerShell that stays says in the place of modules, with functions for the cmdlets that only Windows has."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.way import STATUS, Order, script
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import WindowsMachine
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.modules import SERVICE, said_instead

CMDLETS = """
function global:Get-NetTCPConnection {
    [CmdletBinding()] param($LocalPort, $State)
    @{ RemoteAddress = '10.0.0.5' }, @{ RemoteAddress = '::ffff:10.0.0.6' } | ForEach-Object { [pscustomobject]$_ }
}
function global:Get-Service {
    [CmdletBinding()] param($Name)
    $found = @{ Name = 'W3SVC'; Status = 'Running'; StartType = 'Automatic' },
    @{ Name = 'a[b]*'; Status = 'StopPending'; StartType = 'Automatic' }, @{ Name = 'Odd'; Status = 'Stopped'; StartType = 'Manual' }
    if ($Name -eq 'World Wide Web') { return [pscustomobject]$found[0] }
    if ($Name) { Write-Error "no service $Name"; return }
    $found | ForEach-Object { [pscustomobject]$_ }
}
function global:Get-ItemProperty {
    [CmdletBinding()] param($LiteralPath, $Name)
    if ($LiteralPath -eq 'HKLM:\\SYSTEM\\CurrentControlSet\\Services\\a[b]*') { return [pscustomobject]@{ DelayedAutostart = 1 } }
    if ($Name -ne 'DelayedAutostart' -or $LiteralPath -notlike '*W3SVC') { throw $LiteralPath }
    Write-Error "no value $Name"
}
function global:Get-ChildItem {
    [CmdletBinding()] param($LiteralPath)
    if ($LiteralPath -notlike 'HKLM:*\\Tcpip\\Parameters\\Interfaces') { throw $LiteralPath }
    $kept = @{ '{A}' = $null; '{B}' = [byte[]](245, 0, 255); '{C}' = 'text'; '{E}' = [byte[]]@() }
    foreach ($name in $kept.Keys | Sort-Object) {
        $value = $kept[$name]
        $key = [pscustomobject]@{ PSChildName = $name }
        $get = { param($Name) if ($Name -eq 'DhcpInterfaceOptions') { return , $value } }.GetNewClosure()
        $key | Add-Member -MemberType ScriptMethod -Name GetValue -Value $get -PassThru
        if ($name -eq '{B}') {
            Write-Error -Exception (New-Object System.Security.SecurityException 'No access.') -TargetObject '{D}'
        }
    }
}
"""


@pytest.fixture
def machine(look):
    look([{"Do": "script", "Text": CMDLETS, "Parameters": {}, "Stop": False, "Expect": {}}])
    return WindowsMachine("win1", lambda _module, arguments: {"result": look(arguments["parameters"]["Requests"])})


@pytest.fixture
def said(machine):
    return lambda order, place="/nowhere": said_instead(order, str(place), machine)


def test_a_script_of_a_step(said):
    came = said(script("connections.ps1", Port=80, Exclude="10.0.0.6"))
    assert (came["failed"], came["changed"], came["result"]["left"]) == (False, False, 1)


def test_one_that_fails_says_why(said):
    came = said(script("connections.ps1", Port=80, Exclude="no.such.name.invalid"))
    assert came["failed"] and came["msg"].startswith("host no.such.name.invalid of exclude is not known")


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("w3svc", [("started", "auto")]),
        ("World Wide Web", [("started", "auto")]),
        ("a[b]*", [("stop_pending", "delayed")]),
        ("odd", [("stopped", "manual")]),
        ("x", []),
    ],
)
def test_the_state_of_a_service(said, name, states):
    came = said(Order(SERVICE, {"name": name}))
    assert [(one["state"], one["start_mode"]) for one in came["services"]] == states
    assert came["exists"] is bool(states)


def test_what_the_dhcp_client_keeps_of_the_interfaces(machine):
    found = machine.script("interfaces.ps1")
    assert found["options"] == ["9QD/", ""], "and of those after one that can't be opened"
    denied = "{D}: No access. Log in as a local administrator."
    assert found["problems"] == ["{C}: DhcpInterfaceOptions is not binary", denied]


def test_a_job(said, tmp_path):
    said_of = {"rc": 3, "stdout": "caf\u00e9 \u2028", "start": "2026-11-29 12:00:00"}
    (tmp_path / "j1").write_text(json.dumps(said_of), encoding="utf-8")
    came = said(Order(STATUS, {"jid": "j1"}), tmp_path)
    assert came == dict(said_of, finished=1, ansible_job_id="j1"), "a text that looks like a date stays a text"
    said(Order(STATUS, {"jid": "j1", "mode": "cleanup"}), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert said(Order(STATUS, {"jid": "j2"}), tmp_path)["msg"] == "could not find job"
