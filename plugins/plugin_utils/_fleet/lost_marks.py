# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks that machines have lost with their disk: the run's record still has them, and each is put back. It changes the record, and nothing else.

Private to this collection.

An ephemeral disk, or a reimage, takes the mark, but not what was done elsewhere (a load balancer, a delegate). Until the mark is
there again, the record goes on as if it were, in phase "recovering": the machine does not count as prepared.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._core.mark_view import EXPIRED, OURS
from ...module_utils._steps.sequence import TAKEN_BACK, WAITING
from ...module_utils._text import listed, one_line
from .machine_state import KEPT, PUT_BACK, MachineState
from .marks import mark_keys, whose
from .reports import happened, note
from .state import Record

WHY = "its mark was lost with its disk when it was rebooted, so nobody knows what is done there now"


def with_lost_mark(record: Record, machine: MachineState, answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """An answer, with the mark of the record where the machine has lost its own.

    :arg machine: as it was before this answer
    """
    known = machine.mark
    by_person = known is not None and set(mark_keys(machine)) <= {event.upper() for event in answer.get("put_back", ())}
    recovered = by_person or any(
        one.get("state") == "recovered" and one.get("steps") for one in answer.get("answers") or ()
    )
    if (
        answer.get("mark")
        or known is None
        or recovered
        or not (machine.lost_mark == KEPT or _was_lost(record, machine, answer))
    ):
        machine.lost_mark = PUT_BACK if machine.lost_mark and answer.get("mark") else ""
        return answer
    kept = dict(known, phase="recovering")
    if machine.lost_mark != KEPT:
        machine.lost_mark = KEPT
        _note_lost(record, machine)
    return {**answer, "mark": kept}


def _was_lost(record: Record, machine: MachineState, answer: Mapping[str, Any]) -> bool:
    """Whether the mark went with the disk, over a reboot: where the disk is the same, somebody has removed it, such as a run that has
    recovered the machine."""
    is_same_disk = bool(machine.said.disk) and answer.get("disk") == machine.said.disk
    return (
        whose(record, machine) in (OURS, EXPIRED)
        and bool(undone_words(machine))
        and _was_rebooted(machine, answer)
        and not is_same_disk
    )


def _was_rebooted(machine: MachineState, answer: Mapping[str, Any]) -> bool:
    if not machine.said.boot_id or not answer.get("boot_id") or answer["boot_id"] == machine.said.boot_id:
        return False
    # The boot of a Windows machine seems to be another one when its clock is set.
    uptime, before = answer.get("uptime"), machine.said.uptime
    return machine.given.is_linux or (uptime is not None and before is not None and uptime < before)


def _note_lost(record: Record, machine: MachineState) -> None:
    host = machine.host
    words = f"{host} was rebooted and has lost its mark with its disk; the run puts the mark back. To be undone: {undone_words(machine)}"
    note(record, f"machine {host}: mark lost", f"{words}.")
    for key in [key for key in mark_keys(machine) if key in record.events] or [""]:
        happened(record, "mark lost", words, key, host)


def give_up(record: Record) -> None:
    """No event is approved for which such a machine was prepared: when it has looked itself, and so late that it would know of a start."""
    for host, machine in record.hosts.items():
        if machine.lost_mark == KEPT and not (machine.lost or machine.seen.problem):
            for key in mark_keys(machine):
                entry = record.events.get(key)
                if entry and entry.gone is None and entry.started is None:
                    entry.prepared.pop(host, None)
                    entry.failed.setdefault(host, WHY)


def undone_words(machine: MachineState) -> str:
    """What is to be undone by the machine's mark, last step first; "" where nothing is."""
    steps = (machine.mark or {}).get("steps") or ()
    words = [
        one_line(step.get("unwords") or step["key"], 200)
        for step in reversed(steps)
        if step["state"] not in (WAITING, TAKEN_BACK)
    ]
    return listed(words)


def undo_words(host: str, undone: str) -> str:
    """What a person does where no mark tells any more what was done."""
    return (
        f"Perhaps not undone: {undone}. See whether that is so; ansible-playbook cloudops.azure_maintenance.recover "
        f"-e azure_maintenance_hosts={host} -e recover_unmarked=true undoes all steps of the inventory."
    )
