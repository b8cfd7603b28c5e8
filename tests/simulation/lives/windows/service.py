# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service of a Windows machine, as an HTTP client of it sees it: what comes back, and after how many seconds."""

from __future__ import annotations

import base64
import email.utils
import json
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from ..clock import Life
from ..machine import STALE, WALL

if TYPE_CHECKING:
    from .machine import WindowsMachine

LEAVES = "/metadata/instance/compute/"


class Service:
    """One machine's."""

    def __init__(self, machine: WindowsMachine) -> None:
        self.machine = machine
        self._shown: tuple[Any, dict[str, Any]] = (None, {})  # the last document, which is asked for again and again

    def exchange(self, request: dict[str, Any], limit: float, run: str, by: str) -> Life:
        """What look.ps1's Send-Request makes of one exchange.

        :arg limit: seconds that it may take
        :arg run: whose request it is, for the journal
        :arg by: which PowerShell sends it
        """
        machine = self.machine
        # Nothing there counts for several at once, as the machine program does: one may be refused (429), and asks again.
        machine.was_asked(by)
        takes = 6.0 if machine.fault("imds-slow") else 0.02
        if takes > limit:
            yield limit
            return {"failure": "Timeout", "message": "The operation has timed out", "part": "head"}
        yield takes
        yield from machine.frozen()
        if machine.fault("imds-unreachable"):
            return {"failure": "ConnectionRefused", "message": "No connection could be made", "part": "head"}
        if machine.fault("imds-410", "imds-429"):
            return _answer(410 if machine.fault("imds-410") else 429)
        if request["Method"] == "POST":
            return self._approved(request, run)
        return self.get(request["Url"])

    def _approved(self, request: dict[str, Any], run: str) -> dict[str, Any]:
        machine = self.machine
        if machine.fault("post-refused"):
            return _answer(400)
        wanted = json.loads(base64.b64decode(request["Body"]))["StartRequests"]
        # A valid id may be followed by one that is gone; the service takes all or none of them
        for one in wanted:
            machine.azure.approve(machine.scope, one["EventId"], machine.host, run)
        if machine.fault("post-lost"):
            return {"failure": "ConnectionReset", "message": "The connection was reset", "part": "head"}
        return _answer(200)

    def get(self, url: str) -> dict[str, Any]:
        """What a GET gives now, where the service answers at all."""
        parts, machine = urlsplit(url), self.machine
        if parts.path.startswith(LEAVES):
            known = {
                "name": machine.name,
                "placementGroupId": machine.placement_group,
                "vmId": f"vm-{machine.host}",
                "priority": machine.priority,
            }
            return _answer(500) if machine.fault("no-hello") else _answer(200, known[parts.path[len(LEAVES) :]])
        assert parse_qs(parts.query)["api-version"] == ["2020-07-01"], url
        return _answer(200) if machine.fault("empty-body") else self._document()

    def until_other(self, longest: float) -> Life:
        """Wait until a GET may give something else than it does now; returns for how many seconds.

        :arg longest: seconds
        """
        machine, began = self.machine, self.machine.clock.now
        edges = [edge - began for begins, ends, _kind in machine.faults for edge in (begins, ends)]
        edges.append(machine.scope.earlier[0] + STALE - began)
        waits: tuple[Any, float] = (
            machine.scope.changed,
            min([longest, *(edge + 0.001 for edge in edges if edge >= 0)]),
        )
        yield waits
        return machine.clock.now - began

    def _document(self) -> dict[str, Any]:
        machine = self.machine
        incarnation, entries = machine.azure.document(machine.scope, machine.name, machine.sees_stale())
        if machine.fault("empty-document"):
            entries = []
        if machine.fault("unreadable") and entries:
            entries[0] = {key: value for key, value in entries[0].items() if key != "EventId"}
        key = (incarnation, entries)
        if self._shown[0] != key:
            events = [dict(entry, NotBefore=_date(entry["NotBefore"]), Description="") for entry in entries]
            document = {"DocumentIncarnation": incarnation, "Events": events}
            self._shown = (key, _answer(200, json.dumps(document)))
        return self._shown[1]


def _date(moment: float | None) -> str:
    return "" if moment is None else email.utils.formatdate(math.floor(WALL + moment), usegmt=True)


def _answer(status: int, body: str = "") -> dict[str, Any]:
    content = body.encode("ascii")
    return {
        "status": status,
        "headers": {"content-length": str(len(content))},
        "body": base64.b64encode(content).decode("ascii"),
    }
