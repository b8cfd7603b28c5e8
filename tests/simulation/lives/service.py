# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service of a machine."""

from __future__ import annotations

import email.utils
import json
import math
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from .clock import Life

if TYPE_CHECKING:
    from .machine import Machine

LEAVES = "/metadata/instance/compute/"
WALL = 1_800_000_000.0
STALE = 1.6  # seconds for which some machines are shown what was shown before

Answer = tuple[int, bytes]


class Failed(Exception):
    """Why there is no answer."""

    too_slow = False


class TooSlow(Failed):
    too_slow = True


class Reset(Failed):
    pass


class Service:
    """One machine's."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._shown: tuple[Any, bytes] = (None, b"")  # the last document, which is asked for again and again

    def exchange(self, method: str, url: str, body: bytes, limit: float, run: str) -> Life:
        """Status and body of its answer.

        :arg limit: seconds that it may take
        :arg run: whose request it is, for the journal
        :raises Failed: where none comes
        """
        machine = self.machine
        takes = 6.0 if machine.fault("imds-slow") else 0.02
        if takes > limit:
            yield limit
            raise TooSlow("The operation has timed out")
        yield takes
        yield from machine.frozen()
        if machine.fault("imds-unreachable"):
            raise Failed("No connection could be made")
        if machine.fault("imds-410", "imds-429"):
            return (410 if machine.fault("imds-410") else 429), b""
        return self._approved(body, run) if method == "POST" else self.get(url)

    def _approved(self, body: bytes, run: str) -> Answer:
        machine = self.machine
        if machine.fault("post-refused"):
            return 400, b""
        # A valid id may be followed by one that is gone; the service takes all or none of them
        for one in json.loads(body)["StartRequests"]:
            machine.azure.approve(machine.scope, one["EventId"], machine.host, run)
        if machine.fault("post-lost"):
            raise Reset("The connection was reset")
        return 200, b""

    def get(self, url: str) -> Answer:
        """What a GET gives now, where the service answers at all."""
        parts, machine = urlsplit(url), self.machine
        if parts.path.startswith(LEAVES):
            known = {
                "name": machine.name,
                "placementGroupId": machine.placement_group,
                "vmId": f"vm-{machine.host}",
                "priority": machine.priority,
            }
            return (500, b"") if machine.fault("no-hello") else (200, known[parts.path[len(LEAVES) :]].encode("ascii"))
        assert parse_qs(parts.query)["api-version"] == ["2020-07-01"], url
        return 200, b"" if machine.fault("empty-body") else self._document()

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

    def _document(self) -> bytes:
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
            self._shown = (key, json.dumps(document).encode("ascii"))
        return self._shown[1]


def _date(moment: float | None) -> str:
    return "" if moment is None else email.utils.formatdate(math.floor(WALL + moment), usegmt=True)
