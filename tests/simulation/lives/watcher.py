# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine's own watcher, as a run beside it sees one: it prepares for the machine's events, recovers it, and approves nothing."""

from __future__ import annotations

from typing import Any

from . import collection
from .azure import GONE_FOR_GOOD
from .clock import Life
from .marks import other_mark, step_entry

APART = 6.0  # seconds between the two looks that show it that its events are over


class Watcher:
    def __init__(self, machine: Any, every: float) -> None:
        self.machine, self.every, self.name = machine, every, f"watcher-{machine.host}"
        self.missing: float | None = None  # since when its looks have lacked the events of its mark

    @property
    def published(self) -> dict[str, Any]:
        """What it says of itself."""
        steps = [{"key": step.key, "does": f"stop {step.key}"} for step in self.machine.steps]
        said = {"format": 1, "mode": "manage", "version": "0.2.0", "metadata": {"endpoint": ""}, "steps": steps}
        return {**said, "boot_id": self.machine.boot_id, "uptime": self.machine.uptime}

    def life(self) -> Life:
        machine = self.machine
        self.publish()
        while not machine.gone:
            yield 1.0 if self._holds() else self.every
            while machine.clock.now < machine.frozen_until:
                yield machine.frozen_until - machine.clock.now
            if machine.is_up:
                self.publish()
            if machine.is_up and not machine.fault("imds-unreachable", "imds-410", "imds-429", "mark-readonly"):
                machine.was_asked()
                self._look()
            if machine.is_up and self._holds():
                self._go_on()

    def publish(self) -> None:
        """What it says of itself is where a run reads it."""

    def _holds(self) -> bool:
        return bool(self.machine.mark) and self.machine.mark.get("holder", {}).get("run") == self.name

    def _look(self) -> None:
        machine = self.machine
        _incarnation, entries = machine.azure.document(machine.scope, machine.name, False)
        own = {
            entry["EventId"]: entry["EventStatus"]
            for entry in entries
            if machine.name.lower() in [name.lower() for name in entry["Resources"]]
            and entry["EventType"] != "SpotRebalanceRecommendation"
        }
        if machine.mark is None and "Scheduled" in own.values():
            self._mark(list(own))
        if not self._holds():
            return
        mark = machine.mark
        mark["number"] += 1
        mark["lease"] = {"uptime": machine.uptime, "boot_id": machine.boot_id, "until": machine.uptime + 120.0}
        for identity in own:
            if mark["phase"] != "recovering" and identity not in mark["events"]:
                mark["events"].append(identity)
                self._journal("joined", event=identity)
        self._note_unprepared(entries, own)
        if mark["phase"] == "prepared" and "Scheduled" in own.values() and "Started" not in own.values():
            self._do_again()
        if any(identity in own for identity in mark["events"]):
            self.missing = None
        elif self.missing is None:
            self.missing = machine.clock.now
        elif machine.clock.now - self.missing >= APART:
            self._phase("recovering")

    def _note_unprepared(self, entries: list[dict[str, Any]], own: dict[str, str]) -> None:
        """What has started while its preparation was under way, its mark says: it may go on to prepared after that."""
        mark = self.machine.mark
        said = mark.setdefault("note", {}).setdefault("said", {})
        for entry in entries:
            identity, over = entry["EventId"], entry["EventType"] in GONE_FOR_GOOD  # it is prepared for even then
            if own.get(identity) == "Started" and not over and identity not in said:
                said[identity] = ["started"] if mark["phase"] == "prepared" else ["started_unprepared", "started"]

    def _do_again(self) -> None:
        """A start of the machine has started its services again, and another event is still to come."""
        mark = self.machine.mark
        if self.machine.boot_id != mark.get("again", mark["boot_id"]):
            mark["again"] = self.machine.boot_id
            mark["steps"] = collection.part("module_utils._steps.sequence").done_again(mark["steps"])
            self._phase("preparing")

    def _mark(self, events: list[str]) -> None:
        machine = self.machine
        machine.mark = other_mark("watcher", machine.host, machine.uptime, machine.boot_id)
        machine.mark.update(phase="preparing", steps=[step_entry(step, "waiting") for step in machine.steps])
        self.missing = None
        self._journal("marked", events=events)

    def _go_on(self) -> None:
        """Each step as far as it comes now."""
        mark, undoes = self.machine.mark, self.machine.mark["phase"] == "recovering"
        direction, pending, done = ("undo", "taking_back", "taken_back") if undoes else ("do", "begun", "done")
        steps = list(zip(mark["steps"], self.machine.steps, strict=True))
        for note, step in reversed(steps) if undoes else steps:
            if note["state"] == done or (undoes and note["state"] == "waiting" and not note.get("perhaps_done")):
                continue
            if not note["before"]["ran"]:
                note["state"] = done
            elif note["state"] != pending:
                step.begin(direction, step.limit, self.name)
                note["state"] = pending
                return
            elif step.outcome(direction) == "done":
                note["state"] = done
            elif step.outcome(direction) == "failed":
                note["state"] = "failed"
                if not undoes:
                    self._phase("half")  # until its events are over
                return
            else:
                return
        if undoes:
            self.machine.mark = None
            self._journal("mark-gone", left=self.machine.left_out())
        elif mark["phase"] == "preparing":
            self._phase("prepared")

    def _phase(self, phase: str) -> None:
        mark = self.machine.mark
        if mark["phase"] != phase:
            mark["phase"] = phase
            self._journal("phase", phase=phase, events=list(mark["events"]))

    def _journal(self, what: str, **details: Any) -> None:
        self.machine.journal.add(what, host=self.machine.host, run=self.name, **details)
