# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from the record of a run at once: its machines and scopes, the time of day, what may be gone. Pure.

Private to this collection.
"""

from __future__ import annotations

from .entry import event_of
from .machines import Machine
from .plan import ACTIONABLE
from .schema import Record


def wall_time(record: Record, at: float) -> float:
    """The Unix time of a moment of the run."""
    return record["clock"]["wall"] + at - record["clock"]["mono"]


def machines_of(record: Record) -> list[Machine]:
    """The machines as the plan knows them."""
    return [Machine(**machine) for machine in record["machines"]]


def scope_by_host(record: Record) -> dict[str, str]:
    """The scope of each machine."""
    return {machine["host"]: machine["scope"] for machine in record["machines"]}


def may_be_gone(record: Record, host: str) -> bool:
    """Whether an event that takes machines away affects this one, and was approved, has started or is over."""
    return any(
        host in entry["affected"]
        and event_of(entry).takes_machines_away
        and (entry["approval"]["tried"] or entry["started"] is not None or entry["gone"] is not None)
        for entry in record["events"].values()
    )


def is_under_way(record: Record, host: str) -> bool:
    """Whether an event that has started still affects the machine."""
    return any(
        host in entry["affected"]
        and entry["started"] is not None
        and entry["gone"] is None
        and entry["verdict"] in ACTIONABLE
        for entry in record["events"].values()
    )
