# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a machine goes: its mark, whose it is, and its steps one after the other."""

from __future__ import annotations

from typing import Any

from . import collection
from .clock import Life
from .journal import copied

BUDGET, PATIENCE = 3.0, 0.5  # seconds in one call: for steps that end at once one after the other, for one step

GRACE = 30.0  # seconds that word of what was done elsewhere may take


LOCK_WITHIN = 2.0  # seconds for which the lock is waited for


def read_again(_before: Any, now: Any) -> Any:
    """The mark that a call goes by: as it is under the lock, not as it was before the lock was waited for."""
    return now


def put_back(machine: Any, events: list[str]) -> list[str]:
    """The events despite which a person has recovered it, as the machine itself knows: whoever sent the call may not yet."""
    yes = {event.upper() for event in machine.yes}
    return [event for event in events if event.upper() in machine.put_back and event.upper() not in yes]


class Going:
    """One call on one machine, as it deals with the mark: nothing any more once a later call has been there."""

    def __init__(self, machine: Any, run: str, number: int, holder: dict[str, Any], within: Any) -> None:
        self.machine, self.run, self.number, self.holder, self.within = machine, run, number, holder, within
        self.fenced = ""
        self.ours = False  # the mark bears our number
        self.busy = False  # another call has held the lock for too long
        self.looks: list[dict[str, Any]] = []  # the journal's lines of what it has seen

    def opened(self) -> Life:
        """The mark of its run is its own from the beginning."""
        before = copied(self.mark)
        if (
            before is None
            or "unreadable" in before
            or not self.run
            or before["holder"]["run"] != self.run
            or self.late()
        ):
            return
        yield from self._alone()
        if self.busy or self.mark is None or self.mark["holder"]["run"] != self.run:
            return
        self.machine.mark = read_again(before, self.mark)
        self._claim("")

    def late(self) -> bool:
        """Whether nobody waits for it any more."""
        within, machine = self.within, self.machine
        return bool(within) and (within["boot_id"] != machine.boot_id or machine.uptime >= within["until"])

    def _alone(self) -> Life:
        """Wait for the lock."""
        until = self.machine.clock.now + LOCK_WITHIN
        if self.machine.locked:
            self.machine.waited_for.fire()
        while self.machine.locked and self.machine.clock.now < until:
            yield 0.05
        self.busy = self.machine.locked

    def _hang(self) -> Life:
        """In the lock, while the mark is written: until somebody waits for the lock, and not for ever."""
        machine = self.machine
        machine.locked = True
        waited: tuple[Any, float] = (machine.waited_for, 18.0)
        try:
            if (yield waited):
                yield 0.1 + machine.azure.chance.random()
        finally:
            machine.locked = False

    def shown(self) -> None:
        """What the mark says at the end of the call."""
        mark = self.mark
        if self.ours and mark and any(kind == "lock" for _begins, _ends, kind in self.machine.faults):
            # What is done once more, as after a start of the machine or by another outage, waits though it was begun before.
            waiting = [
                note["key"] for note in mark["steps"] if note["state"] == "waiting" and "perhaps_done" not in note
            ]
            self.machine.journal.add("mark-says", host=self.machine.host, run=self.run, waiting=waiting)

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
            self.fenced = self.fenced or f"it is marked by {mark['holder']['run']}, number {mark['number']}"
        return not self.fenced

    def is_prepared(self, event: str) -> bool:
        """Whether the machine is, for an event, under its present start."""
        mark = self.mark or {"phase": "", "boot_id": ""}
        under = mark.get("again") or mark["boot_id"]
        return mark["phase"] == "prepared" and event in mark["events"] and under == self.machine.boot_id

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
                self.fenced = f"it is marked by {whose}"
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
        if self.mark is not None and self.may_act() and not self.late():
            self._claim("", 0.0)

    def expired(self) -> bool:
        lease = self.mark["lease"]
        return lease["boot_id"] != self.machine.boot_id or self.machine.uptime >= lease["until"]

    def _first_mark(self, request: dict[str, Any]) -> None:
        machine = self.machine
        if machine.lost_by not in ("", self.run):
            # Only the other run knew what it had had done elsewhere: how this one finds it is how it has to leave it.
            for step in machine.steps:
                step.originally = step.originally and (step.running or not step.elsewhere)
        machine.lost_by = ""
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
                    "type": "service",
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
        machine.entered("preparing")
        machine.journal.add("marked", host=machine.host, run=self.run, events=list(request.get("events") or []))

    # ---- going ----

    def go(self, request: dict[str, Any]) -> Life:
        machine, to = self.machine, request["to"]
        if not self.busy:
            yield from self._alone()
        if self.late():
            return self._said("skipped", "it comes too late")
        if self.busy:
            return self._said("preparing" if to == "prepared" else "recovering", "the lock is owned by another call")
        if self.within:
            request = {**request, "left": request["left"] - max(0.0, machine.uptime - self.within["uptime"])}
        if self.mark is None and request.get("restore"):
            machine.mark = dict(copied(request["restore"]), number=self.number, holder=dict(self.holder))
            self._lease(float(request.get("lease", 120)))
            self.ours = True
            machine.lost_by = ""
            machine.journal.add("restored", host=machine.host, run=self.run)
        if self.mark is not None:
            self._claim(request.get("take") or "", float(request.get("lease", 120)))
            if not self.may_act():
                return self._said("refused", self.fenced)
        elif to == "recovered":
            if request.get("unmarked"):
                machine.journal.add("unmarked", host=machine.host, run=self.run)
            return self._said("recovered")
        elif request.get("no_new_steps") or request["only_marked"]:
            return self._said("refused", "it is not marked, and nothing new may be started")
        elif request["left"] <= 0:
            return self._said("failed", "there is no time left to prepare it")
        else:
            ask = [
                step.key for step in machine.steps if step.elsewhere and step.key not in (request.get("before") or {})
            ]
            if ask:
                return {**self._said("preparing"), "ask": ask}
            if put_back(machine, request.get("events") or []):
                return self._said("refused", "a person has recovered it despite an event")
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
            asked = request.get("events") or []
            new = [identity for identity in asked if identity not in self.mark["events"]]
            kept_off = put_back(machine, new)
            if kept_off and len(kept_off) == len(asked) and not request.get("no_new_steps"):
                return self._said("refused", "it was recovered by force despite its events")
            for identity in new:
                if identity not in kept_off:
                    self.mark["events"].append(identity)
                    machine.journal.add("joined", host=machine.host, run=self.run, event=identity)
            if request.get("replace_outage") and self.mark["phase"] in ("recovering", "half"):
                self._turn_round()
            self._phase("prepared" if self.mark["phase"] == "prepared" else "preparing")
            if request.get("redo_after_reboot") and machine.boot_id != (self.mark.get("again") or self.mark["boot_id"]):
                self.mark["again"] = machine.boot_id
                notes = self.mark["steps"] = collection.part("module_utils._steps.sequence").done_again(notes)
                self._phase("preparing")
        else:
            if self.mark["phase"] == "half" and not request.get("no_new_steps"):
                for note in notes:
                    note["state"] = "failed" if note["state"] == "not_taken_back" else note["state"]
            self._phase("recovering")
        done_before = [note["key"] for note in self.mark["steps"] if note["state"] == "done"]
        self._take_outcomes(request.get("outcomes") or {})
        self.looked = False
        until = machine.clock.now + BUDGET
        while True:
            what, note, step, direction = self._next(to)
            if what == "finished":
                if to == "prepared" and not self.looked and self._is_put_back(request, done_before):
                    continue
                return self._finished(to)
            if what == "stuck":
                self._phase("half")
                return self._said("failed" if to == "prepared" else "half", "a step failed")
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
                if request.get("no_new_steps") or machine.clock.now >= until:
                    return self._said(state)
                if self.late():
                    return self._said("skipped", "it comes too late")
                if machine.fault("lock") and not step.elsewhere and not machine.locked:
                    yield from self._hang()
                note["state"] = "begun" if direction == "do" else "taking_back"
                note["limit"] = (
                    step.limit
                )  # its own: nothing more is begun when the time is over, but what runs goes on
                note["began"] = (machine.clock.now, machine.boots)
                if not step.elsewhere:
                    step.begin(direction, note["limit"], self.run)
            if step.elsewhere:
                left = max(0.0, note["limit"] - self._elapsed(note))
                work = {"key": note["key"], "direction": direction, "begun": what == "begin", "left": left}
                work["begins"] = max(0.0, request["left"])
                return {**self._said(state), "elsewhere": work}
            if what == "begin" and step.outcome(direction) == "pending":
                yield max(0.0, min(PATIENCE, until - machine.clock.now, step.job[1] - machine.clock.now + 0.001))
                yield from machine.frozen()
                if not self.may_act():
                    return self._said("refused", self.fenced)
            outcome = step.outcome(direction)
            if not outcome:  # it was interrupted before it could begin
                step.begin(direction, note["limit"], self.run)
                outcome = "pending"
            if step.was_cut_off and self._is_done_again(note, direction, request["left"]):
                return self._said(state)
            self._came(note, direction, outcome)
            if outcome == "pending":
                return self._said(state)

    def _is_done_again(self, note: dict[str, Any], direction: str, left: float) -> bool:
        """What a start of the machine has ended has not failed: it is done again with all that the start has undone."""
        return direction == "do" and note["began"][1] != self.machine.boots and left > 0

    def _turn_round(self) -> None:
        """Another outage takes over what a recovery has left: what it has under way here is cut off."""
        for note, step in zip(self.mark["steps"], self.machine.steps, strict=True):
            if note["state"] == "taking_back" and not step.elsewhere:
                step.cut_off()
                note["state"] = "not_taken_back"
            if note["state"] in ("failed", "not_taken_back"):
                note.update(state="waiting", perhaps_done=True)
            elif note["state"] == "taken_back":
                note.update(state="waiting", perhaps_done=False)

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
        for note, step in zip(self.mark["steps"], self.machine.steps, strict=True):
            under_way = note["state"] in ("begun", "taking_back")
            if under_way and step.elsewhere and note["began"][1] != self.machine.boots:
                note["began"] = (self.machine.clock.now, self.machine.boots)  # others go on meanwhile
            outcome = outcomes.get(note["key"])
            direction = "do" if note["state"] == "begun" else "undo"
            # That it was done says nothing of its being undone, which a call began whose answer was lost.
            if outcome and under_way and outcome.get("direction", direction) == direction:
                state = outcome["state"]
                is_used_up = self._elapsed(note) >= note["limit"] + GRACE and not outcome.get("left")
                if state == "pending" and is_used_up:
                    state = "failed"
                self._came(note, direction, state)

    def _next(self, to: str) -> tuple[str, dict[str, Any], Any, str]:
        """What comes next is the collection's own to say."""
        plan = {
            step.key: {
                "key": step.key,
                "type": "service",
                "name": step.key,
                "number": number,
                "elsewhere": step.elsewhere,
                "does": f"stop {step.key}",
                "undoes": f"start {step.key}",
            }
            for number, step in enumerate(self.machine.steps, 1)
        }
        move = collection.part("module_utils._steps.sequence").next_move(self.mark["steps"], plan, to)
        note: dict[str, Any] = next((note for note in self.mark["steps"] if note["key"] == move.key), {})
        step = next((step for step in self.machine.steps if step.key == move.key), None)
        return move.what, note, step, move.direction

    def _is_put_back(self, request: dict[str, Any], done_before: list[str]) -> bool:
        """The second look: what was done before this call, and runs again, is done again. Others say what runs elsewhere."""
        under = self.mark.get("again") or self.mark["boot_id"]
        self.looked, back, self.back = True, [], []
        self.stands, self.asks = "unknown", []
        if not request["looks"] or under != self.machine.boot_id:
            return False
        self.stands = "stands"
        for note, step in zip(self.mark["steps"], self.machine.steps, strict=True):
            if note["key"] not in done_before or not note["before"]["ran"]:
                continue
            found = (request.get("before") or {}).get(step.key) if step.elsewhere else {"ran": step.running}
            if found is None:
                self.asks.append(step.key)
                self.stands = "unknown"
            elif found["ran"]:
                note.update(state="waiting", perhaps_done=True)
                back.append(step.key)
        self.back = back
        if back:
            self._phase("preparing")
        return bool(back)

    def _finished(self, to: str) -> dict[str, Any]:
        if to == "prepared":
            self._phase("prepared")
            return {**self._said("prepared"), "stands": self.stands, "ask": self.asks, "back": self.back}
        self.machine.mark = None
        self.machine.journal.add("mark-gone", host=self.machine.host, run=self.run, left=self.machine.left_out())
        return self._said("recovered")

    def _phase(self, phase: str) -> None:
        mark = self.mark
        if mark["phase"] != phase:
            mark["phase"] = phase
            self.machine.entered(phase)
            self.machine.journal.add(
                "phase", host=self.machine.host, run=self.run, phase=phase, events=list(mark["events"])
            )

    def _said(self, state: str, why: str = "") -> dict[str, Any]:
        mark = self.mark
        return {
            "state": state,
            "why": why,
            "ask": [],
            "stands": "unknown",
            "unseen": "",
            "back": [],
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
