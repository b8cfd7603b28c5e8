# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A scenario as a person wrote it, read and checked: keys, types, ranges, positions.

What needs a running world (is that resource a VM?) is checked when the world loads the scenario (placement.py).
"""

import ipaddress
import re
from datetime import datetime, timezone
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple

from . import event_types
from .faults import read_fault
from .fields import REQUIRED, Fields, at, listed
from .problems import InvalidInput
from .scenario import NEVER, EventSpec, FaultSpec, Scenario, ScopeSpec, VmSpec

YEAR = 366 * 86400
GUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def read_settings(value: Any, place: str) -> Dict[str, Any]:
    """The settings that were said, by name."""
    fields = Fields(value, place)
    said = {
        "start": _moment(fields, "start"),
        "default_vm": fields.text("default_vm", None),
        "rate_limit": fields.whole("rate_limit", None, 0, 100000),
        "preview_version": None if fields.raw("preview_version") is None else fields.flag("preview_version"),
        "unknown_version_status": _one_of(fields, "unknown_version_status", (400, 404)),
        "unknown_event_status": _one_of(fields, "unknown_event_status", (400, 200)),
        "not_before_format": fields.text("not_before_format", None, ("rfc1123", "iso8601")),
        "not_before_clock": fields.text("not_before_clock", None, ("wall", "virtual")),
        "disable_after": fields.number("disable_after", None, 0, YEAR),
    }
    fields.done()
    return {key: setting for key, setting in said.items() if setting is not None}


def _one_of(fields: Fields, key: str, choices: Sequence[int]) -> Optional[int]:
    value = fields.whole(key, None)
    if value is not None and value not in choices:
        raise InvalidInput(fields.at(key), f"{value!r} is none of {', '.join(str(choice) for choice in choices)}")
    return value


def _moment(fields: Fields, key: str) -> Optional[float]:
    text = fields.text(key, None)
    if text is None:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        raise InvalidInput(
            fields.at(key), f"{text!r} is no time of the form 2026-03-02T08:00:00Z (in YAML, put it in quotes)"
        ) from None


def _or_never(fields: Fields, key: str, default: Optional[float]) -> Any:
    value = fields.number(key, default, 0, YEAR, ("never",))
    return NEVER if value == "never" else value


def read_scope(value: Any, place: str) -> ScopeSpec:
    """One scope's behaviour."""
    fields = Fields(value, place)
    automatic = []
    for position, name in enumerate(fields.texts("automatically_approve")):
        if name not in event_types.AUTOMATIC:
            raise InvalidInput(
                at(fields.at("automatically_approve"), position),
                f"{name!r} is none of {', '.join(event_types.AUTOMATIC)}",
            )
        automatic.append(name)
    spec = ScopeSpec(
        enabled=fields.flag("enabled", True),
        first_call_delay=fields.number("first_call_delay", 0, 0, 120),
        events_delay=fields.number("events_delay", 0, 0, 300),
        initial_incarnation=fields.whole("initial_incarnation", 1),
        incarnation_step=fields.whole("incarnation_step", 1, 1, 1000),
        single_fault_domain_gpu=fields.flag("single_fault_domain_gpu"),
        co_tenant_delay=_or_never(fields, "co_tenant_delay", 0),
        automatically_approve=tuple(automatic),
        approve_when_all_down=fields.flag("approve_when_all_down", True),
    )
    fields.done()
    return spec


def read_vm(value: Any, place: str) -> VmSpec:
    """One VM."""
    fields = Fields(value, place)
    name = fields.text("name", REQUIRED, word=True)
    compute = fields.raw("compute", {})
    Fields(compute, fields.at("compute"))
    addresses = []
    for address in fields.texts("address"):
        try:
            addresses.append(str(ipaddress.ip_address(address)))
        except ValueError:
            raise InvalidInput(fields.at("address"), f"{address!r} is no IP address") from None
    spec = VmSpec(
        place=place,
        name=name,
        scope=fields.text("scope", name, word=True),
        addresses=tuple(addresses),
        computer_name=fields.text("computer_name", name),
        scale_set=fields.text("scale_set", ""),
        placement_group=fields.text("placement_group", ""),
        location=fields.text("location", "westeurope"),
        compute=compute,
        running=fields.flag("running", True),
    )
    fields.done()
    return spec


def read_event(value: Any, place: str, name: str, played_against: Sequence[str] = ()) -> EventSpec:
    """One event; `played_against` are the names that positions in its resources stand for."""
    fields = Fields(value, place)
    event_type = fields.text("type", REQUIRED, word=True)
    known = {known.lower(): known for known in event_types.DEFAULTS}
    event_type = known.get(event_type.lower(), event_type)
    usual = event_types.defaults_of(event_type)
    event_id = fields.text("id", "")
    if event_id and not GUID.fullmatch(event_id):
        raise InvalidInput(fields.at("id"), f"{event_id!r} is no GUID, such as 0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11")
    spec = EventSpec(
        place=place,
        name=fields.text("name", name, word=True) if name else fields.text("name", ""),
        id=event_id.upper(),
        type=event_type,
        resources=_resources(fields, played_against),
        at=fields.number("at", 0, 0, YEAR),
        after=fields.text("after", ""),
        no_notice=fields.text("status", "Scheduled", ("Scheduled", "Started")) == "Started",
        notice=fields.number("notice", usual.notice, 0, YEAR),
        tail=_or_never(fields, "tail", usual.tail),
        cancel_after=fields.number("cancel_after", None, 0, YEAR),
        co_tenant_delay=_or_never(fields, "co_tenant_delay", None),
        source=fields.text("source", "Platform", ("Platform", "User")),
        duration=fields.whole("duration", usual.duration, -1),
        description=fields.text("description", None),
        not_before=fields.text("not_before", "empty", ("date", "empty", "absent")),
    )
    fields.done()
    return spec


def _resources(fields: Fields, played_against: Sequence[str]) -> Tuple[str, ...]:
    value = fields.raw("resources")
    place = fields.at("resources")
    if value is None:
        if not played_against:
            raise InvalidInput(place, "missing: which VMs does it affect?")
        return tuple(played_against)
    names: List[str] = []
    for position, item in enumerate(listed([value] if isinstance(value, str) else value, place)):
        name = _resource(item, at(place, position), played_against)
        if name.lower() in [other.lower() for other in names]:
            raise InvalidInput(at(place, position), f"{name!r} is there twice")
        names.append(name)
    if not names:
        raise InvalidInput(place, "empty: which VMs does it affect?")
    return tuple(names)


def _resource(item: Any, place: str, played_against: Sequence[str]) -> str:
    if isinstance(item, str) and item:
        return item
    if isinstance(item, bool) or not isinstance(item, int):
        raise InvalidInput(place, f"a VM's name, or its position in the scenario's resources, is needed, not {item!r}")
    if not 0 <= item < len(played_against):
        raise InvalidInput(
            place, f"the scenario is played against {len(played_against)} VM(s), there is no position {item}"
        )
    return played_against[item]


def read_scenario(value: Any, resources: Optional[Sequence[str]] = None, place: str = "") -> Scenario:
    """A whole scenario; `resources` replace its own."""
    fields = Fields(value, place)
    own = tuple(fields.texts("resources"))
    played_against = tuple(resources) if resources and own else own
    scopes = fields.raw("scopes", {})
    Fields(scopes, fields.at("scopes"))
    events = [
        read_event(event, at(fields.at("events"), position), f"event{position + 1}", played_against)
        for position, event in enumerate(listed(fields.raw("events", []), fields.at("events")))
    ]
    _check_names(events)
    scenario = Scenario(
        description=fields.text("description", ""),
        settings=read_settings(fields.raw("settings", {}), fields.at("settings")),
        scopes={
            str(name): read_scope(scope if scope is not None else {}, at(fields.at("scopes"), str(name)))
            for name, scope in scopes.items()
        },
        vms=tuple(
            read_vm(vm, at(fields.at("vms"), position))
            for position, vm in enumerate(listed(fields.raw("vms", []), fields.at("vms")))
        ),
        resources=played_against,
        events=tuple(events),
        faults=tuple(
            _read_fault_spec(fault, at(fields.at("faults"), position))
            for position, fault in enumerate(listed(fields.raw("faults", []), fields.at("faults")))
        ),
    )
    fields.done()
    return scenario


def _check_names(events: Sequence[EventSpec]) -> None:
    earlier: Set[str] = set()
    for event in events:
        if event.name in earlier:
            raise InvalidInput(at(event.place, "name"), f"{event.name!r} is there twice")
        if event.after and event.after not in earlier:
            raise InvalidInput(at(event.place, "after"), f"{event.after!r} is no event before this one")
        earlier.add(event.name)


def _read_fault_spec(value: Any, place: str) -> FaultSpec:
    Fields(value, place)
    rest = dict(value)
    begins = Fields({"at": rest.pop("at", None)}, place).number("at", 0, 0, YEAR)
    return FaultSpec(place, begins, read_fault(rest, place))
