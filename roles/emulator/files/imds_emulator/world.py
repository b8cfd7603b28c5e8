# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state machine: scopes that are enabled and disabled, events that come, are approved, start and leave.

    Pending -> Scheduled -> Started -> Gone (completed)     approved, or not-before has come
               Scheduled -> Gone (cancelled)
    Pending -> Started -> Gone                              hardware failure, automatic approval
    Pending -> Advisory -> Gone                             advice: acknowledging it does nothing

Every visible change is one new incarnation of its scope's document, in the same instant.
"""

from collections import OrderedDict
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from . import event_types
from .documents import not_before_text
from .faults import Faults
from .fields import at
from .journal import Journal
from .model import ADVISORY, GONE, PENDING, SCHEDULED, STARTED, Event, Requests, Scope, Vm, new_event_id
from .problems import InvalidInput, NotThere, WrongMoment
from .scenario import NEVER, EventSpec, Scenario, ScopeSpec, Settings, VmSpec, together
from .timeline import Due, Timeline

GONE_KEPT = 1000
ARM, CO_TENANT = "arm", "co_tenant"  # approvers that are no VM


class Placed(NamedTuple):
    """An event whose resources were found to be VMs of one scope."""

    spec: EventSpec
    scope: str
    resources: Tuple[str, ...]


class World:
    """All VMs, scopes, events and faults, on one timeline."""

    def __init__(self, timeline: Timeline, journal: Journal) -> None:
        self.timeline = timeline
        self.journal = journal
        self.settings = Settings()
        self.faults = Faults(timeline)
        self.vms: Dict[str, Vm] = {}  # by lower-case name
        self.by_address: Dict[str, Vm] = {}
        self.scopes: Dict[str, Scope] = {}
        self.events: OrderedDict[str, Event] = OrderedDict()
        self.requests = Requests()
        self.listeners: List[Callable[[str, Event], None]] = []  # told of (change, event)
        self._coming: List[Due] = []  # faults of scenarios

    # -- loading ---------------------------------------------------------------------------------------------------

    def load(self, scenario: Scenario) -> List[Event]:
        """Take a scenario in, all of it or, when something is wrong with it, nothing."""
        if not scenario.vms and not self.vms:
            scenario = together([scenario])
        scopes = self._scope_of_each_vm(scenario)
        placed = [self._place(spec, scopes) for spec in scenario.events]
        self._check_scopes(scenario, scopes)
        self._check_ids(placed)
        for spec in scenario.faults:
            self.check_vm_names(spec.fault.vms, at(spec.place, "vm"), scopes)
        default_vm = scenario.settings.get("default_vm", "")
        self.check_vm_names([default_vm] if default_vm else [], "settings.default_vm", scopes)

        self.settings = self.settings._replace(**scenario.settings)
        for name, spec in scenario.scopes.items():
            self._set_scope(name, spec)
        for vm in scenario.vms:
            self._add_vm(vm)
        for scope in self.scopes.values():
            scope.forget()
        with self.timeline.moment():
            for fault in scenario.faults:
                self._coming.append(self.timeline.after(fault.at, lambda fault=fault: self.faults.add(fault.fault)))
            return self._add_events(placed)

    def _scope_of_each_vm(self, scenario: Scenario) -> Dict[str, Tuple[str, str]]:
        """Lower-case name -> (name, scope), of the VMs that are and that come."""
        found = {key: (vm.name, vm.scope.name) for key, vm in self.vms.items()}
        addresses = {address: vm.name for address, vm in self.by_address.items()}
        for spec in scenario.vms:
            if spec.name.lower() in found:
                raise InvalidInput(at(spec.place, "name"), f"there is already a VM {found[spec.name.lower()][0]!r}")
            found[spec.name.lower()] = (spec.name, spec.scope)
            for address in spec.addresses:
                if address in addresses:
                    raise InvalidInput(
                        at(spec.place, "address"), f"{address} is already the address of {addresses[address]!r}"
                    )
                addresses[address] = spec.name
        return found

    @staticmethod
    def _place(spec: EventSpec, vms: Dict[str, Tuple[str, str]]) -> Placed:
        """Find the VMs that an event hits."""
        names: List[str] = []
        scopes: List[str] = []
        for position, resource in enumerate(spec.resources):
            place = at(at(spec.place, "resources"), position)
            if resource.lower() not in vms:
                raise InvalidInput(place, f"{resource!r} is no VM here")
            name, scope = vms[resource.lower()]
            if scopes and scope != scopes[0]:
                raise InvalidInput(
                    place,
                    f"{name!r} is in scope {scope!r}, but {names[0]!r} in {scopes[0]!r}: an event stays in one scope",
                )
            names.append(name)
            scopes.append(scope)
        return Placed(spec, scopes[0], tuple(names))

    def _check_scopes(self, scenario: Scenario, vms: Dict[str, Tuple[str, str]]) -> None:
        used = {scope for name, scope in vms.values()}
        for name in scenario.scopes:
            if name not in used:
                raise InvalidInput(
                    at("scopes", name), f"no VM is in it; scopes in use: {', '.join(sorted(used)) or 'none'}"
                )

    def _check_ids(self, placed: Sequence[Placed]) -> None:
        taken = set(self.events)
        for one in placed:
            if one.spec.id in taken:
                raise InvalidInput(at(one.spec.place, "id"), f"there is already an event {one.spec.id}")
            if one.spec.id:
                taken.add(one.spec.id)

    def check_vm_names(self, names: Sequence[str], place: str, vms: Optional[Dict[str, Any]] = None) -> None:
        """All of them must be VMs."""
        known = self.vms if vms is None else vms
        for name in names:
            if name.lower() not in known:
                raise InvalidInput(place, f"{name!r} is no VM here")

    def _set_scope(self, name: str, spec: ScopeSpec) -> None:
        if name in self.scopes:
            self.scopes[name].spec = spec
        else:
            self._add_scope(name, spec)

    def _add_scope(self, name: str, spec: ScopeSpec) -> Scope:
        scope = self.scopes[name] = Scope(name, spec)
        if spec.enabled:
            self._enable(scope, new=False)
        return scope

    def _add_vm(self, spec: VmSpec) -> Vm:
        scope = self.scopes.get(spec.scope) or self._add_scope(spec.scope, ScopeSpec())
        vm = Vm(spec, scope)
        scope.vms.append(vm)
        self.vms[spec.name.lower()] = vm
        for address in spec.addresses:
            self.by_address[address] = vm
        return vm

    def _add_events(self, placed: Sequence[Placed]) -> List[Event]:
        added: List[Event] = []
        by_name: Dict[str, Event] = {}
        for one in placed:
            event = Event(one.spec, one.spec.id or new_event_id(), self.scopes[one.scope], one.resources)
            self.events[event.id] = by_name[event.name] = event
            added.append(event)
            if one.spec.after:
                by_name[one.spec.after].followers.append(event)
            else:
                self._expect(event)
        self._drop_old_events()
        return added

    def _drop_old_events(self) -> None:
        gone = [event.id for event in self.events.values() if event.status == GONE]
        for event_id in gone[: max(0, len(gone) - GONE_KEPT)]:
            del self.events[event_id]

    def _expect(self, event: Event) -> None:
        if event.spec.at:
            self._later(event, event.spec.at, lambda: self._show(event))
        else:
            self._show(event)

    # -- looking ---------------------------------------------------------------------------------------------------

    def event(self, id_or_name: str) -> Event:
        """By id in any case, else the latest of that name."""
        event = self.events.get(id_or_name.upper())
        if event is None:
            event = next(
                (event for event in reversed(list(self.events.values())) if event.name == id_or_name and id_or_name),
                None,
            )
        if event is None:
            raise NotThere(f"there is no event {id_or_name!r}")
        return event

    def vm(self, name: str) -> Vm:
        """By name, in any case."""
        vm = self.vms.get(name.lower())
        if vm is None:
            raise NotThere(f"there is no VM {name!r}")
        return vm

    def default_vm(self) -> Optional[Vm]:
        """Who asks from an address that nobody has."""
        if self.settings.default_vm:
            return self.vms[self.settings.default_vm.lower()]
        if len(self.vms) == 1:
            only = next(iter(self.vms.values()))
            return None if only.spec.addresses else only
        return None

    # -- scopes ----------------------------------------------------------------------------------------------------

    def asked(self, scope: Scope) -> float:
        """Somebody asks for a scope's document: enables it if need be. Returns how long (virtual) the answer takes."""
        scope.last_request = self.timeline.now()
        if not scope.enabled:
            self._enable(scope, new=True)
        return max(0.0, scope.ready_at - self.timeline.now())

    def _enable(self, scope: Scope, new: bool) -> None:
        scope.enabled = True
        scope.opened += 1
        scope.incarnation = scope.spec.initial_incarnation
        scope.last_request = self.timeline.now()
        scope.forget()
        delay = scope.spec.events_delay if new else 0
        scope.ready_at = scope.last_request + (scope.spec.first_call_delay if new else 0)
        if delay:
            self.timeline.after(delay, lambda: self._listen(scope, scope.opened))
        else:
            scope.listening = True
        if new:
            self.journal.add("scope", scope=scope.name, enabled=True, incarnation=scope.incarnation)
        self._watch_idleness(scope)

    def _listen(self, scope: Scope, opened: int) -> None:
        if scope.enabled and scope.opened == opened:
            scope.listening = True
            if scope.events:
                scope.changed()

    def _watch_idleness(self, scope: Scope) -> None:
        if not self.settings.disable_after or not scope.enabled:
            return
        left = scope.last_request + self.settings.disable_after - self.timeline.now()
        if left > 0:
            self.timeline.after(
                left, lambda opened=scope.opened: self._watch_idleness(scope) if scope.opened == opened else None
            )
            return
        scope.enabled = scope.listening = False
        scope.incarnation = scope.spec.initial_incarnation
        scope.forget()
        self.journal.add("scope", scope=scope.name, enabled=False, incarnation=scope.incarnation)

    # -- events ----------------------------------------------------------------------------------------------------

    def _later(self, event: Event, seconds: float, action: Callable[[], None]) -> None:
        event.due.append(self.timeline.after(seconds, action))

    def _moment(self) -> Tuple[float, float]:
        return (self.timeline.now(), self.timeline.clock.wall())

    def _record(self, kind: str, event: Event, **members: Any) -> None:
        self.journal.add(
            kind,
            scope=event.scope.name,
            event_id=event.id,
            name=event.name,
            event_type=event.type,
            resources=list(event.resources),
            incarnation=event.scope.incarnation,
            **members,
        )

    def _tell(self, change: str, event: Event) -> None:
        for listener in self.listeners:
            listener(change, event)

    def _show(self, event: Event) -> None:
        scope = event.scope
        if event.is_advice:
            self._advise(event)
        elif event.spec.no_notice:
            self._start([event], "no_notice")
        elif event.source == "User" and event.type in scope.spec.automatically_approve:
            self._start([event], "automatic")
        elif not scope.enabled:
            self._start([event], "disabled")  # nobody listens: Azure waits for nobody
        else:
            self._schedule(event)

    def _date(self, event: Event) -> None:
        """Set its not-before, and the date that clients are shown, which stays."""
        clock = self.timeline.clock
        event.not_before = self.timeline.now() + event.spec.notice
        event.not_before_shown = event.not_before
        if self.settings.not_before_clock == "wall":
            ahead = event.not_before - clock.now()
            event.not_before_shown = clock.wall() + (ahead / clock.speed if clock.speed else ahead)

    def _schedule(self, event: Event) -> None:
        self._date(event)
        self._appear(event, SCHEDULED)
        self._later(event, event.spec.notice, lambda: self._start([event], "not_before"))
        if event.spec.cancel_after is not None:
            self._later(event, event.spec.cancel_after, lambda: self._leave(event, "cancelled"))
        self._record(
            "scheduled", event, not_before=not_before_text(event.not_before_shown, self.settings.not_before_format)
        )
        self._tell("scheduled", event)

    def _advise(self, event: Event) -> None:
        if event.spec.not_before == "date":
            self._date(event)
        event.hides_not_before = event.spec.not_before == "absent"
        self._appear(event, ADVISORY)
        self._end_later(event)
        self._record("advisory", event)
        self._tell("advisory", event)

    def _appear(self, event: Event, status: str) -> None:
        event.status = status
        event.times["scheduled"] = self._moment()
        event.scope.events.append(event)
        event.scope.changed()

    def _end_later(self, event: Event) -> None:
        if event.spec.tail != NEVER:
            self._later(event, event.spec.tail, lambda: self._leave(event, "completed"))

    def _start(self, events: Sequence[Event], cause: str) -> None:
        """Events of one scope start together, in one new incarnation."""
        for event in events:
            self._call_off(event)
            if event.status == PENDING:
                event.scope.events.append(event)
            event.status = STARTED
            event.not_before_shown = None
            event.times["started"] = self._moment()
            self._end_later(event)
        events[0].scope.changed()
        for event in events:
            self._record("started", event, cause=cause)
            self._tell("started", event)
        if cause == "not_before":
            self._release(events[0].scope)

    def _leave(self, event: Event, outcome: str) -> None:
        self._call_off(event)
        shown = event in event.scope.events
        event.status, event.outcome = GONE, outcome
        event.times["gone"] = self._moment()
        if shown:
            event.scope.events.remove(event)
            event.scope.changed()
        self._record("gone", event, outcome=outcome)
        self._tell("gone", event)
        for follower in event.followers:
            if follower.status == PENDING:
                self._expect(follower)
        self._release(event.scope)

    @staticmethod
    def _call_off(event: Event) -> None:
        for due in event.due:
            due.call_off()
        del event.due[:]

    # -- approval --------------------------------------------------------------------------------------------------

    def approve(self, event: Event, by: str) -> str:
        """Somebody agrees that it may start. Returns approved, already, started or advice."""
        if event.status == ADVISORY:
            return "advice"
        if event.status == STARTED:
            return "started"
        if event.approved:
            return "already"
        event.approved = True
        event.approvals.append((by, self._moment()))
        self._record("approved", event, by=by)
        if not event.co_tenants_approved and event.co_tenant_delay != NEVER:
            self._later(event, event.co_tenant_delay, lambda: self.co_tenants_approve(event))
        self._release(event.scope)
        return "approved"

    def co_tenants_approve(self, event: Event) -> None:
        """The others on the host agree."""
        if event.status != SCHEDULED or CO_TENANT in [by for by, moment in event.approvals]:
            return
        event.co_tenants_approved = True
        event.approvals.append((CO_TENANT, self._moment()))
        self._record("approved", event, by=CO_TENANT)
        self._release(event.scope)

    def _release(self, scope: Scope) -> None:
        """Start, together, what everybody has agreed to. A Terminate waits for those that come before it or with it."""
        scheduled = [event for event in scope.events if event.status == SCHEDULED]
        holding = [
            event.not_before for event in scheduled if event.type == event_types.TERMINATE and not _agreed(event)
        ]
        ready = [
            event
            for event in scheduled
            if _agreed(event)
            and not (event.type == event_types.TERMINATE and any(held <= event.not_before for held in holding))
        ]
        if ready:
            self._start(ready, "approved")

    def post(self, vm: Vm, event_ids: Sequence[str]) -> List[Dict[str, Any]]:
        """A VM approves events that it can see; what became of each.

        Unknown ones spoil the rest if the settings say 400.
        """
        visible = {event.id: event for event in vm.scope.events_for(vm)}
        found = [(event_id, visible.get(event_id.upper())) for event_id in event_ids]
        refused = self.settings.unknown_event_status == 400 and any(event is None for event_id, event in found)
        results = []
        for event_id, event in found:
            if event is None:
                result = "unknown"
            else:
                result = "refused" if refused else self.approve(event, vm.name)
            results.append({"event_id": event_id, "result": result, "own": event is not None and event.lists(vm.name)})
        return results

    # -- by hand ---------------------------------------------------------------------------------------------------

    def start(self, event: Event) -> None:
        """Now, approved or not."""
        self._must_be(event, "started", PENDING, SCHEDULED)
        self._start([event], "control")

    def complete(self, event: Event) -> None:
        """It is over."""
        self._must_be(event, "completed", STARTED, ADVISORY)
        self._leave(event, "completed")

    def cancel(self, event: Event) -> None:
        """It will not happen."""
        self._must_be(event, "cancelled", PENDING, SCHEDULED, ADVISORY)
        self._leave(event, "cancelled")

    def approve_from_outside(self, event: Event, who: str) -> None:
        """By an ARM call, or by the other tenants of the host."""
        self._must_be(event, "approved", SCHEDULED, STARTED, ADVISORY)
        if who == CO_TENANT:
            self.co_tenants_approve(event)
        else:
            self.approve(event, who)

    @staticmethod
    def _must_be(event: Event, done: str, *statuses: str) -> None:
        if event.status not in statuses:
            raise WrongMoment(f"event {event.id} is {event.status}: only {' or '.join(statuses)} can be {done}")

    def reset(self) -> None:
        """Drop events, faults, counts and journal; keep VMs, scopes and settings."""
        for event in self.events.values():
            self._call_off(event)
        for due in self._coming:
            due.call_off()
        self._coming = []
        self.events.clear()
        self.faults.clear()
        self.requests = Requests()
        for vm in self.vms.values():
            vm.requests = Requests()
        for scope in self.scopes.values():
            if scope.events:
                del scope.events[:]
                scope.changed()
        self.journal.clear()


def _agreed(event: Event) -> bool:
    return event.approved and event.co_tenants_approved
