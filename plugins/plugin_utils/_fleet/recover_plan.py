# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook ``recover`` does about each machine: by its mark, and only when its maintenance is over. Pure.

Private to this collection.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._core.mark_view import (
    COPIED,
    FOREIGN,
    NOBODY,
    UNREADABLE,
    WATCHER,
    holder_since,
    holder_words,
    service_words,
)
from ...module_utils._events.event import notification
from ...module_utils._steps.sequence import is_to_undo
from ...module_utils._text import clause, duration, listed, one_line, sentence
from .inspection import Asked, Inspection, event_words, inspected
from .marks import start_watcher
from .targets import UNREADABLE_ENTRY, against_recovery, held_by


class Overrides(NamedTuple):
    """What whoever runs the playbook wants done that it would refuse.

    force: though an event is there, and though not all can be undone
    take: the run whose mark is taken over though it may be alive
    unmarked: machines without a mark, too: all steps of the inventory are undone
    """

    force: bool = False
    take: str = ""
    unmarked: bool = False


class Verdict(NamedTuple):
    """What becomes of one machine.

    verdict: "recover", "refuse", "leave", or "lost" where it could not be asked
    words: for people, without the machine's name
    take: the run whose mark is taken over
    forced: though that run may be alive
    unmarked: all steps are undone, as there is no mark to go by
    drop: the mark, which can't be read, is removed before
    aside: the mark, which is another VM's, is moved aside
    """

    verdict: str
    words: str
    take: str = ""
    forced: bool = False
    unmarked: bool = False
    drop: bool = False
    aside: bool = False


def verdicts(machines: Sequence[Asked], overrides: Overrides) -> dict[str, Verdict]:
    """What becomes of each machine, by host. What any of them is shown counts for all."""
    found = inspected(machines)
    return {machine.host: _verdict(found, machine.host, overrides) for machine in machines}


def _verdict(found: Inspection, host: str, overrides: Overrides) -> Verdict:
    lost, mark, owner = found.machines[host].lost, found.mark(host), found.owner(host)
    if lost:
        return Verdict("lost", f"could not be asked: {_end(lost)} Nothing was done.")
    if owner == COPIED and not overrides.unmarked:
        words = f"has the mark of {found.view(host).owner_words}, of which it is a copy: nothing of that was done here"
        return Verdict("leave", f"{words}, and the mark is moved aside.", aside=True)
    if owner == NOBODY and not overrides.unmarked:
        return Verdict(
            "leave",
            "is not marked, so nothing is to be undone. (If a run of version 0.1.0 left it out of service: "
            "-e recover_unmarked=true undoes all steps.)",
        )
    against = _owned(found, host, mark, overrides) if mark else ""
    if against:
        return Verdict("refuse", against)
    coming = "" if overrides.force else _not_over(found, host)
    if coming:
        return Verdict("refuse", f"{coming} Nothing was done. (-e recover_force=true recovers it all the same.)")
    if mark is None or owner in (UNREADABLE, COPIED):
        return Verdict(
            "recover",
            "is recovered by undoing all steps, as no mark says which were done",
            unmarked=True,
            drop=owner == UNREADABLE,
            aside=owner == COPIED,
        )
    run = mark["holder"]["run"]
    return Verdict(
        "recover",
        f"is recovered from what {holder_words(mark)} did: {_inverses(mark)}",
        take=run,
        forced=run == overrides.take,
    )


def _inverses(mark: Mapping[str, Any]) -> str:
    """What is done, in its order."""
    words = [one_line(step["unwords"]) for step in reversed(mark["steps"]) if is_to_undo(step)]
    return listed(word for word in words if word) or "no step is left to be undone"


def _owned(found: Inspection, host: str, mark: Mapping[str, Any], overrides: Overrides) -> str:
    """Why the machine, which is marked, is left to its owner; "" when it is not."""
    owner = found.owner(host)
    if owner == COPIED:
        return ""
    if owner == UNREADABLE:
        if overrides.force and overrides.unmarked:
            return ""
        return (
            f"has an unreadable mark, so nobody can tell what was done to it: {_end(mark['unreadable'])} "
            "Nothing was done. (-e recover_force=true -e recover_unmarked=true removes it and undoes all steps.)"
        )
    run = mark["holder"]["run"]
    if run == overrides.take:
        return ""
    whose, take = holder_since(mark), f"-e recover_take={shlex.quote(one_line(run))}"
    if owner == FOREIGN:
        return (
            f"is owned by {whose}, made for {service_words(mark)}, which does not show here whether that is over. "
            "Nothing was done. (A rehearsal that was interrupted: the playbook rehearse with -e rehearse_state=absent; "
            f"{take} recovers it here.)"
        )
    if found.is_drains_own(host):
        return (
            f"was taken out of service by {whose}, and not for an event: let the play that did it "
            f"recover it (entry point recover of role drain). Nothing was done. ({take} recovers it here.)"
        )
    if owner == WATCHER:
        start = start_watcher(found.machines[host].given.is_linux)
        state = f"is down: start it there ({start})" if found.is_over(host) else "recovers it itself"
        return (
            f"is owned by {whose}, which {state}. Nothing was done. (By hand: azure-maintenance recover on the "
            f"machine, which runs its hooks, too; {take} undoes the steps of the inventory here.)"
        )
    if found.is_left(host):
        return ""
    silent = found.silent(host)
    heard = "" if silent is None else f", last renewed {duration(silent)} ago"
    return (
        f"is owned by {whose}{heard}: that run recovers it itself. Nothing was done. (If it does not live any more: {take}, or wait until "
        "its mark has expired; the playbook status says when.)"
    )


def _not_over(found: Inspection, host: str) -> str:
    """Why its maintenance isn't over, or nobody knows that it is, in words; "" when it is."""
    machine = found.machines[host]
    holding = {key: found.record.events[key] for key in held_by(found.record, machine)}
    if holding:
        events = listed(event_words(notification(entry.event, entry.tracked.notice)) for entry in holding.values())
        if not found.view(host).keys.isdisjoint(holding):
            return f"was taken out of service for {events}, which is still there: recover it when that is over."
        return f"is affected by {events}: recover it when that is over."
    against = against_recovery(found.record, machine, found.owner(host))
    if against == UNREADABLE_ENTRY:
        damaged = listed(
            f"entry {entry['position']}: {clause(entry['reason'])}"
            for entry in found.polls[host].get("unusable_events") or ()
        )
        return f"is shown what can't be read ({damaged}), which may be its maintenance."
    why = found.blind(host) or "its last document is too old"
    return f"could not poll whether its maintenance is over: {_end(why)}" if against else ""


def _end(words: str) -> str:
    return sentence(clause(words, 1000)) + "."
