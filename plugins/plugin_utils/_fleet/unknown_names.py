# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events that affect a VM which may be a machine whose name in Azure is not known, or was learned too late. Pure.

Private to this collection.
"""

from __future__ import annotations

from ...module_utils._core.decision import PREPARING
from ...module_utils._events.policy import parse_policy
from ...module_utils._text import listed
from .evaluation import title
from .event_terms import decided
from .run_events import event_of, is_open
from .schema import EventState, Record

LATE = "name learned late"


def of_nameless(record: Record, entry: EventState) -> dict[str, str]:
    """What is a problem of it now, by subject. A name that is learned decides it."""
    if not entry["nameless"] or not entry["unknown"]:
        return {}
    over = entry["started"] is not None or (entry["gone"] is not None and entry["outcome"] == "unknown")
    if not over and (entry["affected"] or not is_open(entry)):
        return {}  # while it is to come, its approval names them
    found = {}
    nameless = [host for host in entry["nameless"] if not record["hosts"][host]["resource_name"]]
    if nameless:
        found["left alone"] = _may_affect(entry, nameless)
    reached = [host for host in entry["nameless"] if host not in nameless and _was_meant(record, entry, host)]
    if over and reached:
        found[LATE] = (
            f"{title(entry)} {_verb(entry)} {listed(reached)} unprepared: the name of the VM was not known in time."
        )
    return found


def _may_affect(entry: EventState, nameless: list[str]) -> str:
    unknown = "the name of the VM is not known (azure_maintenance_resource_name)."
    if entry["affected"]:
        return f"{title(entry)} may have reached {listed(nameless)}, too: {unknown}"
    return f"{title(entry)} was left alone, but may affect {listed(nameless)}: {unknown}"


def _verb(entry: EventState) -> str:
    return "reached" if entry["started"] is not None else "may have reached"


def _was_meant(record: Record, entry: EventState, host: str) -> bool:
    """Whether it names the machine, as is known now, which should have been prepared for it."""
    machine = record["hosts"][host]
    if machine["resource_name"].lower() not in {name.lower() for name in entry["unknown"]}:
        return False
    rules = {host: parse_policy(machine["options"]["policy"])}
    return decided(event_of(entry), entry["judged"], rules).actions[host] in PREPARING
