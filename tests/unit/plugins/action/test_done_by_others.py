# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole run of role maintain whose steps are done by a machine that they are delegated to, and by Ansible's modules for Windows."""

import json
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.maintained import (
    happened,
    maintained,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import MAINTAIN, PLAYS

NAMES = ("linux1", "linux2", "win1")
HOSTS = (
    f"[linux]\nlinux[1:2] ansible_connection=local ansible_python_interpreter={sys.executable}\n"
    "[windows]\nwin1 ansible_host=win1 ansible_connection=standin ansible_shell_type=powershell\n"
)
SCENARIO = {"settings": {"rate_limit": 0}, "vms": [{"name": name, "scope": "web"} for name in NAMES], "events": []}
EVENT = {"type": "Reboot", "resources": ["linux2", "win1"], "notice": 36000, "tail": 10}


def steps(folder, control):
    """A job that goes on over several ticks, and an answer that is waited for; a service that the stand-in stops in two looks."""
    done = f"echo $WHAT >> {folder}/done; sleep 4; echo end >> {folder}/done"
    return [
        {
            "type": "command",
            "name": "Drain",
            "systems": ["linux"],
            "do": ["sh", "-c", done],
            "undo": ["sh", "-c", f"echo undone >> {folder}/done"],
            "environment": {"WHAT": "geheim"},
            "delegate_to": "linux1",
            "no_log": True,
        },
        {
            "type": "command",
            "systems": ["linux"],
            "do": ["sh", "-c", f"echo $0 >> {folder}/done", "{% raw %}{{nobody}}{% endraw %}"],
            "delegate_to": "linux1",
        },
        {
            "type": "http",
            "systems": ["linux"],
            "do": {"url": f"{control}/state", "method": "GET", "until": {"contains": "requests"}},
            "delegate_to": "linux1",
        },
        {"type": "service", "name": "Shop", "systems": ["windows"]},
    ]


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """What was printed; what was begun on the machine that steps are delegated to; what the Windows machine was sent."""
    folder = tmp_path_factory.mktemp("others")
    (folder / "calls").touch()

    def variables(control):
        return {
            **MAINTAIN,
            "azure_maintenance_hosts": ",".join(NAMES),
            "azure_maintenance_folder": f"{folder}/marks/{{{{ inventory_hostname }}}}",
            "drain_steps": steps(folder, control),
        }

    played = {"ANSIBLE_CONNECTION_PLUGINS": str(PLAYS), "STANDIN_LOG": str(folder / "calls")}
    printed, status = maintained(folder, HOSTS, SCENARIO, EVENT, variables, **played)
    assert status == 0, printed
    calls = [json.loads(line) for line in (folder / "calls").read_text().splitlines()]
    return printed, (folder / "done").read_text().split(), [call[1:3] for call in calls]


def test_each_is_done_once_and_taken_back_once(done):
    printed, begun, _calls = done
    assert happened(printed) == ["prepared", "prepared", "approved", "recovered", "recovered"]
    assert begun == ["geheim", "end", "{{nobody}}", "undone"]


def test_the_windows_service_is_stopped_and_started_and_looked_at_until_it_is(done):
    sent = [
        f"{name.rpartition('.')[2]} {options.get('state', '')} {options.get('start_mode', '')}".rstrip()
        for name, options in done[2]
        if name != "look.ps1"
    ]
    looked_at = ["job"] * 2
    removed = ["remove"] * 2  # Ansible's file of each job
    before = ["ps1"] * 2  # before the run waits, and before the step is begun
    assert sent == [
        *before,
        "win_service stopped manual",
        *looked_at,
        "ps1",  # once more before the approval, as the other machine takes longer
        "win_service started delayed",
        *looked_at,
        *removed,
    ]


def test_nothing_secret_is_printed(done):
    assert "geheim" not in done[0] and "[DEPRECATION" not in done[0], done[0]
