# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks as the journal has them: what one write has made of the one before. And those that others than a run leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .machine import Machine
    from .step import Step


def journalled(machine: Machine, before: Any, mark: Any, run: str) -> None:
    """Note what one write has changed.

    :arg before: what was there, None where nothing was
    :arg run: whose call has written it
    """
    journal, host = machine.journal, machine.host
    old = before if before and "unreadable" not in before else None
    if mark is None:
        left = machine.left_out()
        if old is None or _is_expired(machine, old):  # taken over, and nothing is to be undone
            journal.add("mark-gone", host=host, run=run, left=left)
        else:
            journal.add("mark-gone", host=host, run=run, left=left, whose=old["holder"]["run"])
        return
    whose = mark["holder"]["run"]
    if old is None:
        old = _began(machine, mark, run)
    elif old["holder"]["run"] != whose:
        journal.add("taken", host=host, run=run, from_run=old["holder"]["run"], expired=_is_expired(machine, old))
    elif old["number"] > mark["number"]:
        journal.add("older", host=host, run=run, number=mark["number"], there=old["number"])
    for event in mark["events"]:
        if event not in old["events"]:
            journal.add("joined", host=host, run=run, event=event)
    if mark["phase"] != old["phase"]:
        machine.entered(mark["phase"])
        present = (mark.get("again") or mark["boot_id"]) == machine.boot_id
        journal.add("phase", host=host, run=run, phase=mark["phase"], events=list(mark["events"]), present=present)
    # What is to be done again after a start may have been done by then once more, before anybody knew of the start.
    waiting = [step["key"] for step in mark["steps"] if step["state"] == "waiting" and not step.get("perhaps_done")]
    if waiting:
        journal.add("mark-says", host=host, run=run, waiting=waiting)


def _is_expired(machine: Machine, mark: Any) -> bool:
    return mark["lease"]["boot_id"] != machine.boot_id or machine.uptime >= mark["lease"]["until"]


def _began(machine: Machine, mark: Any, run: str) -> Any:
    """A mark where there was none: what it is compared with from now on."""
    lost, machine.lost_mark = machine.lost_mark, None
    if lost and lost.get("since") == mark["since"]:  # one that could not be read says nothing
        machine.lost_by = ""
        machine.journal.add("restored", host=machine.host, run=run)
        return lost
    if machine.lost_by not in ("", run):
        # Only the other run knew what it had had done elsewhere: how this one finds it is how it has to leave it.
        for step in machine.steps:
            step.originally = step.originally and (step.running or not step.elsewhere)
    machine.lost_by = ""
    machine.entered("preparing")
    machine.journal.add("marked", host=machine.host, run=run, events=list(mark["events"]))
    return {"events": [], "phase": "preparing"}


def other_mark(kind: str, host: str, uptime: float, boot_id: str) -> dict[str, Any]:
    """A mark that somebody else left."""
    return {
        "format": 1,
        "number": 5,
        "holder": {"kind": kind, "run": f"{kind}-{host}", "job": "", "controller": "elsewhere"},
        "since": "before",
        "renewed": "before",
        "lease": {"uptime": uptime - 130.0, "boot_id": boot_id, "until": uptime - 10.0},
        "endpoint": "",
        "vm_id": f"vm-{host}",
        "boot_id": boot_id,
        "events": [],
        "phase": "prepared",
        "steps": [],
    }


def step_entry(step: Step, state: str) -> dict[str, Any]:
    """What such a mark says of a step."""
    return {
        "key": step.key,
        "type": "service",
        "words": f"stop {step.key}",
        "unwords": f"start {step.key}",
        "state": state,
        "before": {"ran": step.running},
        "since": "",
        "seconds": 0.0,
        "note": "",
        "limit": step.limit,
        "tries": 1,
        "began": {"uptime": 0.0, "boot_id": ""},
    }
