# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults: which requests they break, and for how long."""

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .answers import Answer
from .fault_kinds import KINDS
from .fields import REQUIRED, Fields
from .problems import NotThere
from .timeline import Timeline


class Fault(NamedTuple):
    """One fault as it was asked for."""

    kind: str
    vms: Tuple[str, ...]
    method: str
    path: str
    times: Optional[int]  # how many requests
    skip: int
    seconds: Optional[float]
    options: Dict[str, Any]


PATHS = ("scheduledevents", "instance", "any")


def read_fault(value: Any, place: str = "") -> Fault:
    """A fault as a person wrote it, checked."""
    fields = Fields(value, place)
    kind = fields.text("kind", REQUIRED, sorted(KINDS))
    fault = Fault(
        kind=kind,
        vms=tuple(fields.texts("vm")),
        method=fields.text("method", "any", ("GET", "POST", "any")),
        path=fields.text("path", "scheduledevents", PATHS),
        times=fields.whole("count", None, 1),
        skip=fields.whole("skip", 0),
        seconds=fields.number("seconds", None),
        options=KINDS[kind].read(fields),
    )
    fields.done()
    return fault


class ActiveFault:
    """A fault in force, and how many requests it has broken."""

    def __init__(self, fault_id: str, fault: Fault, until: Optional[float]) -> None:
        self.id = fault_id
        self.fault = fault
        self.kind = KINDS[fault.kind]
        self.until = until
        self.passed = 0
        self.broken_requests = 0
        self._vms = frozenset(name.lower() for name in fault.vms)

    def concerns(self, vm: str, method: str, path: str) -> bool:
        """Is this the kind of request that it breaks?"""
        return (
            (not self._vms or vm.lower() in self._vms)
            and self.fault.method in ("any", method)
            and self.fault.path in ("any", path)
        )

    def spent(self, now: float) -> bool:
        """Is it over?"""
        return (self.fault.times is not None and self.broken_requests >= self.fault.times) or (
            self.until is not None and now >= self.until
        )

    def breaks_this(self) -> bool:
        """Count a request that it concerns; is this one broken?"""
        if self.passed < self.fault.skip:
            self.passed += 1
            return False
        self.broken_requests += 1
        return True

    def take_back(self) -> None:
        """The last request was not broken after all: it was throttled before."""
        self.broken_requests -= 1

    def broken(self, answer: Answer) -> Answer:
        """What the client sees instead."""
        return self.kind.answer(answer, self.fault.options)

    def as_json(self) -> Dict[str, Any]:
        """For people."""
        fault = self.fault
        shown: Dict[str, Any] = {
            "id": self.id,
            "kind": fault.kind,
            "vm": list(fault.vms),
            "method": fault.method,
            "path": fault.path,
            "count": fault.times,
            "skip": fault.skip,
            "seconds": fault.seconds,
            "hits": self.broken_requests,
        }
        shown.update(fault.options)
        return shown


class Faults:
    """All faults in force, oldest first."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._active: List[ActiveFault] = []
        self._last = 0

    def add(self, fault: Fault) -> ActiveFault:
        """From now on."""
        self._last += 1
        until = None if fault.seconds is None else self._timeline.now() + fault.seconds
        active = ActiveFault(f"f{self._last}", fault, until)
        self._active.append(active)
        return active

    def match(self, vm: str, method: str, path: str) -> Optional[ActiveFault]:
        """The fault that breaks this request."""
        if not self._active:
            return None
        for active in self.all():
            if active.concerns(vm, method, path) and active.breaks_this():
                return active
        return None

    def all(self) -> Sequence[ActiveFault]:
        """Those in force."""
        now = self._timeline.now()
        self._active = [active for active in self._active if not active.spent(now)]
        return tuple(self._active)

    def remove(self, fault_id: str) -> None:
        """End one."""
        if fault_id not in [active.id for active in self.all()]:
            raise NotThere(f"there is no fault {fault_id!r}")
        self._active = [active for active in self._active if active.id != fault_id]

    def clear(self) -> None:
        """End all."""
        self._active = []
