# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All there is: VMs, scopes, events and faults on one timeline; what is loaded into it, looked up in it, and reset."""

from collections import OrderedDict
from typing import Any, Dict, Iterable, List, Optional, Sequence

from . import placement
from .enabling import Enabling
from .faults import Faults
from .fields import at
from .journal import Journal
from .lifecycle import Lifecycle
from .model import GONE, Event, Requests, Scope, Vm, new_event_id
from .problems import NotThere
from .scenario import FaultSpec, Scenario, ScopeSpec, Settings, VmSpec, together
from .timeline import Due, Timeline

GONE_KEPT = 1000


class World:
    """One emulated part of Azure."""

    def __init__(self, timeline: Timeline, journal: Journal) -> None:
        self.timeline = timeline
        self.journal = journal
        self.settings = Settings()
        self.faults = Faults(timeline)
        self.lifecycle = Lifecycle(timeline, journal, lambda: self.settings)
        self.enabling = Enabling(timeline, journal, lambda: self.settings)
        self.vms: Dict[str, Vm] = {}  # by lower-case name
        self.by_address: Dict[str, Vm] = {}
        self.scopes: Dict[str, Scope] = {}
        self.events: OrderedDict[str, Event] = OrderedDict()
        self.requests = Requests()
        self._coming: List[Due] = []  # faults of scenarios

    # -- loading ---------------------------------------------------------------------------------------------------

    def load(self, scenario: Scenario) -> List[Event]:
        """Take a scenario in, all of it or, when something is wrong with it, nothing."""
        if not scenario.vms and not self.vms:
            scenario = together([scenario])
        placed = self._checked(scenario)
        self.settings = self.settings._replace(**scenario.settings)
        for name, spec in scenario.scopes.items():
            self._set_scope(name, spec)
        for vm in scenario.vms:
            self._add_vm(vm)
        for scope in self.scopes.values():
            scope.forget()
        with self.timeline.moment():
            for fault in scenario.faults:
                self._expect_fault(fault)
            return self._add_events(placed)

    def _checked(self, scenario: Scenario) -> List[placement.Placed]:
        known = {key: (vm.name, vm.scope.name) for key, vm in self.vms.items()}
        addresses = {address: vm.name for address, vm in self.by_address.items()}
        vms = placement.with_new_vms(known, addresses, scenario)
        placed = [placement.place(spec, vms) for spec in scenario.events]
        placement.check_scopes(scenario, vms)
        placement.check_ids(placed, self.events)
        for fault in scenario.faults:
            placement.check_vm_names(fault.fault.vms, at(fault.place, "vm"), vms)
        default_vm = scenario.settings.get("default_vm", "")
        placement.check_vm_names([default_vm] if default_vm else [], "settings.default_vm", vms)
        return placed

    def _set_scope(self, name: str, spec: ScopeSpec) -> None:
        if name in self.scopes:
            self.scopes[name].spec = spec
        else:
            self._add_scope(name, spec)

    def _add_scope(self, name: str, spec: ScopeSpec) -> Scope:
        scope = self.scopes[name] = Scope(name, spec)
        if spec.enabled:
            self.enabling.enable(scope, new=False)
        return scope

    def _add_vm(self, spec: VmSpec) -> None:
        scope = self.scopes.get(spec.scope) or self._add_scope(spec.scope, ScopeSpec())
        vm = Vm(spec, scope)
        scope.vms.append(vm)
        self.vms[spec.name.lower()] = vm
        for address in spec.addresses:
            self.by_address[address] = vm

    def _expect_fault(self, spec: FaultSpec) -> None:
        def begin() -> None:
            self.faults.add(spec.fault)

        self._coming.append(self.timeline.after(spec.at, begin))

    def _add_events(self, placed: Sequence[placement.Placed]) -> List[Event]:
        added: List[Event] = []
        by_name: Dict[str, Event] = {}
        for one in placed:
            event = Event(one.spec, one.spec.id or new_event_id(), self.scopes[one.scope], one.resources)
            self.events[event.id] = by_name[event.name] = event
            added.append(event)
            if one.spec.after:
                by_name[one.spec.after].followers.append(event)
            else:
                self.lifecycle.expect(event)
        self._drop_old_events()
        return added

    def _drop_old_events(self) -> None:
        gone = [event.id for event in self.events.values() if event.status == GONE]
        for event_id in gone[: max(0, len(gone) - GONE_KEPT)]:
            del self.events[event_id]

    def check_vm_names(self, names: Iterable[str], place: str) -> None:
        """All of them must be VMs."""
        placement.check_vm_names(names, place, self.vms)

    # -- looking up ------------------------------------------------------------------------------------------------

    def event(self, id_or_name: str) -> Event:
        """By id in any case, else the latest of that name."""
        event = self.events.get(id_or_name.upper())
        if event is None:
            named = [event for event in self.events.values() if id_or_name and event.name == id_or_name]
            if not named:
                raise NotThere(f"there is no event {id_or_name!r}")
            event = named[-1]
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

    # -- what VMs do -----------------------------------------------------------------------------------------------

    def post(self, vm: Vm, event_ids: Sequence[str]) -> List[Dict[str, Any]]:
        """A VM approves events that it can see; what became of each.

        Unknown ones spoil the rest if the settings say 400.
        """
        visible = {event.id: event for event in vm.scope.events_for(vm)}
        found = [(event_id, visible.get(event_id.upper())) for event_id in event_ids]
        refused = self.settings.unknown_event_status == 400 and any(event is None for _event_id, event in found)
        results = []
        for event_id, event in found:
            if event is None:
                result = "unknown"
            elif refused:
                result = "refused"
            else:
                result = self.lifecycle.approve(event, vm.name)
            results.append({"event_id": event_id, "result": result, "own": event is not None and event.lists(vm.name)})
        return results

    def set_running(self, vm: Vm, running: bool) -> None:
        """A VM is stopped, or started again."""
        if vm.running == running:
            return
        vm.running = running
        self.journal.add("vm", vm=vm.name, scope=vm.scope.name, running=running)
        self.lifecycle.approve_if_all_are_down(vm.scope)

    def reset(self) -> None:
        """Drop events, faults, counts and journal; keep VMs, scopes and settings."""
        for event in self.events.values():
            self.lifecycle.call_off(event)
        for due in self._coming:
            due.call_off()
        self._coming = []
        self.events.clear()
        self.faults.clear()
        self.requests = Requests()
        for vm in self.vms.values():
            vm.requests = Requests()
            vm.running = vm.spec.running
        for scope in self.scopes.values():
            if scope.events:
                del scope.events[:]
                scope.changed()
        self.journal.clear()
