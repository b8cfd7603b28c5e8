# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark of a Windows machine, and what is beside it, as one call sees them.

What is there is read with the first start of PowerShell. What the call changes is collected, and written at its end in one
start; an approval takes it along. Nothing can go wrong by that: a Windows machine begins nothing itself, and those who
carry out its steps hear of them when the call is over. In place of a lock, the file is replaced only where it still holds
what was read: whoever was there in between fences this call.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...module_utils._machine.beside_mark import (
    HOLD,
    SUPPRESSED,
    UNKNOWN_HOLD,
    WATCHER_FILE,
    confirmation_file,
    confirmation_note,
    confirmed_event,
    hold_in,
    suppressed_in,
    watcher_in,
    with_events,
)
from ...module_utils._machine.mark import Fenced, Mark, MarkUnreadable, NotWritten, Store, understood
from ...module_utils._machine.windows.access_list import distrust
from ...module_utils._text import one_line
from .machine import LATE, SKIPPED, TOO_LATE, Asked, WindowsMachine, WindowsProblem, decoded, encoded

FOLDER = "%ProgramData%\\AzureMaintenance"  # the machine knows where that is
_CHANGED = "Changed"  # what look.ps1 calls the failure of a comparison
_BUSY = "Busy"  # and that of a file which somebody else had open for more than 2 s
_TRUST = ("sddl", "link", "user")  # what it says of a folder


class WindowsStore(Store):
    """The mark in a folder of a Windows machine.

    fenced: what somebody else has done, so that nothing was written; late: that nobody waited for it any more; busy: that somebody
    else had a file open; not_written: why else nothing was
    """

    def __init__(self, machine: WindowsMachine, folder: str) -> None:
        self.fenced = ""
        self.late = ""
        self.busy = ""
        self.not_written = ""
        self._machine = machine
        self._path = f"{folder}\\mark.json"
        self._confirmations_path = f"{folder}\\yes"
        self._aside_path = f"{folder}\\aside.json"
        self._watcher_path = f"{folder}\\{WATCHER_FILE}"
        self._folder = folder
        self._asked_trust = machine.later(Do="trust", Path=folder)
        self._asked = machine.later(Do="read", Path=self._path)
        self._asked_watcher = machine.later(Do="read", Path=self._watcher_path)
        self._asked_hold = machine.later(Do="read", Path=f"{folder}\\{HOLD}")
        self._suppressed_path = f"{folder}\\{SUPPRESSED}"
        self._asked_suppressed = machine.later(Do="read", Path=self._suppressed_path)
        self._asked_confirmations = machine.later(Do="folder", Path=self._confirmations_path)
        self._mark: Mark | None = None  # as this call would have it
        self._aside: Mark | None = None  # another VM's, which is to be kept elsewhere
        self._is_read = False
        self._is_taken_off = False
        self._confirmations: dict[str, bytes | None] = {}  # files to be written, and removed
        self._suppressed: dict[str, Any] | None = None  # what is to be written of recoveries by force
        self._writing: list[Asked] = []
        self._made: Asked | None = None  # whose the folder is that this call makes
        self._are_confirmations_known = True  # whether no confirmation came or went in this call

    # --- from one call to the next ---

    def assume(self, known: Mapping[str, Any], age: float) -> None:
        """Begin with what an earlier call has found."""
        nothing = {"body": None}
        self._asked_trust.assume(known["trust"], age, _TRUST)
        self._asked.assume({"body": known["mark"]}, age, nothing)
        self._asked_watcher.assume(nothing, age, nothing)
        self._asked_hold.assume({"body": known["hold"]}, age, nothing)
        self._asked_suppressed.assume({"body": known["put_back"]}, age, nothing)
        self._asked_confirmations.assume({"files": {}, "count": 0}, age, ("count",))

    def known(self) -> dict[str, Any] | None:
        """What the next call may begin with; None where that would most likely be another one by then, or is not known at all."""
        trust = self._asked_trust.answer()
        read = {
            "mark": self._asked,
            "hold": self._asked_hold,
            "put_back": self._asked_suppressed,
            "": self._asked_watcher,
        }
        said = {name: asked.answer() for name, asked in read.items()}
        is_whole = "failure" not in trust and not any("failure" in one for one in said.values())
        if self.refused or not is_whole or self._confirmation_files() or not self._are_confirmations_known:
            return None
        if said.pop("")["body"] is not None:
            return None  # a watcher renews what it says of itself
        return dict({name: one["body"] for name, one in said.items()}, trust={key: trust.get(key) for key in _TRUST})

    # --- the mark ---

    def alone(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()  # what is written at last is compared as a whole

    def read(self) -> Mark | None:
        if not self._is_read:
            self._mark = self._read(self._asked.answer())
            self._is_read = True
        return self._mark

    def unwritable(self) -> str:
        return self._distrusted()

    def create(self, mark: Mark) -> None:
        if self.read() is not None:
            raise Fenced(f"{self._path} is there already: somebody else has just taken the machine.")
        self._mark = mark

    def replace(self, mark: Mark, run: str, number: int) -> None:
        with self.held(run, number):
            self._mark = mark

    def remove(self, run: str, number: int) -> None:
        with self.held(run, number):
            for event in self._mark["events"] if self._mark else ():
                self.withdraw_confirmation(event)
            self._mark = None

    def take_off(self) -> None:
        self._refuse_distrusted()
        self._mark = None
        self._is_read = self._is_taken_off = True
        self._confirmations.update(dict.fromkeys(self._confirmation_files()))

    def put_aside(self) -> str:
        self._refuse_distrusted()
        self._aside, self._mark = self._mark, None
        self._confirmations.update(dict.fromkeys(self._confirmation_files()))
        return self._aside_path

    @contextlib.contextmanager
    def held(self, run: str, number: int) -> Iterator[None]:
        mark = self.read()
        if self.fenced:
            raise Fenced(self.fenced)
        if mark is None:
            raise Fenced(f"The mark of run {run} was removed in the meantime. Nothing was done.")
        if mark["holder"]["run"] != run or mark["number"] != number:
            raise Fenced(_taken_by(mark))
        yield

    def confirmed_events(self) -> list[str]:
        now = {**self._confirmation_files(), **self._confirmations}
        files = {name: content for name, content in now.items() if content is not None}
        return [event for event in (confirmed_event(files[name]) for name in sorted(files)) if event]

    def _distrusted(self) -> str:
        """Why what is in the folder says nothing, and nothing may be written there; "" where it is the administrators'."""
        said = self._asked_trust.answer()
        sddl = said.get("sddl")
        if "failure" in said:
            why = f"whose it is can't be determined ({_said(said)})"
        else:
            why = "" if sddl is None else distrust(str(sddl), bool(said.get("link")), str(said.get("user") or ""))
        if not why:
            return ""
        return (
            f"{self._folder} is not used, as {why}: others could put a mark or a confirmation there. Remove it, if nothing in it is "
            "yours: it is made anew for administrators alone. Or let an administrator take it: icacls FOLDER /setowner "
            "*S-1-5-32-544, and icacls FOLDER /inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F"
        )

    def _refuse_distrusted(self) -> None:
        why = self._distrusted()
        if why:
            raise NotWritten(why)

    def confirm_event(self, event: str, by: str, at: str) -> None:
        self._refuse_distrusted()
        self._confirmations[confirmation_file(event)] = json.dumps(confirmation_note(event, by, at)).encode("ascii")

    def withdraw_confirmation(self, event: str) -> None:
        if confirmation_file(event) in {**self._confirmation_files(), **self._confirmations}:
            self._confirmations[confirmation_file(event)] = None

    def suppressed_events(self) -> list[str]:
        return sorted(self._all_suppressed())

    def suppress_events(self, events: Iterable[str], wall: float) -> None:
        """In the file of which a watcher of the machine knows, too."""
        self._refuse_distrusted()
        events = list(events)
        self._suppressed = with_events(self._all_suppressed(), events, wall)
        for event in events:
            self.withdraw_confirmation(event)

    def _all_suppressed(self) -> Mapping[str, float]:
        if self._suppressed:
            found: Mapping[str, float] = self._suppressed["events"]
            return found
        said = self._readable(self._asked_suppressed, self._suppressed_path)
        body = None if self._distrusted() else said.get("body")
        return {} if body is None else suppressed_in(decoded(body))

    # --- what its own watcher says ---

    def said_of_watcher(self) -> dict[str, Any] | None:
        """What a watcher of the machine says of itself; None where there is none, or it can't be read."""
        said = self._asked_watcher.answer()
        if said.get("failure") == _BUSY:
            raise WindowsProblem(f"{self._machine.name}: {_in_use(self._watcher_path, said)}.")
        body = None if self._distrusted() else said.get("body")
        return None if body is None else watcher_in(decoded(body).decode("utf-8", "replace"))

    def hold(self) -> dict[str, Any] | None:
        """A person's word that nothing is to be approved; one that can't be read is one all the same."""
        said = self._asked_hold.answer()
        if "failure" in said:
            return dict(UNKNOWN_HOLD)
        return None if said.get("body") is None or self._distrusted() else hold_in(decoded(said["body"]))

    # --- what is written at last ---

    @property
    def refused(self) -> str:
        """Why nothing was written."""
        return self.fenced or self.late or self.busy or self.not_written

    def is_changed(self) -> bool:
        """Whether there is something to write that can't wait for a later call.

        The lease can while it has more than half of its time left, and so can for how long a step has been going on:
        they are no reason for another start.
        """
        if self._confirmations or self._suppressed or self._is_taken_off:
            return True
        mark, there = self._mark, self.there()
        if mark is None or there is None:
            return mark is not there
        lease, before = mark["lease"], there["lease"]
        is_as_long = abs((lease["until"] - lease["uptime"]) - (before["until"] - before["uptime"])) < 1.0
        is_early = lease["boot_id"] == before["boot_id"] and lease["uptime"] < (before["uptime"] + before["until"]) / 2
        return not (_without_times(mark) == _without_times(there) and is_as_long and is_early)

    def there(self) -> Mark | None:
        """The mark as it is on the machine, as far as this call knows; None also when it can't be read."""
        try:
            return self._read(self._asked.answer())
        except MarkUnreadable:
            return None

    def age(self) -> float:
        """For how many seconds it has been known that the mark is as it is there."""
        return self._machine.age(self._asked)

    def write_along(self, guard: bool = False) -> None:
        """Have the changes go with the next call; what is asked for after this is not done if they fail.

        :arg guard: whether the mark must be what was read also where it is not changed
        """
        if self._writing:
            return  # they do already
        path, known = self._path, self._asked.answer().get("body")
        if self._aside is not None:
            self._edit(self._aside_path, _as_file(self._aside), None, compare=False)
        if self._is_taken_off or self._mark != self.there():
            content = None if self._mark is None else _as_file(self._mark)
            self._edit(path, content, known, compare=True)
        elif guard:
            self._writing.append(self._machine.later(Do="read", Path=path, Stop=True, Expect={"body": known}))
        for name, content in self._confirmations.items():
            self._edit(f"{self._confirmations_path}\\{name}", content, None, compare=False)
        if self._suppressed:
            content, known = json.dumps(self._suppressed).encode("ascii"), self._asked_suppressed.answer().get("body")
            self._edit(self._suppressed_path, content, known, compare=True)
        self._are_confirmations_known = self._are_confirmations_known and not (self._confirmations or self._suppressed)
        makes_folder = any(asked.request["Do"] == "edit" for asked in self._writing)
        if makes_folder and self._asked_trust.answer().get("sddl", "") is None:
            self._made = self._machine.later(Do="trust", Path=self._folder)

    def _edit(self, path: str, content: bytes | None, known: str | None, compare: bool) -> None:
        body = None if content is None else encoded(content)
        self._writing.append(
            self._machine.later(
                Do="edit", Path=path, Body=body, Known=known, Compare=compare, Stop=True, **self._machine.window
            )
        )

    def written(self) -> None:
        """See what came of it."""
        writing, self._writing = self._writing, []
        self._is_taken_off, self._confirmations, self._suppressed, self._aside = False, {}, None, None
        self._asked_trust, self._made = self._made or self._asked_trust, None
        for asked in writing:
            said = asked.answer()
            failure = said.get("failure")
            if asked.request["Path"] == self._path and failure in (None, _CHANGED):
                self._asked = asked
            if asked.request["Path"] == self._suppressed_path and failure is None:
                self._asked_suppressed = asked
            if failure == _CHANGED and asked.request["Path"] == self._suppressed_path:
                self.busy = f"{self._suppressed_path} was changed by somebody else at the same time; run this again"
            elif failure == _CHANGED:
                self.fenced = self._overtaken()
            elif failure == SKIPPED and said.get("part") == LATE:
                self.late = TOO_LATE
            elif failure == _BUSY:
                self.busy = _in_use(asked.request["Path"], said)
            elif failure not in (None, SKIPPED):
                self.not_written = (
                    f"{asked.request['Path']} can't be written ({_said(said)}): see whether the user may write there "
                    "(an administrator may), or name another folder (azure_maintenance_folder), and run this again"
                )

    def _overtaken(self) -> str:
        try:
            mark = self._read(self._asked.answer())
        except MarkUnreadable as error:
            return f"{error}. It was another one before. Nothing was done."
        return _taken_by(mark) if mark else "The mark was removed in the meantime. Nothing was done."

    def _read(self, said: Mapping[str, Any]) -> Mark | None:
        """What look.ps1 said, as a mark.

        :raises WindowsProblem: when somebody else has it open, so that the machine has to be asked again
        """
        if said.get("failure") == _BUSY:
            raise WindowsProblem(f"{self._machine.name}: {_in_use(self._path, said)}.")
        if said.get("failure") not in (None, _CHANGED):
            raise MarkUnreadable(
                f"{self._path} can't be read: {_said(said)}; see whether the user is an administrator there"
            )
        distrusted = self._distrusted()
        if distrusted:
            raise MarkUnreadable(distrusted)
        body = said.get("body")
        if body is None:
            return None
        return understood(decoded(body), self._path)

    def _readable(self, asked: Asked, path: str) -> Mapping[str, Any]:
        """What look.ps1 said of what persons have said.

        :raises WindowsProblem: when that can't be read: neither is it a confirmation, nor has nobody put the machine back
        """
        said = asked.answer()
        if said.get("failure") == _BUSY:
            raise WindowsProblem(f"{self._machine.name}: {_in_use(path, said)}.")
        if "failure" in said:
            raise WindowsProblem(
                f"{self._machine.name}: what persons have said can't be read in {path}: {_said(said)}; see whether the user is an "
                "administrator there."
            )
        return said

    def _confirmation_files(self) -> dict[str, bytes]:
        said = self._readable(self._asked_confirmations, self._confirmations_path)
        files = {} if self._distrusted() else said.get("files")
        found = files if isinstance(files, Mapping) else {}
        return {name: decoded(content) for name, content in found.items() if isinstance(content, str)}


def _as_file(mark: Mark) -> bytes:
    return json.dumps(mark, indent=1).encode("ascii") + b"\n"


def _without_times(mark: Mark) -> Mark:
    steps = [dict(step, seconds=0) for step in mark["steps"]]
    return dict(mark, number=0, renewed="", lease={}, steps=steps)


def _in_use(path: str, said: Mapping[str, Any]) -> str:
    return f"{path} is in use by another program, such as another run or a virus scanner ({_said(said)}); the next call tries again"


def _taken_by(mark: Mark) -> str:
    return (
        f"The mark was taken in the meantime: by run {mark['holder']['run']}, call {mark['number']}. Nothing was done."
    )


def _said(said: Mapping[str, Any]) -> str:
    return one_line(said.get("message"), 300).rstrip(". ") or "PowerShell did not say why"
