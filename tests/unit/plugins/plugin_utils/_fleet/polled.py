# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Polls of one machine, and what a run decides by them: tests/vectors/README.md explains their form (lives.json)."""

from __future__ import annotations

from typing import Any

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    OPTIONS,
    SAME,
    mark,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.ticking import STANDS

WALL, NOW = 1767225600.0, 5000.0
EVERY = 4.0  # seconds between two polls of which a case says nothing
HOST, NAME, RUN = "web1", "vm1", "r1"


class Polled:
    """A run of one machine, whose world stays as it is until a poll says otherwise."""

    def __init__(self, settings: dict[str, Any], alone_since: float) -> None:
        given = {"policy": DEFAULT_POLICY, "prepare_before": 300.0, "limits": 0.0, "undo_limits": 0.0, **settings}
        policy = given["policy"]
        options: Any = {**OPTIONS, "margin": 30.0, "max_unavailable": "50%", "prepare_before": given["prepare_before"]}
        options["policy"] = [{"do": policy}] if isinstance(policy, str) else policy
        facts: Any = {"host": HOST, "is_linux": True, "scope": "", "resource_name": "", "group": "", "steps": 1}
        facts.update(
            needs=given["limits"],
            undo_needs=given["undo_limits"],
            options=options,
            same={**SAME, "rounds": 0, "wait_timeout": 1e6},
        )
        self.world: dict[str, Any] = {"document": [], "boot": "boot-1", "took": 0.0, "yes": ()}
        self.mark: Any = None
        self.wanted: list[str] = []  # events for which it was last asked to prepare
        self.approved: set[str] = set()
        self.at = -alone_since
        who: Any = {"run": RUN, "job": "", "controller": "ctl", "check": False}
        self.record: Any = run_record.begun([facts], who, NOW + self.at, WALL + self.at)
        self._tick()

    def poll(self, given: dict[str, Any]) -> dict[str, Any]:
        """How things stand after a poll: of each event of the machine, what the machine is to become, what was approved so far."""
        given = {name: value for name, value in given.items() if name != "answer"}  # a run goes by the mark
        at, gap = given.pop("at"), given.pop("gap", False)
        while not gap and at - self.at > EVERY:
            self.at += EVERY
            self._tick()
        self.at = at
        requests = self._tick(**given)
        # With no time left, or with "no_new_steps", nothing is started: the machine only goes on with what runs.
        goals = [one["to"] for one in requests if one["do"] == "go" and one["left"] > 0 and not one["no_new_steps"]]
        return {
            "state": {key: _state(entry) for key, entry in self.record.events.items() if entry.affected},
            "goal": "".join(goals),
            "approved": sorted(self.approved),
        }

    def _tick(self, restart: str = "", **given: Any) -> list[dict[str, Any]]:
        """The requests for the next tick."""
        if restart == "machine":
            self.world["boot"] += "'"
        if "mark" in given:
            self._take_mark(given.pop("mark"))
        self.world.update(given)
        call = self.record.todo.calls.get(HOST)
        answers = {HOST: self._answer(call)} if call else {}
        run_record.sent(self.record)
        run_record.move_on(self.record, answers, NOW + self.at, WALL + self.at)
        asked = self.record.todo.calls.get(HOST, {"requests": []})["requests"]
        for one in asked:
            if one["do"] == "go" and one["to"] == "prepared":
                self.wanted = one["events"]
            if one["do"] == "approve":
                self.approved.update(one["ids"])
        return list(asked)

    def _take_mark(self, said: Any) -> None:
        """A phase, or what is otherwise in it; null: there is none any more."""
        if said is None:
            self.mark = None
            return
        known = self.mark or mark(RUN, [], phase="preparing", boot=self.world["boot"], until=1e9)
        events = list(dict.fromkeys([*known["events"], *self.wanted]))
        said = {"phase": said} if isinstance(said, str) else dict(said)
        if "steps" in said:
            step = {"key": "s", "words": "drain", "unwords": "", "note": "it broke", "seconds": 1.0}
            said["steps"] = [{**step, "state": state} for state in said["steps"]]
        self.mark = {**known, "events": events, **said}

    def _answer(self, call: Any) -> dict[str, Any]:
        if self.mark and self.mark["holder"]["run"] == RUN:
            self.mark = {**self.mark, "number": call["number"]}
        return {
            "lost": "",
            "answers": [getattr(self, f"_{one['do']}")(one) for one in call["requests"]],
            "mark": self.mark,
            "yes": list(self.world["yes"]),
            "boot_id": self.world["boot"],
            "uptime": NOW + self.at,
            "ended": NOW + self.at,
            "number": call["number"],
            "fenced": "",
        }

    def _hello(self, _request: Any) -> dict[str, Any]:
        return {"resource_name": NAME, "placement_group": "", "vm_id": "id-of-vm1", "priority": "", "problem": ""}

    def _look(self, _request: Any) -> dict[str, Any]:
        shown = self.world["document"]
        broken = [
            {"position": 1, "id": one.get("id", ""), "reason": one["broken"], "raw": "{}"}
            for one in shown
            if "broken" in one
        ]
        return {
            "events": [self._event(one) for one in shown if "broken" not in one],
            "incarnation": 1,
            "unusable_events": broken,
            "failure": None,
            "msg": "",
            "began": self.world["took"],
            "age": 0.0,
        }

    def _event(self, given: dict[str, Any]) -> dict[str, Any]:
        status = given.get("status", "Scheduled")
        starts = None if status == "Started" else given.get("in")
        names = list(given.get("on", [NAME]))
        return {
            "id": given["id"],
            "type": given.get("type", "Reboot"),
            "status": status,
            "source": given.get("source", "Platform"),
            "resource_type": "VirtualMachine",
            "resources": names,
            "raw_resources": names,
            "not_before": "" if starts is None else "Thu, 01 Jan 2026 00:15:00 GMT",
            "notice": None if starts is None else starts - self.at,
            "description": "",
            "duration": given.get("duration", -1),
        }

    def _go(self, request: Any) -> dict[str, Any]:
        """It goes as far as the case's marks say."""
        if request["to"] == "recovered":
            left = any(step["state"] == "not_taken_back" for step in (self.mark or {}).get("steps", ()))
            state = "half" if left else "recovering" if self.mark else "recovered"
            return self._went(state, "it broke" if left else "")
        phase = self.mark["phase"] if self.mark else "preparing"
        return self._went("failed", "it broke") if phase == "half" else self._went(phase)

    def _put_aside(self, _request: Any) -> dict[str, Any]:
        self.mark = None
        return {}

    def _went(self, state: str, why: str = "") -> dict[str, Any]:
        return {"state": state, "why": why, "ask": [], "elsewhere": None, "steps": [], **STANDS}

    def _approve(self, request: Any) -> dict[str, Any]:
        accepted = {"approved": request["ids"], "already": [], "not_approved": [], "failure": None, "msg": ""}
        return {**accepted, "look": self._look(request)}


def _state(entry: Any) -> str:
    """scheduled, started, or how it ended."""
    if entry.gone is not None:
        return str(entry.tracked.outcome)
    return "started" if entry.started is not None else str(entry.event.event_status).lower()
