# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers broken on purpose: which request a fault hits, and what the client sees then."""

import json
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .answers import Answer, Delivery
from .fields import REQUIRED, Fields
from .problems import NotThere
from .timeline import Timeline


class Fault(NamedTuple):
    """One fault as it was asked for."""

    kind: str
    vms: Tuple[str, ...]
    method: str
    path: str
    count: Optional[int]
    skip: int
    seconds: Optional[float]
    options: Dict[str, Any]


class Kind(NamedTuple):
    """A way to break an answer."""

    executes: bool  # is the request carried out before the answer breaks?
    read: Callable[[Fields], Dict[str, Any]]  # its own keys
    answer: Callable[[Answer, Dict[str, Any]], Answer]


PAGE = (
    b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to the network</h1></body></html>\n"
)


def _no_keys(fields: Fields) -> Dict[str, Any]:
    return {}


def _status_keys(fields: Fields) -> Dict[str, Any]:
    return {"status": fields.whole("status", REQUIRED, 200, 599), "retry_after": fields.whole("retry_after", None)}


def _status(answer: Answer, options: Dict[str, Any]) -> Answer:
    status = options["status"]
    headers = () if options["retry_after"] is None else (("Retry-After", str(options["retry_after"])),)
    if status == 429:
        return Answer(status, b"Throttle Result: Too Many Requests", "text/plain; charset=utf-8", headers)
    body = json.dumps({"error": f"{status} by a fault of the emulator"}).encode()
    return Answer(status, body, "application/json; charset=utf-8", headers)


def _html_keys(fields: Fields) -> Dict[str, Any]:
    return {"status": fields.whole("status", 200, 200, 599)}


def _redirect_keys(fields: Fields) -> Dict[str, Any]:
    return {
        "status": fields.whole("status", 302, 300, 399),
        "location": fields.text("location", "http://portal.example.invalid/"),
    }


def _body_keys(fields: Fields) -> Dict[str, Any]:
    return {
        "body": fields.text("body", "null"),
        "status": fields.whole("status", 200, 200, 599),
        "content_type": fields.text("content_type", "application/json; charset=utf-8"),
    }


def _with_control_characters(answer: Answer, options: Dict[str, Any]) -> Answer:
    body = answer.body.replace(b'"Description":"', b'"Description":"\x01\t\n')
    if body == answer.body and body.endswith(b"}"):  # no description in this version, or no event
        body = body[:-1] + b',"Note":"\x01\t\n"}'
    return answer._replace(body=body)


def _truncated(answer: Answer, options: Dict[str, Any]) -> Answer:
    size = options["bytes"]
    return answer._replace(
        delivery=Delivery(cut=len(answer.body) // 2 if size is None else min(size, max(0, len(answer.body) - 1)))
    )


KINDS = {
    "status": Kind(False, _status_keys, _status),
    "reset": Kind(False, _no_keys, lambda answer, options: answer._replace(delivery=Delivery(reset=True))),
    "lost_answer": Kind(True, _no_keys, lambda answer, options: answer._replace(delivery=Delivery(reset=True))),
    "hang": Kind(False, _no_keys, lambda answer, options: answer._replace(delivery=Delivery(hang=True))),
    "delay": Kind(
        True,
        lambda fields: {"delay": fields.number("delay", REQUIRED, 0, 3600)},
        lambda answer, options: answer._replace(delivery=Delivery(delay=options["delay"])),
    ),
    "empty": Kind(True, _no_keys, lambda answer, options: Answer(200, b"", "application/json; charset=utf-8")),
    "truncated": Kind(True, lambda fields: {"bytes": fields.whole("bytes", None)}, _truncated),
    "trickle": Kind(
        True,
        lambda fields: {"interval": fields.number("interval", 0.5, 0.001, 3600)},
        lambda answer, options: answer._replace(delivery=Delivery(interval=options["interval"])),
    ),
    "control_characters": Kind(True, _no_keys, _with_control_characters),
    "html": Kind(
        False, _html_keys, lambda answer, options: Answer(options["status"], PAGE, "text/html; charset=utf-8")
    ),
    "redirect": Kind(
        False,
        _redirect_keys,
        lambda answer, options: Answer(
            options["status"], b"", "text/html; charset=utf-8", (("Location", options["location"]),)
        ),
    ),
    "body": Kind(
        False,
        _body_keys,
        lambda answer, options: Answer(options["status"], options["body"].encode("utf-8"), options["content_type"]),
    ),
}
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
        count=fields.whole("count", None, 1),
        skip=fields.whole("skip", 0),
        seconds=fields.number("seconds", None),
        options=KINDS[kind].read(fields),
    )
    fields.done()
    return fault


class ActiveFault:
    """A fault in force, and what it has hit."""

    def __init__(self, fault_id: str, fault: Fault, until: Optional[float]) -> None:
        self.id = fault_id
        self.fault = fault
        self.kind = KINDS[fault.kind]
        self.until = until
        self.passed = 0
        self.hits = 0
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
        return (self.fault.count is not None and self.hits >= self.fault.count) or (
            self.until is not None and now >= self.until
        )

    def hit(self) -> bool:
        """Count a request that it concerns; is this one broken?"""
        if self.passed < self.fault.skip:
            self.passed += 1
            return False
        self.hits += 1
        return True

    def broken(self, answer: Answer) -> Answer:
        """What the client sees instead."""
        return self.kind.answer(answer, self.fault.options)

    def told(self) -> Dict[str, Any]:
        """For people."""
        fault = self.fault
        told = {
            "id": self.id,
            "kind": fault.kind,
            "vm": list(fault.vms),
            "method": fault.method,
            "path": fault.path,
            "count": fault.count,
            "skip": fault.skip,
            "seconds": fault.seconds,
            "hits": self.hits,
        }
        told.update(fault.options)
        return told


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
            if active.concerns(vm, method, path) and active.hit():
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
