# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run of role maintain: how it begins, and how it moves on, with what a person and the receivers of notifications hear of that.

Private to this collection.
"""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...module_utils._clock import steady
from ...module_utils._core.mark_view import is_made_for_azure
from ...module_utils._text import listed
from .._ansible import say
from .._fleet import record as run_record
from .._fleet.news import news
from .._fleet.options import HostFacts
from .._fleet.state import Record
from .._notify.notifications import tell

SILENT = "Its task returned nothing that could be read."


def checked(number: int | None, answer: Mapping[str, Any]) -> dict[str, Any]:
    """The answer, or as ``lost`` why there is none.

    :arg number: of the call; before ansible-core 2.19 that of an answer may be a text
    """
    if answer.get("lost") or str(answer.get("number")) != str(number):
        return {"lost": answer.get("lost") or answer.get("msg") or SILENT, "unsent": bool(answer.get("unsent"))}
    return dict(answer)


Notify = Callable[[], Any]
"""Returns whom to notify (maintain_notify)."""


def begun(hosts: Sequence[HostFacts], job: str, check: bool) -> Record:
    """The record of a run that has a name of its own.

    :arg job: in AWX, else ""
    :arg check: whether it only shows what it would do
    :raises PlanError: options contradict each other, or two hosts are one machine
    """
    run = {
        "run": f"run-{secrets.token_hex(4)}",
        "job": job,
        "controller": platform.node(),
        "check": check,
    }
    return run_record.begun(hosts, run, steady(), time.time())


def move_on(record: Record, answered: Mapping[str, Mapping[str, Any]]) -> None:
    """A pass over these answers."""
    run_record.move_on(record, answered, steady(), time.time())


class Announced:
    """What was said of a run so far: all that had happened when this was made."""

    def __init__(self, record: Record, notify: Notify = list) -> None:
        self._record, self._notify = record, notify
        self._number, self._has_marked = len(record.happenings), bool(_marked(record))

    def go_on(self) -> bool:
        """Print what is new, under whatever callback, and notify of it; whether there was any."""
        number, self._number = self._number, len(self._record.happenings)
        lines = news(self._record, number)
        had_marked, marked = self._has_marked, _marked(self._record)
        self._has_marked = bool(marked)
        if marked and not had_marked:
            lines.insert(0, _first_mark_words(self._record, marked))
        if lines:
            say(lines)
        tell(self._record, number, self._notify)
        return bool(lines)


def _marked(record: Record) -> list[str]:
    """The hosts that are marked by this run."""
    run = record.run.name
    return [
        host
        for host, machine in record.hosts.items()
        if machine.mark and (machine.mark.get("holder") or {}).get("run") == run
    ]


def _first_mark_words(record: Record, marked: Sequence[str]) -> str:
    """Said while it can be said: nothing runs after an interruption."""
    is_real = all(is_made_for_azure(record.hosts[host].mark or {}) for host in marked)
    then = (
        "begin the same command again: it goes on by the marks"
        if is_real
        else "rehearse with -e rehearse_state=absent recovers its machines by their marks"
    )
    return (
        f"{listed(marked)}: marked by {record.run.name}, and being taken out of service. If this run is interrupted, {then}, which playbook "
        "cloudops.azure_maintenance.status shows."
    )
