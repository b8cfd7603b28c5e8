# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook ``rehearse`` was asked for, checked before anything is begun, and what it plays. Pure.

Private to this collection.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._core.mark_view import holder_since, is_made_for, service_words
from ...module_utils._text import clause, did_you_mean, listed, one_line, sentence, shown
from .event_terms import SHARE_OF_NOTICE_FOR_MARGIN
from .inspection import Asked, Inspection, inspected
from .marks import no_steps

LEAST = 5.0
"""Seconds without which no machine is drained, however short its steps: the event has to be seen, and the steps to be begun."""

ALL = "all"


class Rehearsal(NamedTuple):
    """What is played.

    problems: why nothing may be begun; the rest says nothing then
    words: for people
    affected: the hosts that the events affect
    port, speed: as numbers
    in_turn: whether each of them has an event of its own, one after the other
    events, settings: in the form of a scenario, for `in_turn`; the emulator plays the scenario itself otherwise
    """

    problems: tuple[str, ...]
    words: tuple[str, ...] = ()
    affected: tuple[str, ...] = ()
    port: int = 0
    speed: float = 0.0
    in_turn: bool = False
    events: tuple[Mapping[str, Any], ...] = ()
    settings: Mapping[str, Any] = {}


class Left(NamedTuple):
    """What an interrupted rehearsal has left on one machine.

    verdict: "back" (it is recovered), "leave", or "refuse"
    words: for people, without the machine's name
    run: whose mark is taken
    """

    verdict: str
    words: str
    run: str = ""


def rehearsal(machines: Sequence[Asked], given: Mapping[str, Any]) -> Rehearsal:
    """What a rehearsal is to be, or why it can't begin.

    :arg machines: what each machine answered, of whose mark a look is taken
    :arg given: the variables ``affects``, ``speed``, ``port`` and ``scenario``, as they were given; ``emulator_host``; ``scenarios``,
        those that there are, by name; ``hosts``, by name, with their ``name`` in the rehearsal, ``endpoint``, ``margin`` and
        ``needs``
    """
    hosts: Mapping[str, Mapping[str, Any]] = given["hosts"]
    problems: list[str] = []
    port, speed = _port(given["port"], problems), _speed(given["speed"], problems)
    affected, in_turn = _affected(given["affects"], hosts, problems)
    scenario = _scenario(given["scenario"], given["scenarios"], problems)
    problems += _emulator_host(str(given["emulator_host"]), machines)
    if scenario is not None and affected:
        name, events = str(given["scenario"]), scenario.get("events") or ()
        problems += _too_few(name, events, affected, in_turn)
        if speed:
            problems += _too_fast(name, events, speed, affected, hosts)
    found = inspected(machines)
    problems += [f"{host} {why}" for host in found.machines if (why := _marked(found, host, hosts[host]["endpoint"]))]
    problems += _without_steps(hosts)
    if problems or scenario is None:
        return Rehearsal(tuple(problems))
    played = Rehearsal((), _in_short(given, scenario, speed, affected, in_turn, hosts), affected, port, speed, in_turn)
    if not in_turn:
        return played
    names = [str(hosts[host]["name"]) for host in affected]
    return played._replace(events=_one_each(scenario["events"], names), settings=scenario.get("settings") or {})


# ---- one variable after the other ----


def _without_steps(hosts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """In a rehearsal a watcher prepares nothing: it does not see the emulator."""
    # Templates of ansible-core before 2.19 make texts of numbers.
    must = [host for host, one in hosts.items() if str(one["require_steps"]).lower() == "true"]
    without = [host for host in must if not int(hosts[host]["steps"])]
    return [no_steps(without)] if without else []


def _port(value: Any, problems: list[str]) -> int:
    text = str(value).strip()
    if re.fullmatch(r"[0-9]{1,5}", text) and 1 <= int(text) <= 65535:
        return int(text)
    problems.append(f"rehearse_port is {shown(value)}: the number of a port is wanted, from 1 to 65535, such as 8780.")
    return 0


def _speed(value: Any, problems: list[str]) -> float:
    try:
        speed = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        speed = math.nan
    if math.isfinite(speed) and speed > 0:
        return speed
    problems.append(
        f"rehearse_speed is {shown(value)}: a number above 0 is wanted, such as 10 for ten times as fast as real time."
    )
    return 0.0


def _affected(value: Any, hosts: Mapping[str, Mapping[str, Any]], problems: list[str]) -> tuple[tuple[str, ...], bool]:
    """The hosts that are named, and whether each has its turn."""
    if isinstance(value, str) and value.strip() == ALL:
        return tuple(hosts), True
    given = [word.strip() for word in value.split(",")] if isinstance(value, str) else value
    wanted = f"the word {ALL}, or a list of hosts of the rehearsal is wanted ({listed(hosts)})"
    if not isinstance(given, Sequence) or not all(isinstance(host, str) and host for host in given) or not given:
        problems.append(f"rehearse_affected is {shown(value)}: {wanted}.")
        return (), False
    unknown = [host for host in given if host not in hosts]
    for host in unknown:
        problems.append(f"rehearse_affected names {shown(host)}{did_you_mean(host, hosts)}: {wanted}.")
    return (() if unknown else tuple(dict.fromkeys(given))), False


def _scenario(value: Any, scenarios: Mapping[str, Any], problems: list[str]) -> Mapping[str, Any] | None:
    if isinstance(value, str) and value in scenarios:
        found: Mapping[str, Any] = scenarios[value]
        return found
    problems.append(
        f"rehearse_scenario is {shown(value)}{did_you_mean(value, scenarios)}: one of these is wanted: {listed(sorted(scenarios))}."
    )
    return None


def _emulator_host(host: str, machines: Sequence[Asked]) -> list[str]:
    known = {machine.host: machine for machine in machines}
    if host not in known:
        return [
            f"rehearse_emulator_host is {shown(host)}{did_you_mean(host, known)}: a host of the rehearsal is wanted ({listed(known)})."
        ]
    if not known[host].is_linux:
        return [f"rehearse_emulator_host is {host}, a Windows machine: the emulator needs one with Linux."]
    return []


# ---- what the scenario needs ----


def _too_few(name: str, events: Sequence[Mapping[str, Any]], affected: Sequence[str], in_turn: bool) -> list[str]:
    """Why so many machines are not enough for it, or not fit for it."""
    needed = 1 + max(
        (place for event in events for place in event.get("resources") or () if isinstance(place, int)), default=0
    )
    if needed > 1 and in_turn:
        return [
            f"Scenario {name} is played with {needed} machines, so it can't go to each in turn (rehearse_affected is {ALL}): name "
            f"{needed} machines in rehearse_affected."
        ]
    if needed > len(affected):
        return [
            f"Scenario {name} is played with {needed} machines, and rehearse_affected names {listed(affected)}: name {needed}."
        ]
    if in_turn and len(affected) > 1 and not all(_has_notice(event) for event in events):
        return [
            f"The events of scenario {name} come without notice, so the machines can't take turns (rehearse_affected is {ALL}): name "
            "one machine in rehearse_affected."
        ]
    return []


def _has_notice(event: Mapping[str, Any]) -> bool:
    return event.get("status", "Scheduled") == "Scheduled" and bool(event.get("notice") or event.get("tail"))


def _seconds(event: Mapping[str, Any]) -> float:
    """How long there is something to be done about an event, by its own clock."""
    return float(event.get("notice") or event.get("tail") or 0.0)


def _too_fast(
    name: str,
    events: Sequence[Mapping[str, Any]],
    speed: float,
    affected: Sequence[str],
    hosts: Mapping[str, Mapping[str, Any]],
) -> list[str]:
    """Why no machine can be drained in time at this speed."""
    shortest = min(map(_seconds, events), default=0.0)
    margin = max(float(hosts[host]["margin"]) for host in affected)
    if _to_drain(shortest, speed, margin) >= LEAST:
        return []
    # Where the margin is a share of the notice, the last of these numbers decides.
    most = max(shortest / (LEAST + margin), shortest * (1 - SHARE_OF_NOTICE_FOR_MARGIN) / LEAST)
    return [
        f"rehearse_speed is {speed:g}: the {shortest:g} s of scenario {name} are {shortest / speed:.1f} s then, in which no machine can "
        f"be drained. At most {math.floor(most * 10) / 10:g} is wanted."
    ]


def _to_drain(notice: float, speed: float, margin: float) -> float:
    """Seconds that are left for draining, as a run reckons them."""
    real = notice / speed
    return real - min(margin, real * SHARE_OF_NOTICE_FOR_MARGIN)


def _in_short(
    given: Mapping[str, Any],
    scenario: Mapping[str, Any],
    speed: float,
    affected: Sequence[str],
    in_turn: bool,
    hosts: Mapping[str, Mapping[str, Any]],
) -> tuple[str, ...]:
    """What is about to be played, for people."""
    order = ", one after the other" if in_turn and len(affected) > 1 else ""
    lines = [
        f"Scenario {given['scenario']} ({one_line(scenario.get('description'))}), {speed:g} times as fast, for {listed(affected)}{order}.",
        f"The emulator is on {given['emulator_host']}. The machines are really drained, nothing is rebooted, nothing is sent to Azure. "
        "If this is interrupted, -e rehearse_state=absent recovers them and removes the emulator.",
    ]
    notice = min((_seconds(event) for event in scenario["events"] if _has_notice(event)), default=0.0)
    for host in affected:
        needs, left = float(hosts[host]["needs"]), _to_drain(notice, speed, float(hosts[host]["margin"]))
        if notice and needs > left:
            lines.append(
                f"{host}: the timeouts of its steps add up to {needs:g} s, and there are {left:.0f} s to drain it. If that is too short, "
                "take a smaller rehearse_speed."
            )
    return tuple(lines)


def _one_each(events: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[Mapping[str, Any], ...]:
    """The scenario for each machine. All is announced at once, and for each machine it comes later than for the one before: which
    of them is taken out of service when is left to their capacity."""
    length = max(float(event.get("notice") or 0.0) + float(event.get("tail") or 0.0) for event in events)
    found = []
    for position, name in enumerate(names):
        for event in events:
            mine = dict(event, name=f"{event['name']}{position + 1}", resources=[name])
            for key in ("notice", "cancel_after"):
                if key in event:
                    mine[key] = event[key] + position * length
            found.append(mine)
    return tuple(found)


# ---- the marks that are there ----


def _marked(found: Inspection, host: str, endpoint: str) -> str:
    """Why a machine can't take part; "" when it can."""
    lost, mark = found.machines[host].lost, found.mark(host)
    if lost:
        return f"could not be asked ({clause(lost, 500)}): see to it, or leave it out."
    if mark is None:
        return ""
    if "unreadable" in mark:
        return f"has an unreadable mark ({clause(mark['unreadable'], 500)}), so it may be out of service."
    whose = f"is marked by {holder_since(mark)}"
    if is_made_for(mark, endpoint):
        return f"{whose}: a rehearsal is under way, or was interrupted; -e rehearse_state=absent recovers its machines."
    return f"{whose}, made for {service_words(mark)}: it is out of service, and a rehearsal does not touch it. The playbook status shows more."


def unreached(machines: Sequence[Asked]) -> list[str]:
    """Those that do not see the document of their emulator, in sentences."""
    found = inspected(machines)
    why = {host: machine.lost or found.blind(host) for host, machine in found.machines.items()}
    return [
        f"{one.host} does not reach the emulator at {one.endpoint} ({clause(why[one.host], 500)})."
        for one in machines
        if why[one.host]
    ]


def left_behind(machines: Sequence[Asked], endpoints: Mapping[str, str]) -> dict[str, Left]:
    """What is to be recovered of a rehearsal that was interrupted, by host.

    :arg endpoints: of the rehearsal, as each machine was to reach it
    """
    found = inspected(machines)
    return {host: _left(found, host, endpoints[host]) for host in found.machines}


def _left(found: Inspection, host: str, endpoint: str) -> Left:
    lost, mark = found.machines[host].lost, found.mark(host)
    if lost:
        return Left(
            "refuse",
            f"could not be asked ({clause(lost, 500)}): begin this again when it can.",
        )
    if mark is None:
        return Left("leave", "is not marked: it was not taken out of service, or is back.")
    if "unreadable" in mark:
        return Left("refuse", f"has an unreadable mark: {sentence(clause(mark['unreadable'], 500))}.")
    whose = holder_since(mark)
    if not is_made_for(mark, endpoint):
        return Left(
            "leave",
            f"is marked by {whose}, made for {service_words(mark)}, and not for this rehearsal ({one_line(endpoint)}): it is left as it is.",
        )
    return Left("back", f"is recovered from the rehearsal of {whose}.", run=str(mark["holder"]["run"]))
