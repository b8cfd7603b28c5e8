# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection's own emulator at Azure's real address, in a namespace that only the machines have a way to.

It tells them apart by source address. When an event starts it does to the machines what Azure would (hypervisor.py).
"""

import datetime
import json
import pathlib
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any

import requests

from . import cgroups, network, settings
from .host import LONG, FleetError, until

_PROGRAM = settings.COLLECTION / "roles/emulator/files/imds_emulator"
CONTROL = f"http://{settings.CONTROL_ADDRESS}:{settings.CONTROL_PORT}"
_GROUP = "imds"


class Emulator:
    def __init__(self) -> None:
        self.scenario = settings.WORK / "emulator.json"
        self.log = settings.WORK / "emulator.log"
        self._session = requests.Session()
        self._session.trust_env = False

    # --- the process ---

    def start(self) -> None:
        """Call it, like everything below, from a thread that is in the controller's namespace."""
        self.scenario.write_text(json.dumps(_scenario(), indent=1), encoding="utf-8")
        on_change = [sys.executable, "-m", "machines.hypervisor"]
        with open(self.log, "wb") as log:
            process = subprocess.Popen(
                [
                    *network.inside(settings.AZURE),
                    sys.executable,
                    str(_PROGRAM),
                    "serve",
                    "--scenario",
                    str(self.scenario),
                    "--listen",
                    f"{settings.IMDS_ADDRESS}:80",
                    "--control",
                    f"{settings.CONTROL_ADDRESS}:{settings.CONTROL_PORT}",
                    "--on-change",
                    shlex.join(on_change),
                ],
                cwd=pathlib.Path(__file__).resolve().parents[1],
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        cgroups.add(_GROUP, process.pid)

        def answers() -> bool:
            if process.poll() is not None:
                raise FleetError(f"the emulator ended with {process.returncode}:\n{self.log.read_text()}")
            try:
                return bool(self.get("/state"))
            except requests.RequestException:
                return False

        until("the emulator's control API", answers)

    def stop(self) -> None:
        cgroups.clear(_GROUP)

    # --- its control API ---

    def get(self, path: str, **query: Any) -> Any:
        return self._request("GET", path, params=query)

    def post(self, path: str, body: dict[str, Any] | None = None) -> Any:
        return self._request("POST", path, json=body or {})

    def reset(self, speed: float) -> None:
        """No events, no faults, an empty journal; virtual time passes `speed` times faster than a watch."""
        self.post("/clock", {"pause": True})
        until("what events do to machines to be done", self._commands_are_done)
        self.post("/reset")
        self.post("/clock", {"speed": speed})

    def _commands_are_done(self) -> bool:
        """The hypervisor has run for every change: nothing happens to a machine any more while time stands still."""
        changes = sum(len(self.journal(kind)) for kind in ("scheduled", "started", "gone", "advisory"))
        return len(self.journal("command")) >= changes

    def inject(self, event_type: str, resources: Sequence[str], **keys: Any) -> str:
        """Schedule an event for these machines (by their names here) now; answers its id."""
        names = settings.by_name()
        resources = [names[name].resource if name in names else name for name in resources]
        return self.post("/events", dict(keys, type=event_type, resources=resources))["id"]

    def let_notice_pass(self, event_id: str) -> None:
        """Azure's time goes on to the not-before of an event, whose notice is longer than any machine needs."""
        due, now = self.event(event_id)["not_before"], self.get("/clock")["virtual"]
        left = (datetime.datetime.fromisoformat(due) - datetime.datetime.fromisoformat(now)).total_seconds()
        self.post("/clock", {"advance": max(0.0, left)})

    def event(self, event_id: str) -> dict[str, Any]:
        return self.get(f"/events/{event_id}")

    def wait_for(self, event_id: str, *statuses: str, timeout: float = LONG) -> dict[str, Any]:
        def reached() -> dict[str, Any] | None:
            event = self.event(event_id)
            return event if event["status"] in statuses else None

        return until(f"event {event_id} to be {' or '.join(statuses)}", reached, timeout, pause=0.2)

    def requests(self, name: str) -> int:
        """How many requests this machine has sent."""
        counts = self.get(f"/vms/{settings.by_name()[name].resource}")["requests"]
        return counts["get"] + counts["post"]

    def wait_until_waiting(self, name: str, alive: Callable[[], None], timeout: float = LONG) -> None:
        """Until this machine asks again and again: somebody waits there for an event. `alive` raises when nobody will.

        A run's first call, which asks who the machine is, takes five requests, and more where one is tried again.
        """
        before = self.requests(name)

        def waits() -> bool:
            alive()
            return self.requests(name) >= before + 8

        until(f"{name} to wait for events", waits, timeout, pause=0.2)

    def wait_until_looked(self, name: str, before: int, alive: Callable[[], None], timeout: float = LONG) -> None:
        """Until this machine has sent more requests than so many."""

        def looked() -> bool:
            alive()
            return self.requests(name) > before

        until(f"{name} to look", looked, timeout, pause=0.02)

    def journal(self, kind: str = "", event_id: str = "") -> list[dict[str, Any]]:
        query = {name: value for name, value in (("kind", kind), ("event_id", event_id)) if value}
        return self.get("/journal", limit=10000, **query)["entries"]

    def posts(self, event_id: str = "") -> list[dict[str, Any]]:
        """Every POST that any machine sent, oldest first; those that named this event when one is given."""
        entries = self.journal("post")
        if not event_id:
            return entries
        return [
            entry
            for entry in entries
            if any(request["event_id"].upper() == event_id.upper() for request in entry.get("requests") or [])
        ]

    def times(self, event_id: str, *kinds: str) -> list[float]:
        """Unix times at which the event was first "scheduled", "approved", "started", "gone"."""
        return [self.wait_for_entry(kind, event_id, timeout=0)["wall"] for kind in kinds]

    def wait_for_entry(self, kind: str, event_id: str, timeout: float = LONG) -> dict[str, Any]:
        """The first entry of this kind about the event."""
        return until(f"event {event_id} to be {kind}", lambda: self.journal(kind, event_id), timeout, pause=0.1)[0]

    def _request(self, method: str, path: str, **keywords: Any) -> Any:
        answer = self._session.request(method, CONTROL + path, timeout=60, **keywords)
        if not answer.ok:
            raise FleetError(f"{method} {path}: the emulator answered {answer.status_code}: {answer.text[:500]}")
        return answer.json()


def _scenario() -> dict[str, Any]:
    vms = [
        {"name": spec.resource, "scope": spec.scope, "address": spec.address, "computer_name": spec.name}
        for spec in settings.MACHINES
    ]
    vms.append({"name": settings.UNKNOWN_VM, "scope": "web"})
    return {"description": "The fleet; its events are injected by the tests", "vms": vms}
