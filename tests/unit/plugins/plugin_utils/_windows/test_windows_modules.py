# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the PowerShell that stays says in the place of modules. tests/windows has a real one."""

import base64
import json
import math

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.way import STATUS, Order, script
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import (
    WindowsMachine,
    WindowsProblem,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.modules import SERVICE, said_instead
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock

PLACE = "%USERPROFILE%\\.ansible_async"


class Stays:
    """Answers so, and keeps what it was asked."""

    def __init__(self, **answer):
        self.answer, self.asked = answer, []

    def __call__(self, requests):
        self.asked += requests
        return {"answers": [self.answer]}


def machine(look, clock=None):
    def execute(module, arguments):
        return {"result": look(arguments["parameters"]["Requests"])}

    return WindowsMachine("win1", execute, clock or ScriptedClock())


def file(content):
    return {"body": content if content is None else base64.b64encode(content.encode()).decode()}


STARTED = {"started": 1, "finished": 0, "ansible_job_id": "j1"}


@pytest.mark.parametrize(
    "content, came",
    [
        (json.dumps(STARTED), STARTED),
        (
            "\ufeff" + json.dumps({"rc": 3, "stdout": "x"}),
            {"rc": 3, "stdout": "x", "finished": 1, "ansible_job_id": "j1"},
        ),
        ('{"started": 1}', {"started": 1, "finished": 0}),
        ("", STARTED),
        (None, {"failed": True, "msg": "could not find job", **STARTED, "finished": 1}),
        ('{"rc": 3', None),
    ],
)
def test_a_job_is_looked_at_as_the_module_does(content, came):
    stays = Stays(**file(content))
    assert said_instead(Order(STATUS, {"jid": "j1"}), PLACE, machine(stays)) == came
    assert {(one["Do"], one["Path"]) for one in stays.asked} == {("read", f"{PLACE}\\j1")}


def test_a_look_waits_a_moment_for_the_end_of_a_job():
    clock = ScriptedClock()
    stays = Stays(**file(json.dumps(STARTED)))

    def look(requests):
        if clock.now() - began > 1.1:
            stays.answer = file('{"rc": 0}')
        return stays(requests)

    began = clock.now()
    assert said_instead(Order(STATUS, {"jid": "j1"}), PLACE, machine(look, clock))["finished"] == 1
    assert 1.1 < clock.now() - began < 1.5
    began = math.inf
    stays.answer = file(json.dumps(STARTED))
    asked = len(stays.asked)
    assert said_instead(Order(STATUS, {"jid": "j1"}), PLACE, machine(look, clock))["finished"] == 0
    assert len(stays.asked) - asked == 9, "for two seconds, four times a second"


def test_what_can_not_be_read_is_left_to_the_module():
    stays = Stays(failure="Unknown", message="it has 2000000 bytes")
    assert said_instead(Order(STATUS, {"jid": "j1"}), PLACE, machine(stays)) is None
    assert (
        said_instead(Order(STATUS, {"jid": "j1"}), "~\\.ansible_async", machine(stays)) is None
        and len(stays.asked) == 1
    )


def test_a_job_s_file_is_removed():
    stays = Stays(changed=True, result=None)
    assert said_instead(Order(STATUS, {"jid": "j1", "mode": "cleanup"}), PLACE, machine(stays))["failed"] is False
    (asked,) = stays.asked
    assert asked["Do"] == "script" and asked["Parameters"] == {"Folder": PLACE, "Name": "j1"}


@pytest.mark.parametrize(
    "answer, came",
    [
        ({"changed": False, "result": {"left": 2}}, {"changed": False, "failed": False, "result": {"left": 2}}),
        ({"failure": "Unknown", "message": "no such host"}, {"changed": False, "failed": True, "msg": "no such host"}),
    ],
)
def test_a_script_says_what_it_says_in_its_module(answer, came):
    stays = Stays(**answer)
    assert said_instead(script("connections.ps1", Port=80, Exclude=""), PLACE, machine(stays)) == came
    (asked,) = stays.asked
    assert asked["Parameters"] == {"Port": 80, "Exclude": "", "Limit": 1} and "Get-NetTCPConnection" in asked["Text"]


@pytest.mark.parametrize("services", [[{"name": "x", "state": "started"}], []])
def test_the_state_of_a_service_is_found_as_its_module_does(services):
    stays = Stays(changed=False, result={"services": services})
    came = said_instead(Order(SERVICE, {"name": "x"}), PLACE, machine(stays))
    assert came == {"changed": False, "failed": False, "exists": bool(services), "services": services}
    assert stays.asked[0]["Parameters"] == {"Name": "x"}
    broken = Stays(failure="Unknown", message="no")
    with pytest.raises(WindowsProblem, match='"no"'):
        said_instead(Order(SERVICE, {"name": "x"}), PLACE, machine(broken))


def test_other_modules_are_called():
    assert said_instead(Order("ansible.windows.win_service", {"name": "x"}), PLACE, machine(Stays())) is None
