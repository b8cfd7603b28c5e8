# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook ``recover`` does about each machine: by its mark, and only when its maintenance is over. Pure.

Private to this collection.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._core.mark_endpoint import service_words
from ...module_utils._core.mark_view import COPIED, FOREIGN, NOBODY, UNREADABLE, WATCHER, since_words
from ...module_utils._events.event import event_from_dict
from ...module_utils._steps.sequence import is_to_undo
from ...module_utils._text import clause, listed, one_line, sentence
from .asked import Asked, event_words, has_ended, holder_words, is_drains
from .marks import start_watcher
from .status import duration


class Wish(NamedTuple):
    """What whoever runs the playbook has said.

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


def verdicts(machines: Sequence[Asked], wish: Wish) -> dict[str, Verdict]:
    """What becomes of each machine, by host. What any of them is shown counts for all."""
    shown = {event["id"].upper(): event for machine in machines for event in machine.events or ()}
    # Of what they see differently, the later status counts.
    for machine in machines:
        shown.update({event["id"].upper(): event for event in machine.events or () if _has_started(event)})
    return {machine.host: _verdict(machine, list(shown.values()), wish) for machine in machines}


def _verdict(machine: Asked, shown: Iterable[Mapping[str, Any]], wish: Wish) -> Verdict:
    if machine.problem:
        return Verdict("lost", f"could not be asked: {_end(machine.problem)} Nothing was done.")
    mark, owner = machine.mark, machine.view.owner
    if owner == COPIED and not wish.unmarked:
        words = f"has the mark of {machine.view.owner_words}, of which it is a copy: nothing of that was done here"
        return Verdict("leave", f"{words}, and the mark is moved aside.", aside=True)
    if owner == NOBODY and not wish.unmarked:
        return Verdict(
            "leave",
            "is not marked, so nothing is to be undone. (If a run of version 0.1.0 left it out of service: "
            "-e recover_unmarked=true undoes all steps.)",
        )
    against = _against(machine, wish) if mark else ""
    if against:
        return Verdict("refuse", against)
    coming = "" if wish.force else _still_there(machine, mark or {}, shown)
    if coming:
        return Verdict("refuse", f"{coming} Nothing was done. (-e recover_force=true takes it back all the same.)")
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
        forced=run == wish.take,
    )


def _inverses(mark: Mapping[str, Any]) -> str:
    """What is done, in its order."""
    words = [one_line(step["unwords"]) for step in reversed(mark["steps"]) if is_to_undo(step)]
    return listed(word for word in words if word) or "no step is left to be undone"


def _against(machine: Asked, wish: Wish) -> str:
    """Why the machine, which is marked, can't be had; "" when it can."""
    view, mark = machine.view, machine.mark or {}
    if view.owner == COPIED:
        return ""
    if view.owner == UNREADABLE:
        if wish.force and wish.unmarked:
            return ""
        return (
            f"has an unreadable mark, so nobody can tell what was done to it: {_end(view.owner_words)} "
            "Nothing was done. (-e recover_force=true -e recover_unmarked=true removes it and undoes all steps.)"
        )
    run = mark["holder"]["run"]
    if run == wish.take:
        return ""
    whose = holder_words(mark)
    if view.owner == FOREIGN:
        return (
            f"is owned by {whose}{since_words(mark)}, made for {service_words(mark)}, which does not show here whether that is over. "
            "Nothing was done. (A rehearsal that was interrupted: the playbook rehearse with -e rehearse_state=absent; "
            f"-e recover_take={shlex.quote(one_line(run))} takes it back here.)"
        )
    if is_drains(view):
        return (
            f"was taken out of service by {whose}{since_words(mark)}, and not for an event: let the play that did it bring "
            f"it back (entry point recover of role drain). Nothing was done. (-e recover_take={shlex.quote(one_line(run))} takes it back here.)"
        )
    if view.owner == WATCHER:
        start = start_watcher(machine.is_linux)
        state = f"is down: start it there ({start})" if machine.expired else "recovers it itself"
        return (
            f"is owned by {whose}{since_words(mark)}, which {state}. Nothing was done. (By hand: azure-maintenance recover on the "
            f"machine, which runs its hooks, too; -e recover_take={shlex.quote(one_line(run))} undoes the steps of the inventory here.)"
        )
    if has_ended(machine):
        return ""
    heard = f", and was heard of {duration(machine.silent)} ago" if machine.silent is not None else ""
    return (
        f"is owned by {whose}{since_words(mark)}{heard}: that run recovers it itself. Nothing was done. "
        f"(If it does not live any more: -e recover_take={shlex.quote(one_line(run))}, or wait until its mark has expired; the playbook status "
        "says when.)"
    )


def _still_there(machine: Asked, mark: Mapping[str, Any], shown: Iterable[Mapping[str, Any]]) -> str:
    """Why its maintenance isn't over, or nobody knows that it is; "" when it is."""
    marked = {str(event).upper() for event in mark.get("events") or ()}
    named = [event for event in shown if event["id"].upper() in marked]
    if named:
        events = listed(event_words(event) for event in named)
        return f"was taken out of service for {events}, which is still there: recover it when that is over."
    own = {event["id"].upper() for event in machine.events or () if not machine.name}  # one of which may be its own
    started = [
        event
        for event in shown
        if _has_started(event) and (event["id"].upper() in own or event_from_dict(event).affects(machine.name))
    ]
    if started:
        return f"is affected by {listed(event_words(event) for event in started)}: recover it when that is over."
    if machine.events is None:
        return f"could not poll whether its maintenance is over: {_end(machine.blind)}"
    damaged = [entry for entry in machine.unusable if entry["id"].upper() in {"", *marked}]
    if damaged:
        why = listed(f"entry {entry['position']}: {clause(entry['reason'])}" for entry in damaged)
        return f"is shown what can't be read ({why}), which may be its maintenance."
    return ""


def _has_started(event: Mapping[str, Any]) -> bool:
    return bool(event_from_dict(event).has_started)


def _end(words: str) -> str:
    return sentence(clause(words, 1000)) + "."
