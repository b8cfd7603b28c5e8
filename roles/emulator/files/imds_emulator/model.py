# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is: VMs, scopes, events. How they change is the business of lifecycle.py and enabling.py."""

import uuid
from collections import deque
from typing import Any, Deque, Dict, List, Optional, Tuple

from . import event_types
from .documents import Version, not_before_text, render
from .journal import iso
from .scenario import NEVER, EventSpec, ScopeSpec, VmSpec
from .timeline import Due

PENDING, SCHEDULED, STARTED, ADVISORY, GONE = "Pending", "Scheduled", "Started", "Advisory", "Gone"
WINDOW = 1.0  # seconds that a rate limit counts over

Moment = Tuple[float, float]  # virtual, wall


class Requests:
    """How often somebody asked."""

    __slots__ = ("get", "post", "throttled", "not_modified", "last")

    def __init__(self) -> None:
        self.get = self.post = self.throttled = self.not_modified = 0
        self.last: Optional[float] = None

    def as_json(self) -> Dict[str, Any]:
        """For people."""
        return {
            "get": self.get,
            "post": self.post,
            "throttled": self.throttled,
            "not_modified": self.not_modified,
            "last": iso(self.last),
        }


class Vm:
    """One virtual machine and its requests."""

    __slots__ = ("spec", "name", "scope", "running", "requests", "_recent")

    def __init__(self, spec: VmSpec, scope: "Scope") -> None:
        self.spec = spec
        self.name = spec.name
        self.scope = scope
        self.running = spec.running
        self.requests = Requests()
        self._recent: Optional[Deque[float]] = None

    def may_ask(self, limit: int, now: float) -> bool:
        """Is this request within the limit? At most `limit` are within any second; those refused don't count."""
        if self._recent is None or self._recent.maxlen != limit:
            self._recent = deque(self._recent or (), maxlen=limit)
        if len(self._recent) == limit and now - self._recent[0] < WINDOW:
            return False
        self._recent.append(now)
        return True

    def as_json(self) -> Dict[str, Any]:
        """For people."""
        return {
            "name": self.name,
            "scope": self.scope.name,
            "addresses": list(self.spec.addresses),
            "running": self.running,
            "requests": self.requests.as_json(),
        }


class Event:
    """One piece of maintenance, from before it is shown until it is gone."""

    __slots__ = (
        "spec",
        "id",
        "scope",
        "type",
        "resources",
        "description",
        "source",
        "duration",
        "status",
        "outcome",
        "not_before",
        "not_before_shown",
        "hides_not_before",
        "approvals",
        "approved",
        "co_tenants_approved",
        "times",
        "due",
        "followers",
    )

    def __init__(self, spec: EventSpec, event_id: str, scope: "Scope", resources: Tuple[str, ...]) -> None:
        self.spec = spec
        self.id = event_id
        self.scope = scope
        self.type = spec.type
        self.resources = resources
        self.source = spec.source
        self.duration = spec.duration
        self.description = (
            event_types.describe(spec.type, spec.source, spec.no_notice)
            if spec.description is None
            else spec.description
        )
        self.status = PENDING
        self.outcome = ""
        self.not_before: Optional[float] = None
        self.not_before_shown: Optional[float] = None
        self.hides_not_before = False
        self.approvals: List[Tuple[str, Moment]] = []
        self.approved = False
        self.co_tenants_approved = self.co_tenant_delay == 0
        self.times: Dict[str, Optional[Moment]] = {"scheduled": None, "started": None, "gone": None}
        self.due: List[Due] = []
        self.followers: List[Event] = []

    @property
    def name(self) -> str:
        """What the scenario calls it."""
        return self.spec.name

    @property
    def co_tenant_delay(self) -> float:
        """Its own, else its scope's."""
        return self.scope.spec.co_tenant_delay if self.spec.co_tenant_delay is None else self.spec.co_tenant_delay

    @property
    def is_advice(self) -> bool:
        """Nothing comes of acknowledging it."""
        return self.type == event_types.ADVICE

    def lists(self, vm: str) -> bool:
        """Is that VM among its resources?"""
        return vm.lower() in [name.lower() for name in self.resources]

    def as_json(self, form: str) -> Dict[str, Any]:
        """For people, and for the command that runs on a change."""
        return {
            "id": self.id,
            "name": self.name,
            "scope": self.scope.name,
            "type": self.type,
            "status": self.status,
            "outcome": self.outcome,
            "resources": list(self.resources),
            "source": self.source,
            "description": self.description,
            "duration": self.duration,
            "notice": self.spec.notice,
            "tail": "never" if self.spec.tail == NEVER else self.spec.tail,
            "not_before": iso(self.not_before),
            "not_before_shown": not_before_text(self.not_before_shown, form),
            "approved": self.approved,
            "co_tenants_approved": self.co_tenants_approved,
            "approvals": [dict(by=by, **_moment_as_json(moment)) for by, moment in self.approvals],
            "times": {name: None if moment is None else _moment_as_json(moment) for name, moment in self.times.items()},
        }


def _moment_as_json(moment: Moment) -> Dict[str, Any]:
    return {"virtual": iso(moment[0]), "wall": round(moment[1], 3)}


class Scope:
    """The VMs that are shown one document, and that document."""

    __slots__ = (
        "name",
        "spec",
        "vms",
        "events",
        "enabled",
        "listening",
        "opened",
        "incarnation",
        "last_request",
        "ready_at",
        "_shown",
    )

    def __init__(self, name: str, spec: ScopeSpec) -> None:
        self.name = name
        self.spec = spec
        self.vms: List[Vm] = []
        self.events: List[Event] = []  # those that a document can show, in the order they appeared
        self.enabled = False
        self.listening = False  # enabled, and events do appear
        self.opened = 0  # how often it was enabled
        self.incarnation = spec.initial_incarnation
        self.last_request = 0.0
        self.ready_at = 0.0  # when the enabling answer is given
        self._shown: Dict[Tuple[str, str], bytes] = {}

    @property
    def is_down(self) -> bool:
        """Does none of its VMs run?"""
        return not any(vm.running for vm in self.vms)

    def etag(self, version: Version) -> str:
        """Names one content.

        The incarnation alone doesn't: it begins anew when the scope is enabled again, and each version shows other members.
        """
        return f'"{self.opened}-{self.incarnation}-{version.name}"'

    def changed(self) -> None:
        """What the document shows has changed."""
        if self.listening:
            self.incarnation += self.spec.incarnation_step
        self.forget()

    def forget(self) -> None:
        """Render anew next time."""
        self._shown.clear()

    def document(self, version: Version, form: str, vm: Vm) -> bytes:
        """What that VM is shown."""
        key = (version.name, vm.name if self.spec.single_fault_domain_gpu else "")
        body = self._shown.get(key)
        if body is None:
            body = self._shown[key] = render(self.incarnation, self.events_for(vm), version, form)
        return body

    def events_for(self, vm: Vm) -> List[Event]:
        """The events that a VM may see: all of the scope; of GPU sets with one fault domain only its own."""
        if not self.listening:
            return []
        if self.spec.single_fault_domain_gpu:
            return [event for event in self.events if event.lists(vm.name)]
        return self.events

    def as_json(self) -> Dict[str, Any]:
        """For people."""
        return {"enabled": self.enabled, "incarnation": self.incarnation, "vms": [vm.name for vm in self.vms]}


def new_event_id() -> str:
    """Upper case, as Azure's are."""
    return str(uuid.uuid4()).upper()
