# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a machine goes: its mark, whose it is, and its steps one after the other."""

from __future__ import annotations

from typing import Any

from .clock import Life
from .journal import copied

BUDGET, PATIENCE = 3.0, 0.5  # seconds in one call: for steps that end at once one after the other, for one step

GRACE = 30.0  # seconds that word of what was done elsewhere may take


class Going:
    """One call on one machine, as it deals with the mark: nothing any more once a later call has been there."""

    def __init__(self, machine: Any, run: str, number: int, holder: dict[str, Any]) -> None:
        self.machine, self.run, self.number, self.holder = machine, run, number, holder
        self.fenced = ""
        self.ours = False  # the mark bears our number
        if self.mark is not None and "unreadable" not in self.mark and run and self.mark["holder"]["run"] == run:
            self._claim("")

    # ---- the mark ----

    @property
    def mark(self) -> Any:
        return self.machine.mark

    def may_act(self) -> bool:
        """Whether nobody else, and no later call, has been here."""
        mark = self.mark
        if mark is None:
            self.fenced = self.fenced or ("there is no mark any more" if self.ours else "")
        elif "unreadable" in mark:
            self.fenced = "its mark can't be read"
        elif not self.ours or mark["holder"]["run"] != self.run or mark["number"] != self.number:
            self.fenced = self.fenced or f"it bears the mark of {mark['holder']['run']}, number {mark['number']}"
        return not self.fenced

    def _claim(self, take: str, seconds: float | None = None) -> None:
        mark = self.mark
        if "unreadable" in mark:
            self.fenced = "its mark can't be read"
            return
        whose = mark["holder"]["run"]
        if not self.ours:
            if whose == self.run and mark["number"] >= self.number:
                self.fenced = f"this call (number {self.number}) comes too late"
            elif whose != self.run and (mark["holder"]["kind"] == "drain" or take != whose or not self.expired()):
                self.fenced = f"it bears the mark of {whose}"
            if self.fenced:
                return
            if whose != self.run:
                self.machine.journal.add("taken", host=self.machine.host, run=self.run, from_run=whose)
        mark.update(holder=dict(self.holder), number=self.number)
        self._lease(mark["lease"]["until"] - mark["lease"]["uptime"] if seconds is None else seconds)
        self.ours = True

    def _lease(self, seconds: float) -> None:
        machine = self.machine
        self.mark["lease"] = {
            "uptime": machine.uptime,
            "boot_id": machine.boot_id,
            "until": machine.uptime + seconds,
        }

    def release(self) -> None:
        """Let it go, and leave it as it is."""
        if self.may_act():
            self._claim("", 0.0)

    def expired(self) -> bool:
        lease = self.mark["lease"]
        return lease["boot_id"] != self.machine.boot_id or self.machine.uptime >= lease["until"]

    def _first_mark(self, request: dict[str, Any]) -> None:
        machine = self.machine
        machine.mark = {
            "format": 1,
            "number": self.number,
            "holder": dict(self.holder),
            "since": f"at {machine.clock.now:.1f}",
            "renewed": f"at {machine.clock.now:.1f}",
            "lease": {"uptime": 0.0, "boot_id": "", "until": 0.0},
            "endpoint": "",
            "vm_id": f"vm-{machine.host}",
            "boot_id": machine.boot_id,
            "events": [],
            "phase": "preparing",
            "steps": [
                {
                    "key": step.key,
                    "type": "haproxy" if step.elsewhere else "service",
                    "words": f"stop {step.key}",
                    "unwords": f"start {step.key}",
                    "state": "waiting",
                    "before": (request.get("before") or {}).get(step.key) if step.elsewhere else {"ran": step.running},
                    "since": "",
                    "seconds": 0.0,
                    "note": "",
                }
                for step in machine.steps
            ],
        }
        self.ours = True
        machine.journal.add("marked", host=machine.host, run=self.run, events=list(request.get("events") or []))

    # ---- going ----

    def go(self, request: dict[str, Any]) -> Life:
        machine, to = self.machine, request["to"]
        if self.mark is not None:
            self._claim(request.get("take") or "", float(request.get("lease", 120)))
            if not self.may_act():
                return self._said("refused", self.fenced)
        elif to == "recovered":
            if request.get("unmarked"):
                machine.journal.add("unmarked", host=machine.host, run=self.run)
            return self._said("recovered")
        elif request.get("still"):
            return self._said("refused", "it bears no mark, and nothing new may be begun")
        elif request["left"] <= 0:
            return self._said("failed", "there is no time left to prepare it")
        else:
            ask = [
                step.key for step in machine.steps if step.elsewhere and step.key not in (request.get("before") or {})
            ]
            if ask:
                return {**self._said("preparing"), "ask": ask}
            if machine.fault("mark-readonly"):
                return self._said("failed", "its mark can't be written: no space left on device")
            self._first_mark(request)
            self._lease(float(request.get("lease", 120)))
        if machine.fault("mark-readonly"):
            return self._said(
                "failed" if to == "prepared" else "half", "its mark can't be written: no space left on device"
            )
        notes = self.mark["steps"]
        if to == "prepared":
            for identity in request.get("events") or []:
                if identity not in self.mark["events"]:
                    self.mark["events"].append(identity)
                    machine.journal.add("joined", host=machine.host, run=self.run, event=identity)
            self._phase("prepared" if self.mark["phase"] == "prepared" else "preparing")
        else:
            if self.mark["phase"] == "half" and not request.get("still"):
                for note in notes:
                    note["state"] = "failed" if note["state"] == "not_taken_back" else note["state"]
            self._phase("recovering")
        self._take_outcomes(request.get("outcomes") or {})
        until = machine.clock.now + BUDGET
        while True:
            what, note, step, direction = self._next(to)
            if what == "finished":
                return self._finished(to)
            if what == "stuck":
                self._phase("half")
                return self._said("failed" if to == "prepared" else "half", f"a step failed: {note['key']}")
            if what == "settle":
                note["state"] = "done" if direction == "do" else "taken_back"
                continue
            if what == "stop":
                step.cut_off()
                note["state"] = "failed"  # perhaps done
                continue
            state = "preparing" if to == "prepared" else "recovering"
            if what == "begin":
                if direction == "do" and request["left"] <= 0:
                    self._phase("half")
                    return self._said("failed", "the time that was left is used up")
                if request.get("still") or machine.clock.now >= until:
                    return self._said(state)
                note["state"] = "begun" if direction == "do" else "taking_back"
                note["limit"] = min(step.limit, request["left"]) if direction == "do" else step.limit
                note["began"] = (machine.clock.now, machine.boots)
                if not step.elsewhere:
                    step.begin(direction, note["limit"], self.run)
            if step.elsewhere:
                left = max(0.0, note["limit"] - self._elapsed(note))
                work = {"key": note["key"], "direction": direction, "begun": what == "begin", "left": left}
                return {**self._said(state), "elsewhere": work}
            if what == "begin" and step.outcome(direction) == "pending":
                yield max(0.0, min(PATIENCE, until - machine.clock.now, step.job[1] - machine.clock.now + 0.001))
                yield from machine.frozen()
                if not self.may_act():
                    return self._said("refused", self.fenced)
            outcome = step.outcome(direction)
            if not outcome:  # it was cut off before it could begin
                step.begin(direction, note["limit"], self.run)
                outcome = "pending"
            self._came(note, direction, outcome)
            if outcome == "pending":
                return self._said(state)

    def _elapsed(self, note: dict[str, Any]) -> float:
        began, boots = note["began"]
        return self.machine.clock.now - began if boots == self.machine.boots else 1e9

    def _came(self, note: dict[str, Any], direction: str, outcome: str) -> None:
        states = {
            "do": {"pending": "begun", "done": "done", "failed": "failed"},
            "undo": {"pending": "taking_back", "done": "taken_back", "failed": "not_taken_back"},
        }
        note["state"] = states[direction][outcome]

    def _take_outcomes(self, outcomes: dict[str, Any]) -> None:
        for note in self.mark["steps"]:
            outcome = outcomes.get(note["key"])
            if outcome and note["state"] in ("begun", "taking_back"):
                state = outcome["state"]
                if state == "pending" and self._elapsed(note) >= note["limit"] + GRACE:
                    state = "failed"
                self._came(note, "do" if note["state"] == "begun" else "undo", state)

    def _next(self, to: str) -> tuple[str, dict[str, Any], Any, str]:
        steps = list(zip(self.mark["steps"], self.machine.steps, strict=True))
        if to == "prepared":
            for note, step in reversed(steps):
                if note["state"] == "taking_back":
                    return "check", note, step, "undo"
            for note, step in steps:
                if note["state"] == "failed":
                    return "stuck", note, step, "do"
                if note["state"] != "done":
                    return self._move("check" if note["state"] == "begun" else "begin", note, step, "do")
            return "finished", {}, None, "do"
        stuck = None
        for note, step in reversed(steps):
            state = note["state"]
            if state == "not_taken_back":
                stuck = note
            elif state == "taking_back":
                return "check", note, step, "undo"
            elif state == "begun" and not step.elsewhere:
                return "stop", note, step, "do"
            elif state not in ("waiting", "taken_back"):
                return self._move("begin", note, step, "undo")
        return ("stuck", stuck, None, "undo") if stuck else ("finished", {}, None, "undo")

    def _move(self, what: str, note: dict[str, Any], step: Any, direction: str) -> tuple[str, dict[str, Any], Any, str]:
        was_so = not (note["before"] or {}).get("ran", True)  # a service that did not run is left alone
        return ("settle" if what == "begin" and was_so else what), note, step, direction

    def _finished(self, to: str) -> dict[str, Any]:
        if to == "prepared":
            self._phase("prepared")
            return self._said("prepared")
        self.machine.mark = None
        self.machine.journal.add("mark-gone", host=self.machine.host, run=self.run)
        return self._said("recovered")

    def _phase(self, phase: str) -> None:
        mark = self.mark
        if mark["phase"] != phase:
            mark["phase"] = phase
            self.machine.journal.add(
                "phase", host=self.machine.host, run=self.run, phase=phase, events=list(mark["events"])
            )

    def _said(self, state: str, why: str = "") -> dict[str, Any]:
        mark = self.mark
        return {
            "state": state,
            "why": why,
            "ask": [],
            "elsewhere": None,
            "steps": copied(mark["steps"]) if mark and "steps" in mark else [],
        }


def other_mark(kind: str, host: str, uptime: float, boot_id: str) -> dict[str, Any]:
    """A mark that somebody else left."""
    return {
        "format": 1,
        "number": 5,
        "holder": {"kind": kind, "run": f"{kind}-{host}", "job": "", "controller": "elsewhere"},
        "since": "before",
        "renewed": "before",
        "lease": {"uptime": uptime - 130.0, "boot_id": boot_id, "until": uptime - 10.0},
        "endpoint": "",
        "vm_id": f"vm-{host}",
        "boot_id": boot_id,
        "events": [],
        "phase": "prepared",
        "steps": [],
    }
