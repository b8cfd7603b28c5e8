# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which events may take their machines out of service now, and which wait for their turn. Pure.

Private to this collection.

Of a capacity group only so many machines may be out at a time voluntarily: prepared early, or approved. Events take turns in the
order of their not-before. What Azure is going to affect anyway is prepared in time all the same, but not approved early.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._text import listed

SLACK = 15.0
"""Seconds that a preparation begins before the last moment: a call may have to be made a second time."""


class Candidate(NamedTuple):
    """An open event that is Scheduled, is to be prepared for or approved, and has not been given up.

    key: of the event
    title: what people call it, such as "Reboot 4A2"
    hosts: the machines of the run that it affects
    left: seconds until its not-before (or until the time that is assumed where it names none)
    needs: seconds that the slowest affected machine needs: its steps' limits and its margin
    wanted: whether it is prepared for or approved as soon as it may; False while it is left for later (``prepare_before``)
    near: seconds before its not-before from which on preparing for it is not early any more, so that hours do not forbid it
    timeless: whether it names no not-before: such an event comes last
    advice: whether nothing will come of it, so that it is never due
    begun: whether a machine of it has a mark of this run for it, or all of them have one for another event (it joins their
        outage), or its approval was sent
    """

    key: str
    title: str
    hosts: tuple[str, ...]
    left: float
    needs: float
    wanted: bool = True
    near: float = 0.0
    begun: bool = False
    timeless: bool = False
    advice: bool = False


class Turn(NamedTuple):
    """Whether it is an event's turn.

    state: "turn", "waits" (for its turn), "due" (prepared now because its notice runs out, though it isn't its turn),
        "later" (not wanted yet)
    prepare: whether its machines may (or must) be prepared now
    approve: whether it may be approved early now, as far as capacity goes
    too_large: whether it is larger than the capacity of a group, so that it is never approved early
    words: why, for people; "" when nothing stands in its way
    """

    state: str
    prepare: bool
    approve: bool
    too_large: bool
    words: str


def read_max_unavailable(value: Any) -> str:
    """The option ``max_unavailable`` in its one form: "2" or "50%".

    :raises ValueError: with what is wanted instead
    """
    found = None if isinstance(value, bool) else re.fullmatch(r"\s*(\d+)\s*(%?)\s*", str(value), re.ASCII)
    number = int(found.group(1)) if found else 0
    if not found or not number or (found.group(2) and number > 100):
        raise ValueError('a number of machines, 1 or more, or a share of the group from "1%" to "100%"')
    return f"{number}{found.group(2)}"


def limit_of(max_unavailable: str, size: int) -> int:
    """How many of so many machines may be out at a time: a number, or a share such as "50%", rounded down; at least one."""
    number = int(max_unavailable.rstrip("%"))
    return max(size * number // 100, 1) if max_unavailable.endswith("%") else number


class _Group:
    """A capacity group while its turns are given away."""

    def __init__(
        self, name: str, members: Collection[str], limit: int, max_domains: int, domains: Mapping[str, str]
    ) -> None:
        self.name = name
        self.members = frozenset(members)
        self.limit = limit
        self.max_domains = max_domains  # 0: all
        self._domains = domains
        self.out: set[str] = set()
        self.waiting: list[Candidate] = []  # none of them is overtaken

    def of(self, hosts: Collection[str]) -> set[str]:
        return set(self.members.intersection(hosts))

    def has_room_for(self, hosts: Collection[str]) -> bool:
        return self._allows(self.out | self.of(hosts))

    def is_too_small_for(self, hosts: Collection[str]) -> bool:
        return not self._allows(self.of(hosts))

    def _allows(self, out: Collection[str]) -> bool:
        """Whether so many may be out; one that does not say where it is counts as a domain of its own."""
        in_domains = len({self._domains.get(host) or host for host in out})
        return len(out) <= self.limit and (not self.max_domains or in_domains <= self.max_domains)

    def __str__(self) -> str:
        where = f", in at most {self.max_domains} of its zones or fault domains" if self.max_domains else ""
        return (
            f"of the {len(self.members)} machines of group {self.name} at most {self.limit} may be out of service voluntarily"
            f"{where}"
        )


def turns(
    groups: Mapping[str, str],
    max_unavailable: Mapping[str, str],
    out: Mapping[str, str],
    left: Collection[str],
    candidates: Sequence[Candidate],
    joined: Collection[str] = (),
    wider: Mapping[str, str] | None = None,
    domains: Mapping[str, str] | None = None,
    max_domains: Mapping[str, int] | None = None,
) -> dict[str, Turn]:
    """The turn of each candidate, by key.

    :arg groups: the capacity group of each machine of the run, by host (its declared group, else its scope)
    :arg max_unavailable: the option of each machine, by host; where a group learned late has several, the smallest holds
    :arg out: the machines that are out, by host, and why, in a few words ("is marked by run 7", "can't be reached", "is not
        back", "is affected by Reboot 4A2"): whoever bears anybody's mark, can't be reached, isn't back, or is affected by a
        Started event
    :arg left: machines that a Terminate or a Preempt has taken: no longer members of their group
    :arg joined: machines that are in their group only because an event was shown to it and to them: they count as out there, but do not
        enlarge it, as it may turn out to be none; where all of it may be out, they may be, too
    :arg wider: machines of several groups that an event has joined, with a name for them together: they need room there, too
    :arg domains: the zone or fault domain of each machine that says it, by host
    :arg max_domains: in how many of them machines of its group may be out, by host; 0 for all
    """
    by_name = {
        name: _Group(
            name,
            hosts,
            min(_limit(max_unavailable[host], hosts, among) for host in hosts),
            min((most for host in hosts if (most := (max_domains or {}).get(host, 0))), default=0),
            domains or {},
        )
        for grouped, among in ((groups, joined), (wider or {}, ()))
        for name, hosts in _members(grouped, left).items()
    }
    for group in by_name.values():
        group.out = group.of(out)
    ordered = sorted(candidates, key=lambda candidate: (candidate.timeless, candidate.left, candidate.key))
    going = [candidate for candidate in ordered if candidate.begun or _is_due(candidate)]
    for candidate in going:  # these are out, or will be in a moment, whoever comes first
        for group in _groups_of(candidate, by_name):
            group.out |= group.of(candidate.hosts)
    found = {}
    for candidate in ordered:
        touched = _groups_of(candidate, by_name)
        if candidate in going:
            turn = _turn_of_going(candidate, touched, out, going)
        else:
            turn = _turn_of_other(candidate, touched, out, going)
            _take(turn, candidate, touched, going)
        found[candidate.key] = turn
    return found


def _take(turn: Turn, candidate: Candidate, touched: Sequence[_Group], going: list[Candidate]) -> None:
    """What a turn that was given, or not, means for the events that come later."""
    if turn.state == "turn":
        going.append(candidate)
        for group in touched:
            group.out |= group.of(candidate.hosts)
    elif turn.state == "waits" and not turn.too_large:
        for group in touched:
            group.waiting.append(candidate)


def _members(groups: Mapping[str, str], left: Collection[str]) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for host, name in groups.items():
        if host not in left:
            members.setdefault(name, []).append(host)
    return members


def _limit(max_unavailable: str, hosts: Collection[str], joined: Collection[str]) -> int:
    return len(hosts) if max_unavailable == "100%" else limit_of(max_unavailable, _size(hosts, joined))


def _size(hosts: Collection[str], joined: Collection[str]) -> int:
    """By how many a share is counted: where nothing but events has made the group, by all."""
    return len([host for host in hosts if host not in joined]) or len(hosts)


def _groups_of(candidate: Candidate, by_name: Mapping[str, _Group]) -> list[_Group]:
    return [group for group in by_name.values() if group.of(candidate.hosts)]


def _is_due(candidate: Candidate) -> bool:
    return not candidate.advice and candidate.left <= candidate.needs + SLACK


def _turn_of_going(
    candidate: Candidate, touched: Sequence[_Group], out: Mapping[str, str], going: Sequence[Candidate]
) -> Turn:
    """Of an event whose machines are prepared already, or have to be now."""
    too_small = [group for group in touched if group.is_too_small_for(candidate.hosts)]
    if too_small:
        return _too_large(candidate, too_small, "due" if _is_due(candidate) else "turn")
    full = [group for group in touched if not group.has_room_for(())]
    words = ""
    due = not candidate.begun or (bool(full) and _is_due(candidate))
    if full:
        state = f"it is prepared now, as {_due_words(candidate)}" if due else "it keeps its turn"
        words = (
            f"{full[0]}, and {_out_words(candidate, full, out, going)}: {state}, but is not approved while that is so"
        )
    elif due:
        words = f"it is prepared now, as {_due_words(candidate)}"
    return Turn("due" if due else "turn", True, not full, False, words)


def _turn_of_other(
    candidate: Candidate, touched: Sequence[_Group], out: Mapping[str, str], going: Sequence[Candidate]
) -> Turn:
    """Of an event that could still wait."""
    too_small = [group for group in touched if group.is_too_small_for(candidate.hosts)]
    if too_small:
        return _too_large(candidate, too_small, "waits" if candidate.wanted else "later")
    if not candidate.wanted:
        return Turn("later", False, False, False, "")
    earlier = list(dict.fromkeys(other for group in touched for other in group.waiting))
    full = [group for group in touched if not group.has_room_for(candidate.hosts)]
    if not earlier and not full:
        return Turn("turn", True, True, False, "")
    reasons = [f"{full[0]}, and {_out_words(candidate, full, out, going)}"] if full else []
    if earlier:
        reasons.append(f"{listed(other.title for other in earlier)} came first")
    words = f"it waits for its turn: {'; '.join(reasons)}"
    return Turn("waits", False, False, False, words)


def _too_large(candidate: Candidate, too_small: Sequence[_Group], state: str) -> Turn:
    group = too_small[0]
    words = f"it affects {len(group.of(candidate.hosts))} machines at once, and {group}: it is never approved early" + (
        "" if candidate.begun else f"; they are prepared {_prepared_when(candidate, state)}"
    )
    return Turn(state, state in ("turn", "due"), False, True, words)


def _prepared_when(candidate: Candidate, state: str) -> str:
    if state == "due":
        return f"now, as {_due_words(candidate)}"
    return f"when {candidate.needs + SLACK:.0f} s are left"


def _due_words(candidate: Candidate) -> str:
    return f"that may take {candidate.needs:.0f} s and {candidate.left:.0f} s are left"


def _out_words(candidate: Candidate, full: Sequence[_Group], out: Mapping[str, str], going: Sequence[Candidate]) -> str:
    """Who else is out in the groups that have no room, first those who are out for reasons of their own."""
    others = set().union(*(group.out for group in full)).difference(candidate.hosts)
    said = []
    for host in sorted(others, key=lambda host: (host not in out, host)):
        titles = [other.title for other in going if host in other.hosts]
        said.append(f"{host} {out.get(host) or f'is about to be, for {titles[0]}'}")
    return listed(said, 5)
