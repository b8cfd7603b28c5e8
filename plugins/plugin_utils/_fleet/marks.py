# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The run asks whose a machine is: by its mark, and the moment on the machine's own clock; and whether its own watcher prepares it. Pure.

A machine's own watcher prepares it and recovers it; the run waits for its mark, and approves. A watcher that is down gives nothing
away: a mark that it has left is only undone by itself, or by a person. Where it has not started, the run prepares the machine.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Collection

from ...module_utils._clock import Moment
from ...module_utils._core import mark_view as core
from ...module_utils._core.mark_view import WATCHER, Asker, MarkView, is_made_for, is_made_for_azure
from ...module_utils._core.messages import Reason
from ...module_utils._text import clause, listed, one_line
from ...module_utils._watcher.host.linux_host import LINUX
from ...module_utils._watcher.host.windows_host import WINDOWS
from .event_state import EventState
from .machine_state import MachineState
from .state import Record


def whose(record: Record, machine: MachineState) -> str:
    """Whose the machine's mark is, as it was last seen: one of the owners of :mod:`.._core.mark_view`."""
    mark = machine.mark
    if mark is None:
        return core.NOBODY
    return core.owner_of(mark, mark.get("unreadable", ""), _asker(record, machine), moment_of(machine, record.at))


def view_of(record: Record, machine: MachineState) -> MarkView:
    """All that the machine's mark says, as it was last seen. Building it costs more than whose it is."""
    unreadable = str((machine.mark or {}).get("unreadable", ""))
    mark = None if unreadable else machine.mark
    return core.mark_view(mark, unreadable, _asker(record, machine), moment_of(machine, record.at))


def how_far(record: Record, machine: MachineState) -> MarkView:
    """Of its mark what tells how far its outage is: it is asked of each machine at each tick."""
    mark, owner = machine.mark, whose(record, machine)
    if not mark or "unreadable" in mark:
        return MarkView(owner)
    begun = mark["phase"] == "half" and core.recovery_begun(mark)
    return MarkView(owner, str(mark["phase"]), frozenset(mark_keys(machine)), recovery_begun=begun)


def is_expired(machine: MachineState, at: float) -> bool:
    """Whether the lease of the machine's mark is over, whosever it is."""
    return core.is_expired((machine.mark or {})["lease"], moment_of(machine, at))


def mark_keys(machine: MachineState) -> list[str]:
    """The keys of the events in its mark, in their order."""
    mark = machine.mark
    return list(core.event_ids(mark)) if mark and "events" in mark else []


def marked_events(record: Record, machine: MachineState) -> list[EventState]:
    """The events in its mark that the record has."""
    return [record.events[key] for key in mark_keys(machine) if key in record.events]


def phase(machine: MachineState) -> str:
    """The phase of its mark; "" where it has none that can be read."""
    return str((machine.mark or {}).get("phase") or "")


def has_restarted(machine: MachineState) -> bool:
    """Whether the machine was rebooted since the steps of its mark were begun, whatever the reason was."""
    mark = machine.mark
    if not mark or "unreadable" in mark:
        return False
    return bool(machine.said.boot_id) and machine.said.boot_id != core.prepared_under(mark)


def holder_words(machine: MachineState) -> str:
    """Whose the mark is, and since when, for people."""
    mark = machine.mark or {}
    if "unreadable" in mark:
        return f"an unreadable mark ({clause(mark['unreadable'])})"
    return core.holder_since(mark)


def _asker(record: Record, machine: MachineState) -> Asker:
    return Asker(record.run.name, machine.who.vm_id, machine.given.endpoint)


def moment_of(machine: MachineState, at: float) -> Moment:
    """Now, by the machine's clock; where its uptime is not known, by how long its mark has been seen with this lease."""
    given = (machine.mark or {}).get("lease")
    if not given:
        return Moment(0.0, 0.0, machine.said.boot_id)
    uptime, said, since = machine.said.uptime, machine.said.at, machine.mark_since
    now = given["uptime"] + at - (at if since is None else since)
    if uptime is not None and said is not None:
        now = uptime + at - said
    return Moment(0.0, now, machine.said.boot_id or given["boot_id"])


# ---- whether it is prepared ----


def is_prepared(record: Record, machine: MachineState, key: str) -> bool:
    """Whether its mark says now that it is prepared for an event, by this run or by its own watcher.

    What it said before another event of it was approved, or seen to start, counts no more: that may have rebooted it.
    """
    return _is_marked(machine, key) and not why_not_prepared(record, machine, key)


def was_prepared(record: Record, machine: MachineState, key: str) -> bool:
    """Whether it said so when the machine last answered, however long ago that was."""
    return _is_marked(machine, key) and not _why_not_prepared(record, machine, key, 0.0)


def why_not_prepared(record: Record, machine: MachineState, key: str) -> str:
    """Why it is not: one of the words of :mod:`.._core.mark_view`; "" when it is."""
    said = machine.said.at
    age = None if said is None or _was_affected_since(record, machine, key, said) else record.at - said
    return _why_not_prepared(record, machine, key, age)


def _is_marked(machine: MachineState, key: str) -> bool:
    return phase(machine) == "prepared" and key in mark_keys(machine)  # most machines at most times: no view is built


def _why_not_prepared(record: Record, machine: MachineState, key: str, age: float | None) -> str:
    view, watcher = view_of(record, machine), machine.said.watcher
    left_out = view.owner == WATCHER and bool(watcher and watcher["lacks"])
    return core.why_not_prepared_for(view, key, machine.said.boot_id, age, left_out)


def _was_affected_since(record: Record, machine: MachineState, key: str, since: float) -> bool:
    """Whether another of its events was approved, or seen to start, since a moment."""
    others = [entry for other, entry in record.events.items() if other != key and machine.host in entry.affected]
    moments = [moment for entry in others for moment in (entry.started, entry.approval.at) if moment is not None]
    return any(moment >= since for moment in moments)


def is_its_watchers(machine: MachineState) -> bool:
    """Whether the machine is prepared by its own watcher, and so by nobody else."""
    watcher = machine.said.watcher
    return bool(watcher and watcher["alive"] and watcher["mode"] == "manage") and not _looks_elsewhere(machine)


def has_steps(machine: MachineState) -> bool:
    """Whether anything is done to prepare it: by the inventory's steps, or by those and the hooks of its own watcher."""
    return machine.given.steps > 0 or watcher_prepares(machine)


def watcher_prepares(machine: MachineState) -> bool:
    """Whether its own watcher has anything to prepare it by."""
    watcher = machine.said.watcher
    return bool(watcher and watcher.get("prepares") and is_its_watchers(machine))


def lacks_steps(machine: MachineState) -> bool:
    """Whether nothing would be done to prepare it, though something has to be (``maintain_require_steps``)."""
    return machine.given.require_steps and not has_steps(machine)


def no_steps(hosts: Collection[str]) -> str:
    """That there are none for these machines, as a run and a rehearsal say it when they refuse to begin."""
    return (
        f"There are no steps for {listed(hosts)}, and maintain_require_steps is true: say in drain_steps how to take such a machine out "
        "of service, leave it out with --limit, or set maintain_require_steps to false."
    )


def _looks_elsewhere(machine: MachineState) -> bool:
    """Whether the run goes by an emulator at which its watcher does not look. Azure's own service may have other addresses."""
    watcher, given = machine.said.watcher, machine.given.endpoint
    seen = watcher.get("endpoint") if watcher else ""
    if not (given and seen) or is_made_for_azure({"endpoint": given}):
        return False
    return not is_made_for({"endpoint": seen}, given)


def why_not_by_watcher(record: Record, machine: MachineState, prepared: bool) -> Reason | None:
    """Why its watcher can't be waited for; None when it can, or has nothing to do with it.

    :arg prepared: whether its mark says that it is prepared for what is asked about
    """
    host, watcher = machine.host, machine.said.watcher
    if watcher and is_its_watchers(machine) and watcher["lacks"]:
        words = f"(version {one_line(watcher['version'], 40)}) that lacks steps of the inventory: {lacking(machine)}"
        return Reason("steps_differ", host, words)
    if prepared or whose(record, machine) != WATCHER:
        return None
    view = view_of(record, machine)
    if view.is_failed:
        return Reason("failed_there", host, holder_words(machine))
    if view.is_partially_recovered:
        return Reason("half_recovered", host, holder_words(machine))
    if is_its_watchers(machine):
        return None
    return Reason("owner_down", host, holder_words(machine), f"run there: {start_watcher(machine.given.is_linux)}")


def start_watcher(is_linux: bool) -> str:
    """The command that starts the watcher, run on a machine of that system: it is not the controller's system that counts."""
    return (LINUX if is_linux else WINDOWS).start()


def lacking(machine: MachineState) -> str:
    """The steps of the inventory that its watcher does not have, for people."""
    watcher = machine.said.watcher
    return listed([clause(words) for words in watcher["lacks"]]) if watcher else ""
