# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The whole playbooks of the guide's page about the modules, as they stand there, against an emulator."""

import os
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import ENDPOINT, journal_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, playbook
from ansible_collections.cloudops.azure_maintenance.tests.unit.test_docs import blocks, page

ONE, GROUP = "Go through the maintenance of one host", "Go through the maintenance of a group"
ROLE = "Go through the maintenance of a group with the role"
FILES = {"take_out.yml": "Stop the web server", "put_back.yml": "Start the web server"}
NAMES = ("web1", "web2", "web3")
LOCAL = f"\n[web:vars]\nansible_python_interpreter={sys.executable}\n"


CUT = '''
DOCUMENTATION = """
name: cut
short_description: This machine, and the connection is lost once, at the end of a wait for an event's end
description: As above.
extends_documentation_fragment: connection_pipelining
"""
import pathlib

from ansible.errors import AnsibleConnectionFailure
from ansible.plugins.connection import local


class Connection(local.Connection):
    transport = "cut"

    def exec_command(self, *args, **options):
        result = super().exec_command(*args, **options)
        cut = pathlib.Path(__file__).with_name("cut")
        if b'"wait_for": "gone"' in result[1] and not cut.exists():
            cut.touch()
            raise AnsibleConnectionFailure("The machine is rebooted")
        return result
'''


class Run:
    """What came of a playbook of the page.

    :arg fails: the arguments with which a program fails
    :attr services: what was done to the service, and what handlers noted, in order
    :attr causes: of each start of an event
    :attr ends: of each event that is over
    """

    def __init__(self, folder, name, hosts, connection="local", fails="", **event):
        (folder / "cut.py").write_text(CUT)
        for file, title in {"play.yml": name, **FILES}.items():
            (text,) = (body for body in blocks(page("modules"), "yaml") if body.startswith(f"- name: {title}\n"))
            (folder / file).write_text(text)
        programs = folder / "bin"
        programs.mkdir()
        for program in ("systemctl", "logger"):
            (programs / program).write_text(f'#!/bin/sh\necho "$@" >>{folder}/services\n[ "$*" != "{fails}" ]\n')
            (programs / program).chmod(0o755)
        scenario = {
            "settings": {"rate_limit": 0},
            "vms": [{"name": name, "scope": "web"} for name in NAMES],
            "events": [dict(event, type="Reboot", tail=20)],
        }
        with emulator(folder, scenario, "--speed", "10") as (address, _control):
            self.printed, self.status = playbook(
                folder,
                folder / "play.yml",
                "[web]\n" + "\n".join(hosts) + LOCAL + ENDPOINT,
                {
                    "emulator": address,
                    "ansible_become": False,
                    "ansible_connection": connection,
                    "azure_maintenance_folder": f"{folder}/marks/{{{{ inventory_hostname }}}}",
                },
                ANSIBLE_CONNECTION_PLUGINS=str(folder),
                ANSIBLE_INJECT_INVOCATION="true",  # by which CUT knows the task
                PATH=f"{programs}{os.pathsep}{os.environ['PATH']}",
            )
        services = folder / "services"
        self.services = services.read_text().splitlines() if services.exists() else []
        journal = journal_of(folder)
        self.causes = [entry["cause"] for entry in journal if entry["kind"] == "started"]
        self.ends = [entry["outcome"] for entry in journal if entry["kind"] == "gone"]


def test_one_host(tmp_path):
    run = Run(tmp_path, ONE, ["web1"], resources=["web1"], notice=36000)
    assert run.status == 0, run.printed
    assert run.services == ["stop nginx", "start nginx"]
    assert (run.causes, run.ends) == (["approved"], ["completed"])
    assert "[WARNING]: Event" not in run.printed and "[WARNING]: This task waits" not in run.printed


def test_one_host_that_is_rebooted(tmp_path):
    """The connection is lost in the middle of the wait."""
    run = Run(tmp_path, ONE, ["web1"], "cut", resources=["web1"], notice=36000)
    assert run.status == 0, run.printed
    assert "The machine is rebooted" in run.printed and run.printed.count("skipping: ") == 0
    assert run.services == ["stop nginx", "start nginx"]


def test_one_host_whose_event_is_not_approved(tmp_path):
    """It stays out of service until Azure has started the event and ended it."""
    run = Run(tmp_path, ONE, ["web1"], resources=["web1", "web2"], notice=120)
    assert run.status == 0, run.printed
    assert run.services == ["stop nginx", "start nginx"]
    assert run.causes != ["approved"] and run.ends == ["completed"]
    assert "[WARNING]: Event " in run.printed


@pytest.mark.parametrize("affected", [["web1"], ["web2", "web3"]])
def test_a_group(tmp_path, affected):
    run = Run(tmp_path, GROUP, NAMES, resources=affected, notice=36000)
    assert run.status == 0, run.printed
    assert run.services == ["stop nginx"] * len(affected) + ["start nginx"] * len(affected)
    assert (run.causes, run.ends) == (["approved"], ["completed"])
    assert "[WARNING]: Event" not in run.printed and "[WARNING]: This task waits" not in run.printed


def test_a_group_all_of_which_is_affected(tmp_path):
    run = Run(tmp_path, GROUP, NAMES, resources=list(NAMES), notice=36000)
    assert run.status != 0 and "affects all hosts. Nothing was changed." in run.printed
    assert (run.services, run.causes) == ([], [])


def test_the_role_with_task_files_and_handlers_of_ones_own(tmp_path):
    """Handlers of one that is out of service run before the file that puts it back."""
    run = Run(tmp_path, ROLE, NAMES, resources=["web1"], notice=36000)
    assert run.status == 0, run.printed
    out, back = ("web1 was taken out of service", "web1 is back in service")
    assert run.services == ["stop nginx", out, "start nginx", back]
    assert (run.causes, run.ends) == (["approved"], ["completed"])
    # Of Ansible's loops, which print a line for each round: those that most events need
    assert run.printed.count("included: ") <= 13, run.printed


def test_a_handler_that_fails_leaves_no_host_out_of_service(tmp_path):
    run = Run(tmp_path, ROLE, NAMES, fails="web1 was taken out of service", resources=["web1"], notice=36000)
    assert run.status == 2 and "handler Note that the host was taken out of service failed" in run.printed, run.printed
    assert run.services == ["stop nginx", "web1 was taken out of service", "start nginx"]
    assert run.causes == ["approved"]
