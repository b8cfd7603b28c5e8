# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an event may be approved, and by which machine. Pure.

Private to this collection.

An event is ready when all machines of the run that it affects are marked "prepared" for it, or need none, and nothing else
stands against it. Then machines that were shown it try in turn, again and again, until one approval was accepted or its
not-before has come.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypedDict

from ...module_utils._core.messages import RUN, Reason, ends_by, sentence
from ...module_utils._events.event import Event
from ...module_utils._text import listed, one_line

PAUSE = 2.0
"""Seconds from one try of an approval to the next."""


class Matched(NamedTuple):
    """Whom an event's resources are.

    affected: machines of the run, in the order of the inventory
    unknown: resources that are none of them
    ambiguous: sentences about resources that are several machines of the run: these are all affected, and the event is not approved
    """

    affected: tuple[str, ...]
    unknown: tuple[str, ...]
    ambiguous: tuple[str, ...]


class Approver(NamedTuple):
    """A machine as one that could approve an event.

    shown: it was shown the event by its latest document
    affected: an open event affects it
    own: this event does
    able: it can be reached, looks, and has no mark of anybody else, but that of its own watcher who has it prepared
    """

    host: str
    is_linux: bool
    shown: bool
    affected: bool
    own: bool
    able: bool


class Tries(TypedDict):
    """What was tried to approve an event; part of the record."""

    by: str  # whose turn it is, or was last; "" before the first try
    since: float  # since when it is its turn (monotonic)
    last: float  # when it tried last
    tried: list[str]  # who has had its turn since everybody had
    count: int
    accepted: str  # who got the answer 200; "" while nobody has
    note: str  # what came of the last try


class Choice(NamedTuple):
    """Who approves now: a host, or "" with the seconds to wait (None: nobody will) and why."""

    host: str
    wait: float | None
    words: str


def matched(event: Event, names: Mapping[str, str], near: Collection[str]) -> Matched:
    """Who is affected. A resource that names any machine of the run is never unknown.

    :arg names: the name in Azure of each machine of the run, by host ("" where it isn't known)
    :arg near: hosts of the scopes in which the event was shown: of machines of one name these are meant
    """
    affected: set[str] = set()
    unknown: list[str] = []
    ambiguous: list[str] = []
    for resource in event.resources:
        same = [host for host, name in names.items() if name.lower() == resource.lower()]
        meant = [host for host in same if host in near] or same
        affected.update(meant)
        if not meant:
            unknown.append(resource)
        if len(meant) > 1:
            ambiguous.append(
                f"it names the VM {resource!r}, and the inventory has it as {' and as '.join(meant)}: remove one of them, or "
                "correct azure_maintenance_resource_name"
            )
    return Matched(tuple(host for host in names if host in affected), tuple(unknown), tuple(ambiguous))


def unknown_machines(unknown: Sequence[str], nameless: Sequence[str], allow: Mapping[str, bool]) -> list[Reason]:
    """What stands against an event that affects machines which are none of the run's. These may be allowed, by all of the event's
    machines, but not what may be a machine of this run.

    :arg unknown: their names in Azure
    :arg nameless: machines of the run that may be one of them, as their name in Azure isn't known
    :arg allow: the option of each machine that it affects, by host
    """
    forbid = [host for host, allows in allow.items() if not allows]
    if not unknown or not (forbid or nameless):
        return []
    words = ""
    if nameless:
        words = f" (of {listed(nameless)} the VM's name is not known)"
    elif len(forbid) < len(allow):
        words = f" (maintain_allow_unknown is false on {listed(forbid)})"
    return [Reason("unknown_machines", listed(unknown), words)]


def words_of(reasons: Sequence[Reason], event_id: str) -> str:
    """Reasons as a clause, with the command where a person has to say something; "" without any."""
    return "; ".join(
        f"{sentence(reason)}{_BY_A_PERSON.get(reason.code, '')}{ends_by(reason, RUN, event_id) if reason.code in _BY_A_PERSON else ''}"
        for reason in reasons
    )


_BY_A_PERSON = {"confirmation": ": ", "on_hold": "; "}  # what stands before the command


def no_tries() -> Tries:
    """Before the first try."""
    return {"by": "", "since": 0.0, "last": 0.0, "tried": [], "count": 0, "accepted": "", "note": ""}


def next_approver(
    event: Event, approvers: Sequence[Approver], tries: Tries, at: float, takeover: float, left: float
) -> Choice:
    """Who approves an event that is ready.

    :arg approvers: the machines of the run, in the order of the inventory
    :arg left: seconds until its not-before
    """
    if event.is_advice:
        return Choice("", None, "it is advice, and an approval has no effect")
    if tries["accepted"]:
        return Choice("", None, f"{tries['accepted']} has approved it")
    if left <= 0:
        return Choice("", None, "its not-before has come")
    order = in_order(event, approvers)
    if not order:
        who = "machine that it deletes" if event.may_terminate else "machine that was shown it"
        return Choice("", PAUSE, f"no {who} can be asked")
    host = _whose_turn(order, tries, at, takeover)
    wait = tries["last"] + PAUSE - at
    if host == tries["by"] and wait > 0:
        return Choice("", wait, f"{host} tries again in a moment: {tries['note']}")
    return Choice(host, 0.0, f"{host} approves it")


def in_order(event: Event, approvers: Sequence[Approver]) -> list[str]:
    """Who can approve, the best first: not affected by anything open, not by this event, Linux.

    A machine that deletes itself decides alone (S4.12); so it is where an event's type can't be read.
    """
    able = [
        approver
        for approver in approvers
        if approver.able and approver.shown and (approver.own or not event.may_terminate)
    ]
    able.sort(key=lambda approver: (approver.affected, approver.own, not approver.is_linux))
    return [approver.host for approver in able]


def _whose_turn(order: Sequence[str], tries: Tries, at: float, takeover: float) -> str:
    by, had = tries["by"], tries["tried"]
    if by in order and by not in had and at - tries["since"] < takeover:
        return by
    # When everybody has had a turn, they begin anew; whoever was last is not the first again.
    fresh = [host for host in order if host != by and host not in had]
    others = [host for host in order if host != by]
    return (fresh or others or order)[0]


def tried(tries: Tries, host: str, at: float, result: str, note: str = "") -> Tries:
    """What was tried, after one more try.

    :arg result: "accepted" (answered 200, or the machine says that it was approved already), "failed" (its service did not answer
        as it should: the same machine tries again until its time is over), "refused" (the machine would not: gone, fenced,
        unknown machines), "lost" (nothing came back): the next one's turn
    """
    had = list(tries["tried"])
    if host != tries["by"]:
        had.append(tries["by"])  # its turn is over
    if host in had:
        had = []  # everybody has had a turn
    if result in ("refused", "lost"):
        had.append(host)
    return {
        "by": host,
        "since": tries["since"] if host == tries["by"] else at,
        "last": at,
        "tried": sorted({name for name in had if name}),
        "count": tries["count"] + 1,
        "accepted": host if result == "accepted" else tries["accepted"],
        "note": one_line(note) or result,
    }
