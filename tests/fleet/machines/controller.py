# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Ansible side: a folder with inventory and ansible.cfg, and playbooks run in it with a time limit and a log."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
from typing import Any, NamedTuple

import yaml

from . import cgroups, services, settings
from .fleet import Fleet
from .host import LONG, FleetError, process_words, until

_FOLDER = settings.WORK / "controller"

# Every preparation and recovery leaves its time on the machine's own disk, where a reboot does not touch it.
_NOTES = {
    "type": "command",
    "name": "Note the time",
    "do": ["sh", "-c", "date +%s.%N >> /var/tmp/prepared"],
    "undo": ["sh", "-c", "date +%s.%N >> /var/tmp/recovered"],
}
_WEB_STEPS = [
    {
        "type": "haproxy",
        "load_balancers": ["balancers"],
        "server": "{{ inventory_hostname }}",
        "backends": [services.BACKEND],
    },
    _NOTES,
    {
        "type": "command",
        "name": "Ask the application",
        "do": ["sh", "-c", "while [ -e /var/tmp/hang ]; do sleep 0.1; done; test ! -e /var/tmp/refuse"],
    },
]


class Run(NamedTuple):
    """A playbook that has ended."""

    status: int
    output: str
    log: pathlib.Path
    seconds: float

    def check(self) -> "Run":
        if self.status != 0:
            raise FleetError(f"the playbook ended with {self.status}; its log is {self.log}:\n{self.tail()}")
        return self

    @property
    def result(self) -> dict[str, Any]:
        """What role maintain handed to the job: timeline, events, problems."""
        for line in reversed(self.output.splitlines()):
            found, stats = line.partition("\tRUN: ")[1:]
            if found:
                return json.loads(stats)["azure_maintenance"]
        raise FleetError(f"the run left no result; its log is {self.log}:\n{self.tail()}")

    def recap(self, host: str) -> dict[str, int]:
        """The counts of a host: ok, changed, unreachable, failed ..."""
        lines = [line for line in self.output.splitlines() if re.match(rf"{re.escape(host)}\s+: ok=", line)]
        if not lines:
            raise FleetError(f"{host} is not in the recap; the log is {self.log}:\n{self.tail()}")
        return {name: int(count) for name, count in re.findall(r"(\w+)=(\d+)", lines[-1])}

    def tail(self, lines: int = 60) -> str:
        return "\n".join(self.output.splitlines()[-lines:])


class Playbook:
    """A playbook that runs in the background while the test does something to the fleet."""

    def __init__(self, process: subprocess.Popen, log: pathlib.Path, deadline: float) -> None:
        self._process, self._log, self._deadline, self._started = process, log, deadline, time.monotonic()

    def output(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")

    def runs(self) -> bool:
        return self._process.poll() is None

    def check_alive(self) -> None:
        if not self.runs():
            self.wait().check()
            raise FleetError(f"the playbook has ended already; its log is {self._log}")

    def wait(self) -> Run:
        try:
            status = self._process.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.stop()
            raise FleetError(
                f"the playbook was still running at its time limit and was ended; its log is {self._log}:\n"
                + "\n".join(self.output().splitlines()[-60:])
            ) from None
        return Run(status, self.output(), self._log, time.monotonic() - self._started)

    def cut_off(self, number: int, all_of_it: bool) -> None:
        """End it by force, with all that it has started or itself alone, and wait until nothing of it is left."""
        family = [self._process.pid, *_descendants(self._process.pid)]
        for pid in family if all_of_it else family[:1]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        self._process.wait(LONG)
        until("all processes of the playbook to be gone", lambda: not any(map(process_words, family)), pause=0.02)

    def stop(self, number: int = signal.SIGINT) -> None:
        """Interrupt it as Ctrl-C would; what does not go within 10 s is killed."""
        if not self.runs():
            return
        os.killpg(self._process.pid, number)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()


class Controller:
    def __init__(self, fleet: Fleet) -> None:
        self.folder = _FOLDER
        self.inventory = self.folder / "inventory.yml"
        self._ssh_config = fleet.ssh_config
        self._running: list[Playbook] = []
        self._logs = 0

    def prepare(self) -> None:
        """A folder as a user would have one."""
        if self.folder.exists():
            shutil.rmtree(self.folder)
        (self.folder / "logs").mkdir(parents=True)
        self.inventory.write_text(yaml.safe_dump(_inventory(), sort_keys=False), encoding="utf-8")
        (self.folder / "ansible.cfg").write_text(_configuration(self._ssh_config, self.folder), encoding="utf-8")
        link = self.folder / "collections/ansible_collections/cloudops/azure_maintenance"
        link.parent.mkdir(parents=True)
        link.symlink_to(settings.COLLECTION)

    def start(self, playbook: str, *arguments: str, limit: float = 600, name: str = "", **variables: Any) -> Playbook:
        """Start a playbook: a name such as cloudops.azure_maintenance.maintain, or a file below tests/fleet."""
        self._logs += 1
        log = self.folder / "logs" / f"{self._logs:02d}-{name or pathlib.Path(playbook).stem}.log"
        path = settings.COLLECTION / "tests/fleet" / playbook
        command = [_ansible("ansible-playbook"), str(path) if path.exists() else playbook, "--diff", *arguments]
        if variables:
            command += ["--extra-vars", json.dumps(variables)]
        with open(log, "wb") as output:
            output.write((" ".join(command) + "\n").encode())
            output.flush()
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        cgroups.add("ctl", process.pid)  # with it ssh's lasting connections, which outlive the playbook
        started = Playbook(process, log, time.monotonic() + limit)
        self._running.append(started)
        return started

    def run(self, playbook: str, *arguments: str, **keywords: Any) -> Run:
        return self.start(playbook, *arguments, **keywords).wait()

    def stop_all(self) -> None:
        while self._running:
            self._running.pop().stop()

    def environment(self) -> dict[str, str]:
        """The user's environment, less the Ansible settings and the proxies (debootstrap has them) of whoever runs the tests."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("ANSIBLE_") and not name.lower().endswith("_proxy")
        }
        paths = [str(self.folder / "collections"), *filter(None, [os.environ.get("ANSIBLE_COLLECTIONS_PATH")])]
        return dict(
            kept,
            ANSIBLE_CONFIG=str(self.folder / "ansible.cfg"),
            ANSIBLE_COLLECTIONS_PATH=":".join(paths),
            ANSIBLE_LOCAL_TEMP=str(self.folder / "tmp"),
            ANSIBLE_REMOTE_TEMP="~/.ansible/tmp",
            PYTHONDONTWRITEBYTECODE="1",
            LC_ALL="C.UTF-8",
        )


def _descendants(pid: int) -> list[int]:
    """Its children, theirs and so on; not ssh's lasting connections, which have left it."""
    children: dict[int, list[int]] = {}
    for member in cgroups.members("ctl"):
        with contextlib.suppress(OSError):
            stat = pathlib.Path(f"/proc/{member}/stat").read_text(encoding="ascii", errors="replace")
            children.setdefault(int(stat.rpartition(")")[2].split()[1]), []).append(member)
    found = list(children.get(pid, []))
    for member in found:
        found += children.get(member, [])
    return found


def _ansible(program: str) -> str:
    beside = pathlib.Path(sys.executable).parent / program
    found: str | None = str(beside) if beside.exists() else shutil.which(program)
    if not found:
        raise FleetError(f"no {program} beside {sys.executable} or on PATH: install requirements/core-2.21.txt")
    return found


def _inventory() -> dict[str, Any]:
    def hosts(service: str, scope: str = "") -> dict[str, Any]:
        found = {
            spec.name: {"ansible_host": spec.address}
            for spec in settings.MACHINES
            if spec.service == service and scope in ("", spec.scope)
        }
        if "web2" in found:  # the one machine whose name the inventory knows; in other letters than Azure's
            found["web2"]["azure_maintenance_resource_name"] = settings.by_name()["web2"].resource.upper()
        return found

    web_variables = {"azure_maintenance_scope": "web", "drain_steps": _WEB_STEPS}
    lone_variables = {"drain_steps": [{"type": "service", "service": "nginx"}, _NOTES]}
    return {
        "all": {
            # As the guide has it: for all, and with them for the controller's implicit localhost, which has no sudo.
            "vars": {
                "ansible_user": settings.USER,
                "ansible_python_interpreter": "/usr/bin/python3",
                "ansible_become": True,
            },
            "children": {
                "machines": {
                    "children": {
                        "balancers": {"hosts": hosts("haproxy")},
                        "web": {"hosts": hosts("nginx", "web"), "vars": web_variables},
                        "lone": {"hosts": hosts("nginx", "lone"), "vars": lone_variables},
                    },
                },
            },
        }
    }


def _configuration(ssh_config: pathlib.Path, folder: pathlib.Path) -> str:
    return f"""[defaults]
inventory = {folder / "inventory.yml"}
forks = 10
timeout = 10
gathering = explicit
internal_poll_interval = 0.01
host_key_checking = true
retry_files_enabled = false
show_custom_stats = true
nocows = true

[ssh_connection]
pipelining = true
ssh_args = -F {ssh_config} -o ControlMaster=auto -o ControlPersist=60s
control_path_dir = {settings.RUN / "cp"}
"""
