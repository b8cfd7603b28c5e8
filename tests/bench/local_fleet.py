# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Local hosts, an emulator that answers for them, and the CPU seconds of a play against them."""

import json
import os
import resource
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
EMULATOR = HERE.parents[1] / "roles" / "emulator" / "files" / "imds_emulator"


class Fleet:
    """Hosts in scopes, an emulator that answers for them, and an inventory that names both.

    proven: whether the machines say as well that each scope is one, by a placement group
    """

    def __init__(self, folder, hosts, scopes, proven=False):
        self.folder, self.hosts, self.scopes, self.proven = Path(folder), hosts, scopes, proven
        self.process = None
        self.urls = {}

    def __enter__(self):
        vms = [{"name": f"vm{number}", "scope": f"scope{number % self.scopes}"} for number in range(self.hosts)]
        for vm in vms if self.proven else ():
            vm["placement_group"] = f"group-of-{vm['scope']}"
        scenario, addresses = self.folder / "scenario.json", self.folder / "addresses.json"
        # All VMs ask from one address: the limit of 5 requests a second is one machine's, not this bench's.
        scenario.write_text(json.dumps({"settings": {"rate_limit": 0}, "vms": vms}))
        addresses.unlink(missing_ok=True)
        self.process = subprocess.Popen(
            [
                sys.executable,
                str(EMULATOR),
                "serve",
                "--scenario",
                str(scenario),
                "--listen",
                "127.0.0.1:0",
                "--control",
                "127.0.0.1:0",
                "--addresses",
                str(addresses),
            ],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 30
        while not addresses.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit("the emulator did not start")
            time.sleep(0.05)
        self.urls = json.loads(addresses.read_text())
        hosts = {
            f"host{number}": {
                "azure_maintenance_endpoint": f"{self.urls['metadata'][0]}/vm/{vm['name']}",
                "azure_maintenance_scope": vm["scope"],
            }
            for number, vm in enumerate(vms)
        }
        inventory = {
            "all": {
                "hosts": hosts,
                "vars": {"ansible_connection": "local", "ansible_python_interpreter": sys.executable},
            }
        }
        (self.folder / "inventory.json").write_text(json.dumps(inventory))
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(10)

    def ask(self, path, body=None):
        """The emulator's control API."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.urls["control"] + path, data, {"Content-Type": "application/json"})
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
            return json.load(answer)

    def looks(self):
        return self.ask("/state")["requests"]["get"]

    def play(self, playbook, root=None, settings=(), forks=20, **variables):
        """One ansible-playbook: (CPU seconds, wall seconds, looks).

        :arg root: where the collection is; None for this one
        :arg settings: of its environment
        """
        looks, start = self.looks(), time.monotonic()
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [
            str(Path(sys.executable).with_name("ansible-playbook")),
            "-i",
            str(self.folder / "inventory.json"),
            playbook,
            "--forks",
            str(forks),
            "--extra-vars",
            json.dumps(variables),
        ]
        environment = dict(os.environ, ANSIBLE_LOCALHOST_WARNING="false", ANSIBLE_DISPLAY_SKIPPED_HOSTS="false")
        environment.update(settings)
        if root:
            environment["ANSIBLE_COLLECTIONS_PATH"] = f"{root}:{environment.get('ANSIBLE_COLLECTIONS_PATH', '')}"
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=1800,
            check=False,
            env=environment,
        )
        if done.returncode:
            raise SystemExit(f"{playbook} failed:\n{done.stdout[-3000:]}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu, time.monotonic() - start, self.looks() - looks
