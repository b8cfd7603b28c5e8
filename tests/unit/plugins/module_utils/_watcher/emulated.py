# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An emulator as a process of its own, and how tests of the watcher speak to it."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "emulator"))

from emulator_harness import address, exchange  # isort: skip
from emulator_program import Running  # isort: skip


class World:
    """:arg vms: as the emulator's command line has them; ``endpoint`` is that of web1"""

    def __init__(self, folder, *words, vms=("web1,scope=web", "web2,scope=web")):
        folder.mkdir()
        self.running = Running(folder, *(word for vm in vms for word in ("--vm", vm)), *words)
        self.metadata, self._control = self.running.metadata, address(self.running.control)
        self.endpoint = self.endpoint_of("web1")

    def endpoint_of(self, name):
        return f"{self.metadata}/vm/{name}"

    def control(self, method, path, body=None):
        reply = exchange(self._control, method, path, {}, None if body is None else json.dumps(body))
        assert reply.status < 300, reply
        return reply.json

    def event(self, **keys):
        wanted = dict({"type": "Reboot", "resources": ["web1"], "notice": 900}, **keys)
        return self.control("POST", "/events", wanted)["id"]

    def move(self, event, how):
        """Have somebody ``approve``, ``start``, ``cancel`` or ``complete`` it."""
        self.control("POST", f"/events/{event}/{how}", {})

    def fault(self, kind, **keys):
        return self.control("POST", "/faults", dict(keys, kind=kind))["id"]

    def heal(self, fault):
        self.control("DELETE", f"/faults/{fault}")

    def faults(self):
        return [fault["id"] for fault in self.control("GET", "/faults")["faults"]]

    def journal(self, *kinds):
        return self.control("GET", "/journal?kind=" + ",".join(kinds))["entries"]

    def document(self, name="web1"):
        path = f"/vm/{name}/metadata/scheduledevents?api-version=2020-07-01"
        return exchange(address(self.metadata), "GET", path, {"Metadata": "true"}).json

    def stop(self):
        self.running.stop()
