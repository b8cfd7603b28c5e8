# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scenario: settings, scopes, VMs, events and faults, as plain values that were checked (scenario_reader.py)."""

import math
from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

from .faults import Fault

NEVER = math.inf  # seconds; people write "never"


class Settings(NamedTuple):
    """What holds for the whole emulator."""

    start: Optional[float] = None
    default_vm: str = ""
    rate_limit: int = 5
    preview_version: bool = False
    unknown_version_status: int = 400
    unknown_event_status: int = 400
    not_before_format: str = "rfc1123"
    not_before_clock: str = "wall"
    disable_after: float = 86400


class ScopeSpec(NamedTuple):
    """How one scope behaves."""

    enabled: bool = True
    first_call_delay: float = 0
    events_delay: float = 0
    initial_incarnation: int = 1
    incarnation_step: int = 1
    single_fault_domain_gpu: bool = False
    co_tenant_delay: float = 0
    automatically_approve: Tuple[str, ...] = ()
    approve_when_all_down: bool = True


class VmSpec(NamedTuple):
    """One virtual machine."""

    place: str
    name: str
    scope: str
    computer_name: str
    addresses: Tuple[str, ...] = ()
    scale_set: str = ""
    placement_group: str = ""
    location: str = "westeurope"
    compute: Dict[str, Any] = {}
    running: bool = True


class EventSpec(NamedTuple):
    """One piece of maintenance to come."""

    place: str
    name: str
    id: str  # "": a new one
    type: str
    resources: Tuple[str, ...]
    at: float
    after: str
    no_notice: bool
    notice: float
    tail: float
    cancel_after: Optional[float]
    co_tenant_delay: Optional[float]
    source: str
    duration: int
    description: Optional[str]
    not_before: str


class FaultSpec(NamedTuple):
    """A fault that begins at a moment."""

    place: str
    at: float
    fault: Fault


class Scenario(NamedTuple):
    """All of it. `settings` holds only what was said."""

    description: str = ""
    settings: Dict[str, Any] = {}
    scopes: Dict[str, ScopeSpec] = {}
    vms: Tuple[VmSpec, ...] = ()
    resources: Tuple[str, ...] = ()
    events: Tuple[EventSpec, ...] = ()
    faults: Tuple[FaultSpec, ...] = ()


def together(scenarios: Sequence[Scenario]) -> Scenario:
    """Several scenarios as one: later settings and scopes win, everything else adds up.

    VMs come from the resources when nobody declares any.
    """
    settings: Dict[str, Any] = {}
    scopes: Dict[str, ScopeSpec] = {}
    for scenario in scenarios:
        settings.update(scenario.settings)
        scopes.update(scenario.scopes)
    whole = Scenario(
        description="; ".join(scenario.description for scenario in scenarios if scenario.description),
        settings=settings,
        scopes=scopes,
        vms=tuple(vm for scenario in scenarios for vm in scenario.vms),
        resources=tuple(name for scenario in scenarios for name in scenario.resources),
        events=tuple(event for scenario in scenarios for event in scenario.events),
        faults=tuple(fault for scenario in scenarios for fault in scenario.faults),
    )
    if whole.vms:
        return whole
    names: Dict[str, str] = {}
    for name in whole.resources + tuple(name for event in whole.events for name in event.resources):
        names.setdefault(name.lower(), name)
    return whole._replace(
        vms=tuple(VmSpec("resources", name, "default", computer_name=name) for name in names.values())
    )
