# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program as the watcher's contract has it: marks, steps, hooks, jobs that outlive whoever began them.

It is a small model, written by the contract and not by the program's code: a call makes the mark say what is begun before it is
begun, and may be cut off at every place in between.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Mark = dict[str, Any]
WAITING, BEGUN, DONE, FAILED = "waiting", "begun", "done", "failed"
TAKING_BACK, TAKEN_BACK, NOT_TAKEN_BACK = "taking_back", "taken_back", "not_taken_back"
AGAIN = 75  # a hook's wish to be tried once more


class Piece:
    """A hook or a step of the machine, and what comes of it each time that it is begun.

    does, undoes: of each try seconds and result: 0, 1, 75; the last one holds for all later ones
    """

    def __init__(self, key: str, kind: str, does: list[tuple[float, int]], undoes: list[tuple[float, int]]) -> None:
        self.key, self.kind, self.does, self.undoes = key, kind, does, undoes
        self.limit = 40.0
        self.lasts = False  # what it has stopped stays so through a start of the machine
        self.running = kind == "step"  # what it is about, before it is done
        self.count = {"do": 0, "undo": 0}


def merged(events: list[str], more: tuple[str, ...]) -> list[str]:
    """The ids of both, each once, in whatever letters."""
    known = {event.upper() for event in events}
    return [*events, *(event for event in more if event.upper() not in known)]


def _tries(entry: dict[str, Any]) -> int:
    """Of this outage."""
    return int(entry["tries"] - entry.get("before", 0))


class Job(NamedTuple):
    """What was begun. It goes on whatever becomes of the watcher, and ends with the machine."""

    piece: Piece
    direction: str
    ends: float
    code: int
    cut: bool = False


class NotWritten(Exception):
    """The mark stays as it was."""


class Program:
    """One machine's.

    :arg at: called before and after everything that lasts; whoever is killed, is killed there
    """

    def __init__(self, machine: Any, pieces: list[Piece], at: Callable[[], None]) -> None:
        self.machine, self.pieces, self.at = machine, {piece.key: piece for piece in pieces}, at
        self.mark: Mark | None = None
        self.jobs: dict[tuple[str, str, int], Job] = {}
        self.seen: set[Job] = set()  # whose end has shown in what they are about

    def go(self, act: Any) -> tuple[str, str]:
        """State and why."""
        if self.mark is not None and self.mark["holder"]["run"] != "watcher":
            return "refused", "the machine is another's"
        if self.machine.is_mark_damaged:
            return "refused", "its mark can't be read"
        try:
            return self._prepare(act) if act.to == "prepared" else self._recover(act)
        except NotWritten:
            return ("failed" if act.to == "prepared" else "half"), "it can't be written"

    def take_off(self) -> None:
        """By hand: no mark, and all serves."""
        self.mark = None
        self.machine.damaged_until = -1e9
        self.jobs.clear()
        for piece in self.pieces.values():
            piece.running = piece.kind == "step"

    def _write(self, **changes: Any) -> None:
        mark = {**(self.mark or {}), **changes}
        if mark == self.mark:
            return
        if self.machine.within("unwritable"):
            raise NotWritten
        self.at()
        if self.mark is None or mark["phase"] != self.mark["phase"]:
            self.machine.entered(mark["phase"])
        if self.mark is None or any(mark[what] != self.mark[what] for what in ("phase", "events")):
            self.machine.note(
                "mark",
                phase=mark["phase"],
                events=[event.upper() for event in mark["events"]],
                outage=mark["note"]["outage"],
            )
        self.mark = mark
        self.at()

    def _put(self, key: str, **changes: Any) -> None:
        steps = [{**entry, **changes} if entry["key"] == key else entry for entry in self.mark["steps"]]  # type: ignore[index]
        self._write(steps=steps)

    def _entry(self, key: str) -> dict[str, Any]:
        return next(entry for entry in self.mark["steps"] if entry["key"] == key)  # type: ignore[index]

    # ---- preparing ----

    def _prepare(self, act: Any) -> tuple[str, str]:
        if self.mark is None:
            if act.no_new_steps or act.looks:
                return "refused", "nothing new may be started"
            if act.left <= 0 or self.machine.lacks_case():
                return "failed", "nothing was started"
        if act.replace_outage and self.mark is not None and self.mark["phase"] in ("recovering", "half"):
            self._turn_round(act)
        self._take(act)
        if act.parallel and not act.no_new_steps:
            for entry in [
                entry for entry in self.mark["steps"] if entry["state"] == WAITING and entry["kind"] == "prepare"
            ]:  # type: ignore[index]
                self._begin(entry, "do")
        for key in [entry["key"] for entry in self.mark["steps"]]:  # type: ignore[index]
            entry = self._entry(key)
            if entry["kind"] == "recover":
                if entry["state"] != DONE:
                    self._put(key, state=DONE)
                continue
            if entry["state"] in (WAITING, TAKEN_BACK, NOT_TAKEN_BACK):
                if act.no_new_steps:
                    return "preparing", ""
                self._begin(entry, "do")
            if self._entry(key)["state"] == BEGUN and not self._checked(key, "do", act):
                return "preparing", ""
            if self._entry(key)["state"] == FAILED:
                self._write(phase="half")
                return "failed", f"{key} failed"
        if (act.looks or not act.no_new_steps) and self._is_put_back():
            return "preparing", ""
        self._write(phase="prepared")
        return "prepared", ""

    def _is_put_back(self) -> bool:
        """Whether somebody has put back what was done: it is to be done again."""
        self.came_to_pass()
        if self.machine.boot_id != (self.mark.get("again") or self.mark["boot_id"]):  # type: ignore[union-attr, index]
            return False
        entries = self.mark["steps"]  # type: ignore[index]
        keys = [entry["key"] for entry in entries if entry["kind"] == "step" and self.pieces[entry["key"]].running]
        for key in keys:
            self._put(key, state=WAITING)
        if keys:
            self._write(phase="preparing")
        return bool(keys)

    def _turn_round(self, act: Any) -> None:
        """Another outage takes over what a recovery has left: what is under way is ended, hooks are to be run anew."""
        assert self.mark is not None
        steps = []
        for entry in self.mark["steps"]:
            if entry["state"] in (BEGUN, TAKING_BACK):
                direction = "do" if entry["state"] == BEGUN else "undo"
                self.machine.end_job(self.jobs, (entry["key"], direction, entry["tries"]), cut=True)
            entry = {**entry, "before": entry["tries"]}  # a hook's tries are counted for each outage
            if entry["kind"] == "recover":
                steps.append({**entry, "state": DONE})
            elif entry["kind"] == "prepare" or entry["state"] == TAKEN_BACK:
                steps.append({**entry, "state": WAITING})
            elif entry["state"] in (WAITING, DONE):
                steps.append(entry)
            else:  # perhaps done
                limit = self.pieces[entry["key"]].limit
                again = {"state": BEGUN, "tries": entry["tries"] + 1, "limit": limit, "began": self.machine.mono}
                steps.append({**entry, **again})
        self._write(steps=steps, phase="preparing", events=merged(self.mark["events"], act.events), note=act.note)

    def _take(self, act: Any) -> None:
        mark = self.mark or {
            "vm_id": self.machine.vm_id,
            "boot_id": self.machine.boot_id,
            "events": [],
            "steps": [],
            "holder": {"kind": "watcher", "run": "watcher", "job": "", "controller": self.machine.name},
            "since": "now",
            "phase": "preparing",
        }
        steps = list(mark["steps"])
        if act.redo_after_reboot:
            # One that was begun before the restart has to be done again, too, though it ended well: the boot has undone it.
            steps = [
                {**one, "state": WAITING} if one["kind"] == "step" and one["state"] in (BEGUN, DONE) else one
                for one in steps
            ]
            mark = {**mark, "again": self.machine.boot_id}
        known = {entry["key"] for entry in steps}
        new = [piece for piece in self.pieces.values() if piece.kind != "recover" and piece.key not in known]
        if not act.no_new_steps:
            steps += [
                {
                    "key": piece.key,
                    "kind": piece.kind,
                    "state": WAITING,
                    "words": piece.key,
                    "unwords": piece.key,
                    "note": "",
                    "tries": 0,
                }
                for piece in new
            ]
        unfinished = any(entry["state"] != DONE for entry in steps)
        phase = "prepared" if mark["phase"] == "prepared" and not unfinished else "preparing"
        events = merged(mark["events"], act.events)
        self._write(**{**mark, "events": events, "steps": steps, "phase": phase, "note": act.note})

    # ---- recovering ----

    def _recover(self, act: Any) -> tuple[str, str]:
        if self.mark is None:
            return "recovered", "no mark"
        steps = list(self.mark["steps"])
        if self.mark["phase"] == "half" and not act.no_new_steps:
            # A hook is begun once: one that was refused never was.
            steps = [
                {**one, "state": FAILED, "refused": False}
                if one["state"] == NOT_TAKEN_BACK and (one["kind"] == "step" or one.get("refused"))
                else one
                for one in steps
            ]
        known = {entry["key"] for entry in steps}
        new = [piece for piece in self.pieces.values() if piece.kind == "recover" and piece.key not in known]
        steps = [
            {
                "key": piece.key,
                "kind": "recover",
                "state": DONE,
                "words": "",
                "unwords": piece.key,
                "note": "",
                "tries": 0,
            }
            for piece in reversed(new)
        ] + steps
        self._write(phase="recovering", steps=steps, note=act.note)
        left = []
        for key in [entry["key"] for entry in reversed(self.mark["steps"])]:
            entry = self._entry(key)
            if entry["state"] == BEGUN:
                self.machine.end_job(self.jobs, (key, "do", entry["tries"]))
                self._put(key, state=FAILED)
            if self._entry(key)["state"] in (DONE, FAILED):
                if entry["kind"] == "prepare":
                    self._put(key, state=TAKEN_BACK)
                elif act.no_new_steps:
                    return "recovering", ""
                else:
                    self._begin(entry, "undo")
            if self._entry(key)["state"] == TAKING_BACK and not self._checked(key, "undo", act):
                return "recovering", ""
            if self._entry(key)["state"] == NOT_TAKEN_BACK:
                left.append(key)
        if left:
            self._write(phase="half")
            return "half", f"{left[0]} was not undone"
        self.at()
        if self.machine.within("unwritable"):
            raise NotWritten
        self.machine.note("unmarked", outage=self.mark["note"]["outage"])
        self.remove_mark()
        self.machine.entered("gone")
        self.at()
        return "recovered", ""

    def remove_mark(self) -> None:
        self.mark = None
        self.jobs.clear()

    # ---- jobs ----

    def _begin(self, entry: dict[str, Any], direction: str) -> None:
        state = BEGUN if direction == "do" else TAKING_BACK
        limit = self.pieces[entry["key"]].limit  # its own, whatever comes meanwhile
        begun = {"tries": entry["tries"] + 1, "limit": limit, "began": self.machine.mono, "refused": False}
        self._put(entry["key"], state=state, **begun)
        self._start(entry["key"], direction, "first")

    def _start(self, key: str, direction: str, why: str) -> None:
        piece, entry = self.pieces[key], self._entry(key)
        if piece.kind == "recover" and self.machine.is_unfit:
            self.machine.note("refused", key=key, why=why)
            self._put(key, state=NOT_TAKEN_BACK, refused=why == "first")
            return
        tries = piece.does if direction == "do" else piece.undoes
        seconds, code = tries[min(piece.count[direction], len(tries) - 1)]
        piece.count[direction] += 1
        self.at()
        self.machine.note("begun", key=key, kind=piece.kind, to=direction, outage=self.mark["note"]["outage"], why=why)  # type: ignore[index]
        self.jobs[key, direction, entry["tries"]] = Job(piece, direction, self.machine.mono + seconds, code)
        self.at()

    def _checked(self, key: str, direction: str, act: Any) -> bool:
        """Whether it has come to an end, which the mark says then."""
        entry, now = self._entry(key), self.machine.mono
        job = self.jobs.get((key, direction, entry["tries"]))
        good, bad = (DONE, FAILED) if direction == "do" else (TAKEN_BACK, NOT_TAKEN_BACK)
        if job is None:  # cut off before it could begin
            if not act.no_new_steps:
                self._put(key, began=now)
                self._start(key, direction, "first" if _tries(entry) == 1 else "cut off")
            return False
        is_hook = entry["kind"] != "step"
        if job.cut:
            if entry["kind"] == "prepare" or (entry["kind"] == "recover" and _tries(entry) > 1):
                self._put(key, state=bad)
                return True
            if not act.no_new_steps:
                self._put(key, tries=entry["tries"] + 1, began=now)
                self._start(key, direction, "cut off")
            return False
        if now < job.ends:
            if now >= entry["began"] + entry["limit"]:
                self.machine.end_job(self.jobs, (key, direction, entry["tries"]))
                self._put(key, state=bad)
                return True
            return False
        if is_hook and job.code == AGAIN and now < entry["began"] + entry["limit"]:
            if now >= job.ends + 5 and not act.no_new_steps:
                self._start(key, direction, "75")
            return False
        self._put(key, state=good if job.code == 0 else bad)
        return True

    # ---- what the world does ----

    def came_to_pass(self) -> None:
        """Services stop and start when the jobs that are to do it end well."""
        for job in self.jobs.values():
            if job not in self.seen and not job.cut and job.ends <= self.machine.mono:
                self.seen.add(job)
                if job.piece.kind == "step" and job.code == 0:
                    job.piece.running = job.direction == "undo"

    def power_lost(self) -> None:
        self.came_to_pass()
        now = self.machine.mono
        self.jobs = {name: job._replace(cut=job.cut or job.ends > now) for name, job in self.jobs.items()}
        for piece in self.pieces.values():
            piece.running = piece.kind == "step" and (piece.running or not piece.lasts)  # the boot starts services
