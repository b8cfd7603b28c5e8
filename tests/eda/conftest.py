# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines of three scopes, and one that shares none, on this machine: the emulator is their metadata service."""

import fcntl
import json
import subprocess

import pytest
from page import example
from rulebook import SECRET, Rulebook, program
from watched import Watched

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.installed import build

MANAGED = ["own1", "own2"]
"""Their watchers prepare them; the others' only report."""

SCOPES = {"web": ["web1", "web2"], "7": ["db1"], "app": ["app1"], "own": MANAGED, "": ["lone"]}
"""One is a number: nothing on the way of a label may make anything else of it than a name."""

NAMED = {"": "lonely", "app": "named_otherwise"}
"""Groups of the inventory that are not called as their scope; the one of app is made by the guide's example."""


class Site:
    """All of it together."""

    def __init__(self, folder, world, rulebook):
        self.world, self.rulebook = world, rulebook
        self.folder = folder
        self.machines = {}
        self._journal = folder / "journal"

    def write_inventory(self, **more):
        """:arg more: further variables of single hosts"""
        groups = {}
        for scope, hosts in SCOPES.items():
            variables = {"azure_maintenance_scope": scope} if scope else {}
            if scope == "own":
                variables["drain_steps"] = []  # their watchers have hooks
            groups[NAMED.get(scope, scope)] = {"hosts": {name: more.get(name, {}) for name in hosts}, "vars": variables}
        step = "echo {0} {{{{ inventory_hostname }}}} >> " + str(self._journal)
        everyone = {
            "ansible_connection": "local",
            "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            "azure_maintenance_endpoint": self.world.running.metadata + "/vm/{{ inventory_hostname }}",
            "azure_maintenance_folder": str(self.folder) + "/{{ inventory_hostname }}/state",
            "maintain_max_unavailable": "100%",
            "drain_steps": [
                {
                    "type": "command",
                    "name": "Leave",
                    "do": ["sh", "-c", step.format("left")],
                    "undo": ["sh", "-c", step.format("back")],
                }
            ],
        }
        (self.folder / "inventory" / "hosts.json").write_text(
            json.dumps({"all": {"vars": everyone, "children": groups}}), encoding="utf-8"
        )

    def journal(self):
        """What the machines' steps have written: left or back, and the machine."""
        return self._journal.read_text(encoding="utf-8").splitlines() if self._journal.exists() else []

    def let_lease_run_out(self, name):
        """As if two minutes had gone by in which nobody renewed the lease of this machine's mark."""
        folder = self.folder / name / "state"
        with (folder / "lock").open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            mark = json.loads((folder / "mark.json").read_text(encoding="utf-8"))
            mark["lease"]["until"] = mark["lease"]["uptime"]
            (folder / "changed").write_text(json.dumps(mark), encoding="utf-8")
            (folder / "changed").rename(folder / "mark.json")

    def approved(self, event):
        return any(one["event_id"] == event for one in self.world.journal("approved"))

    def maintain(self, hosts):
        """What the schedule starts every five minutes; the process, with its output in a file."""
        words = ["-e", f"azure_maintenance_hosts={hosts}", "-e", "maintain_wait_timeout=0"]
        with (self.folder / "scheduled").open("wb") as output:
            return subprocess.Popen(
                [program("ansible-playbook"), "-i", str(self.folder / "inventory"), *words]
                + ["cloudops.azure_maintenance.maintain"],
                cwd=self.folder,
                env=dict(self.rulebook.environment, AZM_RUNS=str(self.folder / "scheduled-runs")),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )


@pytest.fixture(scope="session")
def watcher(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program") / "watcher.pyz")


@pytest.fixture(scope="module")
def site(tmp_path_factory, watcher):
    """Machines that report, and a rulebook; both as the first test leaves them to the next one."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "inventory").mkdir()
    vms = [f"{name},scope=of-{scope or name}" for scope, names in SCOPES.items() for name in names]
    world = World(folder / "emulator", vms=vms)
    found = Site(folder, world, Rulebook(folder / "eda", "maintain_on_report", folder / "inventory"))
    try:
        found.write_inventory()
        (folder / "inventory" / "zz_groups.yml").write_text(
            example("plugin: ansible.builtin.constructed"), encoding="utf-8"
        )
        for scope, names in SCOPES.items():
            for name in names:
                mode = "manage" if name in MANAGED else "observe"
                found.machines[name] = Watched(
                    folder / name, watcher, name, scope, world.endpoint_of(name), found.rulebook.url, SECRET, mode=mode
                )
        for machine in found.machines.values():
            machine.wait_until_it_polls()
        yield found
    finally:
        for machine in found.machines.values():
            machine.end()
        if found.rulebook.process:
            found.rulebook.end()
        world.stop()
