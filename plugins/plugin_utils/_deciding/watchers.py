# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that have a watcher of their own: it prepares them and brings them back, the run waits for its mark and approves. Pure.

Private to this collection.

A watcher that is down gives nothing away: a mark that it has left is only taken back by itself, or by a person. Where it has not begun,
the run prepares the machine as any other. So it does in a rehearsal, of which a watcher sees nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from ...module_utils._core.mark_endpoint import is_made_for, is_made_for_azure
from ...module_utils._core.mark_view import WATCHER
from ...module_utils._core.messages import Reason
from ...module_utils._text import clause, listed, one_line
from .marks import holder_words, view_of, whose
from .schema import MachineState, Record


def is_its_watchers(machine: MachineState) -> bool:
    """Whether the machine is prepared by its own watcher, and so by nobody else."""
    watcher = machine["watcher"]
    return bool(watcher and watcher["alive"] and watcher["mode"] == "manage") and not _looks_elsewhere(machine)


def has_steps(machine: MachineState) -> bool:
    """Whether anything is done to prepare it: by the inventory's steps, or by those and the hooks of its own watcher."""
    return machine["steps"] > 0 or watcher_prepares(machine)


def watcher_prepares(machine: MachineState) -> bool:
    """Whether its own watcher has anything to prepare it by."""
    watcher = machine["watcher"]
    return bool(watcher and watcher.get("prepares") and is_its_watchers(machine))


def lacks_steps(machine: MachineState) -> bool:
    """Whether nothing would be done to prepare it, though something has to be (``maintain_require_steps``)."""
    return machine["require_steps"] and not has_steps(machine)


def no_steps(hosts: Collection[str]) -> str:
    """That there are none for these machines, as a run and a rehearsal say it when they refuse to begin."""
    return (
        f"There are no steps for {listed(hosts)}, and maintain_require_steps is true: say in drain_steps how to take such a machine out "
        "of service, leave it out with --limit, or set maintain_require_steps to false."
    )


def _looks_elsewhere(machine: MachineState) -> bool:
    """Whether the run goes by an emulator at which its watcher does not look. Azure's own service may have other addresses."""
    watcher, given = machine["watcher"], machine["endpoint"]
    seen = watcher.get("endpoint") if watcher else ""
    if not (given and seen) or is_made_for_azure({"endpoint": given}):
        return False
    return not is_made_for({"endpoint": seen}, given)


def why_not_by_watcher(record: Record, machine: MachineState, prepared: bool, at: float) -> Reason | None:
    """Why its watcher can't be waited for; None when it can, or has nothing to do with it.

    :arg prepared: whether its mark says that it is prepared for what is asked about
    """
    host, watcher = machine["host"], machine["watcher"]
    if watcher and is_its_watchers(machine) and watcher["lacks"]:
        words = f"(version {one_line(watcher['version'], 40)}) that lacks steps of the inventory: {lacking(machine)}"
        return Reason("steps_differ", host, words)
    if prepared or whose(record, machine, at) != WATCHER:
        return None
    view = view_of(record, machine, at)
    if view.is_failed:
        return Reason("failed_there", host, holder_words(machine))
    if view.is_partially_recovered:
        return Reason("half_recovered", host, holder_words(machine))
    return None if is_its_watchers(machine) else Reason("owner_down", host, holder_words(machine))


def lacking(machine: MachineState) -> str:
    """The steps of the inventory that its watcher does not have, for people."""
    watcher = machine["watcher"]
    return listed([clause(words) for words in watcher["lacks"]]) if watcher else ""
