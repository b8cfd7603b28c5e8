# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one call of each machine has shown, outside of a run: the record of one that has had this tick, and does nothing. Pure.

Private to this collection.

So the filter ``maintenance_plan`` and the playbooks ``status``, ``approve`` and ``recover`` ask the same functions as a run does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...module_utils._core.mark_view import (
    WATCHER,
    MarkView,
    event_ids,
    is_drains_own,
    is_left,
    lease_left,
    seconds_since,
)
from ...module_utils._text import one_line, seconds_until
from .machine_state import MachineState
from .marks import is_expired, moment_of, view_of, whose
from .options import HostFacts
from .record import begun, move_on, sent
from .run_events import has_document
from .state import Record

_RUN = "by hand"  # of which no mark is, but those that are taken to be
_NOT_CALLED = {"lost": "the task that was to ask it failed (see above)"}
_SAME: Any = {"rounds": 1, "wait_timeout": 0, "event_timeout": 3600}
_OPTIONS: dict[str, Any] = {
    # A person decides, whatever the policy says, at any time of the day, and for however many machines.
    "policy": [{"name": "by hand", "do": "hold"}],
    "margin": 60.0,
    "prepare_before": 300.0,
    "allow_unknown": True,
    "on_failure": "revert",
    "recover_timeout": 900,
    "max_unavailable": "100%",
    "max_domains": 0,
    "settle": 0.0,
    "hold": "wait",
}


def options(**given: Any) -> Mapping[str, Any]:
    """Those of a run that does nothing, as far as they are not given."""
    return {**_OPTIONS, **given}


class Asked(NamedTuple):
    """One machine of the inventory, and what it answered when it was asked who it is and what it sees.

    name: its name in Azure by the inventory, or ""
    answer: empty where it was not even called
    endpoint: of the metadata service that it was asked by; "" for Azure's own
    scope: as the inventory declares it, or ""
    """

    host: str
    is_linux: bool
    name: str
    answer: Mapping[str, Any]
    endpoint: str = ""
    scope: str = ""


class Inspection(NamedTuple):
    """What all of them have shown.

    record: of a run, after that tick
    polls: what each machine's poll returned, by host
    answers: all that each answered, by host
    """

    record: Record
    polls: Mapping[str, Mapping[str, Any]]
    answers: Mapping[str, Mapping[str, Any]]

    @property
    def machines(self) -> Mapping[str, MachineState]:
        return self.record.hosts

    def events(self, host: str) -> Sequence[Mapping[str, Any]] | None:
        """Of its document, as module scheduled_events_info returns them; None where it could not poll."""
        poll = self.polls[host]
        return poll["events"] if not self.machines[host].lost and has_document(poll) else None

    def shown(self) -> dict[str, Mapping[str, Any]]:
        """All events that any machine is shown, by id."""
        return {event["id"]: event for host in self.machines for event in self.events(host) or ()}

    def blind(self, host: str) -> str:
        """Why a machine could not poll, though it answered; "" when it could."""
        return self.machines[host].seen.problem

    def mark(self, host: str) -> Mapping[str, Any] | None:
        """As the machine gives it; None where there is none."""
        return None if self.machines[host].lost else self.answers[host].get("mark")

    def owner(self, host: str) -> str:
        return whose(self.record, self.machines[host])

    def view(self, host: str) -> MarkView:
        """The mark, as somebody sees it who has made none."""
        return view_of(self.record, self.machines[host])

    def is_drains_own(self, host: str) -> bool:
        return is_drains_own(self.view(host))

    def is_over(self, host: str) -> bool:
        """Whether the lease of its mark has expired, or its watcher is not alive."""
        machine = self.machines[host]
        if self.owner(host) == WATCHER:
            return not (machine.said.watcher and machine.said.watcher["alive"])
        return bool((machine.mark or {}).get("lease")) and is_expired(machine, self.record.at)

    def is_left(self, host: str) -> bool:
        """Whether nobody goes on with the machine by its mark."""
        return is_left(self.view(host), self.is_over(host))

    def silent(self, host: str) -> float | None:
        """Seconds since its mark was renewed; None where that isn't known."""
        given = self._lease(host)
        seconds = math.inf if given is None else seconds_since(given, moment_of(self.machines[host], self.record.at))
        return seconds if math.isfinite(seconds) else None

    def lasts(self, host: str) -> float:
        """Seconds for which the mark's owner still counts as alive."""
        given = self._lease(host)
        return 0.0 if given is None else lease_left(given, moment_of(self.machines[host], self.record.at))

    def _lease(self, host: str) -> Mapping[str, Any] | None:
        machine = self.machines[host]
        return None if machine.said.uptime is None else (machine.mark or {}).get("lease")


def inspected(machines: Sequence[Asked], at: float | None = None, confirms: str = "") -> Inspection:
    """What they have shown.

    :arg at: now, by the controller's clock; None for when they answered: then no answer is too old
    :arg confirms: the key of an event that a person confirms, for whoever made its marks: they count as the asker's own
    """
    polls = {machine.host: _poll(machine.answer) for machine in machines}
    answers = {machine.host: _answer(machine, polls[machine.host], at, confirms) for machine in machines}
    facts = [facts_of(machine, options()) for machine in machines]
    record = first_tick(facts, answers, _RUN, at or 0.0)
    return Inspection(record, polls, {machine.host: machine.answer for machine in machines})


def facts_of(machine: Asked, given: Mapping[str, Any]) -> HostFacts:
    """Of one machine, to begin a record."""
    return {
        "host": machine.host,
        "is_linux": machine.is_linux,
        "scope": machine.scope,
        "resource_name": machine.name,
        "group": "",
        "steps": 1,
        "needs": 0.0,
        "options": given,
        "same": _SAME,
        "endpoint": machine.endpoint,
    }


def first_tick(
    facts: Sequence[HostFacts], answers: Mapping[str, Mapping[str, Any]], run: str, at: float, wall: float = 0.0
) -> Record:
    """The record of a run in check mode that has asked each machine who it is and what it sees.

    :arg answers: as the machine program gives them, by host
    """
    record = begun(facts, {"run": run, "job": "", "controller": "", "check": True}, at, wall)
    call: Any = {
        "requests": [{"do": "hello"}, {"do": "look", "wait": 0.0, "since": None}],
        "run": run,
        "number": 0,
        "seconds": 10.0,
        "decided": at,
        "due": at,
    }
    record.todo.calls = {fact["host"]: call for fact in facts}
    sent(record)
    move_on(record, answers, at)
    return record


# ---- the answers, as a run would have them ----


def _poll(answer: Mapping[str, Any]) -> Mapping[str, Any]:
    """What its poll returned; why it has not polled, where it has not."""
    answers = answer.get("answers") or ()
    poll: Mapping[str, Any] = next((found for found in answers if "events" in found), {})
    words = next((found["problem"] for found in answers if found.get("problem")), "its poll returned no document")
    return poll if has_document(poll) or poll.get("msg") else {**poll, "problem": poll.get("problem") or words}


def _answer(machine: Asked, poll: Mapping[str, Any], at: float | None, confirms: str) -> Mapping[str, Any]:
    answer: Mapping[str, Any] = machine.answer or _NOT_CALLED
    if answer.get("lost") or answer.get("answers") is None:
        return {**answer, "lost": one_line(answer.get("lost"), 1000) or _NOT_CALLED["lost"]}
    hello: Mapping[str, Any] = next(
        (found for found in answer["answers"] if found.get("resource_name") or found.get("vm_id")), {}
    )
    came = {**answer, "answers": [hello, poll]}
    if at is None:
        came = {name: value for name, value in came.items() if name not in ("ended", "age")}
        came["ended"] = 0.0
    if confirms:
        came["yes"] = [*(answer.get("yes") or ()), confirms]
        came["mark"] = _as_own(answer.get("mark"), confirms)
    return came


def _as_own(mark: dict[str, Any] | None, key: str) -> dict[str, Any] | None:
    """A mark that a run or role drain has made for an event, as that of who confirms it. A watcher's stays what it is."""
    if not mark or "unreadable" in mark or mark["holder"]["kind"] == "watcher" or key not in event_ids(mark):
        return mark
    return {**mark, "holder": {**mark["holder"], "kind": "run", "run": _RUN}}


# ---- words ----


def may_come(event: Mapping[str, Any]) -> bool:
    """Whether it has a status with which it comes: one that Azure has cancelled never does."""
    return (event["status"] or "scheduled").lower() in ("scheduled", "started", "advisory")


def event_words(event: Mapping[str, Any]) -> str:
    """An event as it is shown: ``Reboot A-1 (Scheduled, in 300 s)``"""
    when = "" if event.get("notice") is None or not may_come(event) else seconds_until(event["notice"])
    how = ", ".join(words for words in (event["status"] or "status unknown", when) if words)
    return f"{event['type'] or 'Event'} {event['id']} ({how})"
