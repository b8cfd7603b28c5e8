# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run waits for while something is under way, for a person who sees nothing happen: each sentence says until when at the latest. Pure.

Private to this collection.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...module_utils._core.mark_view import OURS, RUN
from ...module_utils._text import first_line
from .approval_reasons import codes
from .approving import perhaps
from .call_schedule import is_to_be_learned
from .evaluation import is_handled, needs_preparation
from .event_state import EventState
from .event_terms import preparation_end
from .marks import holder_words, mark_keys, phase, whose
from .reports import counted, time_of_day
from .result import line, name_of
from .run_events import is_open, names_no_time, not_before
from .state import Record

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def awaited(record: Record) -> list[str]:
    """The same sentences as long as nothing changes, each as a line with the time."""
    said = [*_of_events(record), *_of_machines(record)]
    return [line(record, record.at, "waits", sentence) for sentence in said]


def sentence_of(said: str) -> str:
    """What a line says, without its times: a not-before that is reckoned anew is another one by a second."""
    return _TIME.sub("", said)


def _of_events(record: Record) -> Iterator[str]:
    for entry in record.events.values():
        if not (is_open(entry) and is_handled(entry)):
            continue
        if entry.started is not None:
            until = entry.started + record.same.event_timeout
            yield f"{name_of(entry)} has started; it is polled until it is over, until {time_of_day(record, until)} at the latest"
            continue
        preparing = [host for host in entry.affected if _is_preparing(record, entry, host)]
        if preparing:
            until = min(preparation_end(entry, record.hosts[host]) for host in preparing)
            yield f"{counted(preparing)} to be prepared for {name_of(entry)}{_until(record, entry, until)}"
        elif entry.approval.sent:
            yield f"{name_of(entry)} is approved and has not started{_until(record, entry, not_before(entry), '; it starts at')}"
        elif entry.against.approves or codes(entry):
            why = (
                first_line(entry.against.hold or entry.against.waits or entry.approval.nobody, 300)
                or "nobody has approved it"
            )
            yield f"{name_of(entry)} {perhaps(entry) or 'is not approved yet'}: {why}{_until(record, entry, not_before(entry), '; until')}"


def _is_preparing(record: Record, entry: EventState, host: str) -> bool:
    machine = record.hosts[host]
    is_done = phase(machine) == "prepared" and entry.key in mark_keys(machine)
    return needs_preparation(entry, host) and entry.turn.may_prepare and not is_done


def _of_machines(record: Record) -> Iterator[str]:
    for host, machine in record.hosts.items():
        if machine.aside or machine.left:
            continue
        owner, timeout = whose(record, machine), machine.options.recover_timeout
        if is_to_be_learned(machine, owner) and owner == RUN:
            since = machine.mark_since if machine.mark_since is not None else record.at
            until = time_of_day(record, since + timeout)
            yield f"{host} is marked by {holder_words(machine)}; whether that still runs is seen by {until} at the latest"
        elif owner == OURS and machine.recovering is not None:
            until = time_of_day(record, machine.recovering + timeout)
            yield f"{host} to be recovered, until {until} at the latest{_lost(machine.lost)}"


def _lost(why: str) -> str:
    return f" (it does not answer: {first_line(why, 200)})" if why else ""


def _until(record: Record, entry: EventState, moment: float, until: str = ", until") -> str:
    return "" if names_no_time(entry) else f"{until} {time_of_day(record, moment)} at the latest"
