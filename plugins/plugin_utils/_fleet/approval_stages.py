# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook ``approve``, stage by stage: what each machine is asked next, what is shown, and how it ends. Pure.

Private to this collection.

The confirmation is recorded on the machines of the event. Where a run owns them that may be alive, the playbook waits for a sign of it;
then it asks the machines once more, and where no run is alive one of them approves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from . import confirmation
from .confirmation import Confirmation
from .inspection import Asked

RECORD, WAIT, ASK, APPROVE, OVER = "record", "wait", "ask", "approve", "over"
_SHOWN = ("run", "approve", "started")
"""Verdicts with which nothing is left for a person; any other is a failure."""

_POLL: dict[str, Any] = {"requests": [{"do": "hello"}, {"do": "look", "wait": 0}], "mark": {}}


class Approval(TypedDict):
    """Where it stands.

    stage: what the calls are for
    calls: by host ``requests``, and the ``mark`` of the run as whose hand the machine is called
    show: for people; a list of lines, or one
    problems: the same, of what was not reached
    found: by what is decided
    recorded: the sentence about the confirmation; "" before it is recorded
    """

    stage: str
    event: str
    allow_unknown: list[str]
    calls: dict[str, dict[str, Any]]
    show: list[str] | str
    problems: list[str] | str
    found: dict[str, Any]
    recorded: str


def begun(machines: Sequence[Asked], event: str, allow_unknown: Sequence[str], by: str, check: bool) -> Approval:
    """It begins; with ``check`` it only shows what would become of the confirmation.

    :arg by: who confirms the event, and where
    """
    found = confirmation.confirmation_of(event, machines, allow_unknown)
    approval: Approval = {
        "stage": OVER,
        "event": event,
        "allow_unknown": list(allow_unknown),
        "calls": {},
        "show": list(found.sentences) if check or found.verdict == "started" else [],
        "problems": [],
        "found": found._asdict(),
        "recorded": "",
    }
    if found.recorded_on and not check:
        request = {"do": "yes", "event": found.id, "by": by}
        return {
            **approval,
            "stage": RECORD,
            "calls": {host: {"requests": [request], "mark": {}} for host in found.recorded_on},
        }
    return {**approval, "problems": [] if found.verdict in _SHOWN else list(found.sentences)}


def moved_on(
    approval: Approval, machines: Sequence[Asked], answers: Mapping[str, Mapping[str, Any]], at: float
) -> Approval:
    """After the calls of a stage.

    :arg machines: all of the inventory's, as they answered last
    :arg answers: the same, as they came
    :arg at: now, by the controller's clock
    """
    approval, found = {**approval, "calls": {}, "show": [], "problems": []}, Confirmation(**approval["found"])
    if approval["stage"] == RECORD:
        return _recorded(approval, found, machines, answers)
    if approval["stage"] == WAIT:
        return _asking(approval, [machine.host for machine in machines])
    if approval["stage"] == ASK:
        return _asked(approval, found, machines, answers, at)
    done, sentence = confirmation.approved(found, answers[found.host])
    return {**approval, "stage": OVER, "show": sentence if done else [], "problems": [] if done else sentence}


def is_heard(approval: Approval, host: str, answer: Mapping[str, Any]) -> bool:
    """Whether a machine is asked no more in this stage: its mark has changed, so that its run lives; or it won't."""
    lease = (answer.get("mark") or {}).get("lease")
    if approval["stage"] != WAIT or answer.get("attempts", 0) >= MOST_TRIES or answer.get("lost") or not lease:
        return True
    return bool(
        answer["mark"]["number"] > approval["found"]["numbers"][host]
        or lease["boot_id"] != answer["boot_id"]
        or lease["until"] <= (answer.get("uptime") or 0)
    )


MOST_TRIES = 40
"""Calls of a machine in WAIT, four seconds apart: a mark counts for two minutes after its run has ended."""


def _recorded(
    approval: Approval, found: Confirmation, machines: Sequence[Asked], answers: Mapping[str, Mapping[str, Any]]
) -> Approval:
    done, sentence = confirmation.recorded(found, {host: answers[host] for host in found.recorded_on})
    if not done:
        return {**approval, "stage": OVER, "problems": sentence}
    approval["recorded"] = sentence
    if found.numbers:
        return {**approval, "stage": WAIT, "calls": dict.fromkeys(found.numbers, _POLL)}
    if found.verdict == "approve":
        return _asking(
            approval, [machine.host for machine in machines if machine.host in (*found.recorded_on, found.host)]
        )
    return {**approval, "stage": OVER, "problems": [sentence, *found.sentences]}


def _asking(approval: Approval, hosts: Sequence[str]) -> Approval:
    """It is decided by what the machines say now, not by what they said before anybody waited."""
    return {**approval, "stage": ASK, "calls": dict.fromkeys(hosts, _POLL)}


def _asked(
    approval: Approval,
    before: Confirmation,
    machines: Sequence[Asked],
    answers: Mapping[str, Mapping[str, Any]],
    at: float,
) -> Approval:
    allow_unknown = approval["allow_unknown"]
    found = confirmation.after_waiting(
        confirmation.confirmation_of(approval["event"], machines, allow_unknown, at), before
    )
    lines = [approval["recorded"], *found.sentences]
    approval = {**approval, "stage": OVER, "found": found._asdict()}
    if found.verdict not in _SHOWN:
        return {**approval, "problems": lines}
    if found.verdict != "approve":
        return {**approval, "show": lines}
    # A watcher has its machine prepared: whoever asks it to approve has no part in that mark.
    mark = {} if found.request["by_watcher"] else answers[found.host].get("mark") or {}
    call = {"requests": [dict(found.request)], "mark": mark}
    return {**approval, "stage": APPROVE, "show": lines, "calls": {found.host: call}}
