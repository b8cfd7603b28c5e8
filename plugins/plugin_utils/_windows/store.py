# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark of a Windows machine, and what is beside it, in a folder there.

All of it is read at once. In place of a lock that is held, a file is replaced only where it still holds what was read: whoever was there in
between fences this call.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ...module_utils._machine import beside_mark as beside
from ...module_utils._machine.mark import Busy, Fenced, Mark, MarkUnreadable, NotWritten, Store, TooLate, understood
from ...module_utils._machine.windows.access_list import distrust
from ...module_utils._text import one_line
from .machine import LATE, TOO_LATE, WindowsMachine, WindowsProblem, decoded, encoded

FOLDER = "%ProgramData%\\AzureMaintenance"  # the machine knows where that is
MARK = "mark.json"
_BESIDE = (beside.WATCHER_FILE, beside.HOLD, beside.SUPPRESSED)
_FILES = (*_BESIDE, MARK)
_CHANGED = "Changed"  # what look.ps1 calls the failure of a comparison
_BUSY = "Busy"  # and that of a file which somebody else had open for more than 2 s


class WindowsStore(Store):
    def __init__(self, machine: WindowsMachine, folder: str) -> None:
        self._machine, self._folder = machine, folder
        self._depth = 0
        self._trust: Mapping[str, Any] = {}
        self._said: dict[str, Mapping[str, Any]] = {}  # by file; as it was last read, or written since

    # --- the mark ---

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """By what is there now."""
        if not self._depth:
            self._look()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def read(self) -> Mark | None:
        if not self._depth:
            self._look()
        return self._mark()

    def there(self) -> Mark | None:
        """The same, but None also where it can't be read."""
        try:
            return self.read()
        except MarkUnreadable:
            return None

    def unwritable(self) -> str:
        return self._distrusted()

    def disk(self) -> str:
        return str(self._trust.get("lock") or "")

    def create(self, mark: Mark) -> None:
        if self._mark() is not None:
            raise Fenced(f"{self._path(MARK)} is there already: somebody else has just taken the machine.")
        self._write(MARK, mark)

    def replace(self, mark: Mark, run: str, number: int) -> None:
        with self.held(run, number):
            self._write(MARK, mark)

    def remove(self, run: str, number: int) -> None:
        with self.held(run, number):
            mark = self._mark()
            for event in mark["events"] if mark else ():
                self.withdraw_confirmation(event)
            self._edit(MARK, None)

    def take_off(self) -> None:
        with self.alone():
            for name in self._confirmations():
                self._edit(f"yes\\{name}", None, compare=False)
            if self._said[MARK].get("body") is not None:
                self._edit(MARK, None)

    def put_aside(self) -> str:
        with self.alone():
            self._edit("aside.json", self._said[MARK].get("body"), compare=False)
            self.take_off()
        return self._path("aside.json")

    @contextlib.contextmanager
    def held(self, run: str, number: int) -> Iterator[None]:
        """By what was read; what is written is compared with that, and so is it before an approval is sent."""
        mark = self._mark()
        if mark is None:
            raise Fenced(f"The mark of run {run} was removed in the meantime. Nothing was done.")
        if mark["holder"]["run"] != run or mark["number"] != number:
            raise Fenced(_taken_by(mark))
        yield

    # --- what a person has said ---

    def confirmed_events(self) -> list[str]:
        """As they were last read."""
        files = self._confirmations()
        return [event for event in (beside.confirmed_event(files[name]) for name in sorted(files)) if event]

    def confirm_event(self, event: str, by: str, at: str) -> None:
        with self.alone():
            self._write(
                f"yes\\{beside.confirmation_file(event)}", beside.confirmation_note(event, by, at), compare=False
            )

    def withdraw_confirmation(self, event: str) -> None:
        if beside.confirmation_file(event) in self._confirmations():
            self._edit(f"yes\\{beside.confirmation_file(event)}", None, compare=False)

    def suppressed_events(self) -> list[str]:
        """Read anew, with what else is beside the mark."""
        if not self._depth:
            self._look(_BESIDE)
        return sorted(self._suppressed())

    def suppress_events(self, events: Iterable[str], wall: float) -> None:
        """In the file of which a watcher of the machine knows, too."""
        with self.alone():
            events = list(events)
            self._write(beside.SUPPRESSED, beside.with_events(self._suppressed(), events, wall))
            for event in events:
                self.withdraw_confirmation(event)

    def _suppressed(self) -> Mapping[str, float]:
        content = self._content(beside.SUPPRESSED)
        return {} if content is None else beside.suppressed_in(content)

    def hold(self) -> dict[str, Any] | None:
        """A person's word that nothing is to be approved; one that can't be read is one all the same."""
        said = self._said[beside.HOLD]
        if "failure" in said:
            return dict(beside.UNKNOWN_HOLD)
        return None if said.get("body") is None or self._distrusted() else beside.hold_in(decoded(said["body"]))

    # --- what its own watcher says ---

    def said_of_watcher(self) -> dict[str, Any] | None:
        """What a watcher of the machine says of itself; None where there is none, or it can't be read."""
        said = self._said[beside.WATCHER_FILE]
        body = None if self._distrusted() else said.get("body")
        return None if body is None else beside.watcher_in(decoded(body).decode("utf-8", "replace"))

    # --- the folder ---

    def guard(self) -> dict[str, Any]:
        """What goes before a request of which nobody may hear unless the mark is what was read."""
        return {
            "Do": "read",
            "Path": self._path(MARK),
            "Stop": True,
            "Expect": {"body": self._said[MARK].get("body")},
        }

    def check_guard(self, said: Mapping[str, Any]) -> None:
        """What came of it."""
        self._check(MARK, said)

    def _look(self, names: Sequence[str] = _FILES) -> None:
        """Read this anew, and what persons have said."""
        trust, confirmations, *files = self._machine.ask(
            {"Do": "trust", "Path": self._folder},
            {"Do": "folder", "Path": self._path("yes")},
            *({"Do": "read", "Path": self._path(name)} for name in names),
        )
        self._trust = trust
        self._said.update({"yes": confirmations, **dict(zip(names, files, strict=True))})
        for name, said in self._said.items():
            # Neither is it a confirmation, nor has nobody recovered the machine, nor is there no mark: it has to be asked again
            if said.get("failure") == _BUSY and name != beside.HOLD:
                self._give_up(f"{_in_use(self._path(name), said)}.")

    def _mark(self) -> Mark | None:
        """
        :raises MarkUnreadable: when there is one and nobody can tell whose
        """
        said, path = self._said[MARK], self._path(MARK)
        distrusted = self._distrusted()
        if distrusted:
            raise MarkUnreadable(distrusted)
        if "failure" in said:
            raise MarkUnreadable(
                f"{path} can't be read: {_words(said)}; see whether the user is an administrator there"
            )
        return None if said.get("body") is None else understood(decoded(said["body"]), path)

    def _content(self, name: str) -> bytes | None:
        body = self._readable(name).get("body")
        return None if body is None or self._distrusted() else decoded(body)

    def _confirmations(self) -> dict[str, bytes]:
        files = {} if self._distrusted() else self._readable("yes").get("files")
        found = files if isinstance(files, Mapping) else {}
        return {name: decoded(content) for name, content in found.items() if isinstance(content, str)}

    def _readable(self, name: str) -> Mapping[str, Any]:
        said = self._said[name]
        if "failure" in said:
            self._give_up(
                f"what persons have said can't be read in {self._path(name)}: {_words(said)}; see whether the user is an administrator there."
            )
        return said

    def _write(self, name: str, value: Any, compare: bool = True) -> None:
        self._edit(name, encoded(json.dumps(value, indent=1).encode("ascii") + b"\n"), compare)

    def _edit(self, name: str, body: str | None, compare: bool = True) -> None:
        """Have this in a file from now on; None removes it.

        :arg compare: whether it must be what was read
        """
        why = self._distrusted()
        if why:
            raise NotWritten(why)
        known = self._said[name].get("body") if compare else None
        request = {"Do": "edit", "Path": self._path(name), "Body": body, "Known": known, "Compare": compare}
        (said,) = self._machine.ask(dict(request, **self._machine.window))
        self._check(name, said)
        if name in self._said:
            self._said[name] = said
        elif name.startswith("yes\\"):
            files = {**self._said["yes"].get("files", {}), name[4:]: body}
            self._said["yes"] = {"files": files}

    def _check(self, name: str, said: Mapping[str, Any]) -> None:
        """
        :raises NotWritten, Fenced: what was said of a change, or of a comparison
        """
        failure, path = said.get("failure"), self._path(name)
        if failure == _CHANGED and name == MARK:
            self._said[MARK] = {"body": said.get("body")}
            raise Fenced(self._overtaken())
        if failure == _CHANGED:
            raise Busy(f"{path} was changed by somebody else at the same time; run this again")
        if said.get("part") == LATE:
            raise TooLate(f"{TOO_LATE}.")
        if failure == _BUSY:
            raise Busy(_in_use(path, said))
        if failure is not None:
            raise NotWritten(
                f"{path} can't be written ({_words(said)}): see whether the user may write there (an administrator may), or name another "
                "folder (azure_maintenance_folder), and run this again"
            )

    def _overtaken(self) -> str:
        try:
            mark = self._mark()
        except MarkUnreadable as error:
            return f"{error}. It was another one before. Nothing was done."
        return _taken_by(mark) if mark else "The mark was removed in the meantime. Nothing was done."

    def _distrusted(self) -> str:
        """Why what is in the folder says nothing, and nothing may be written there; "" where it is the administrators'."""
        said = self._trust
        sddl = said.get("sddl")
        if "failure" in said:
            why = f"whose it is can't be determined ({_words(said)})"
        else:
            why = "" if sddl is None else distrust(str(sddl), bool(said.get("link")), str(said.get("user") or ""))
        if not why:
            return ""
        return (
            f"{self._folder} is not used, as {why}: others could put a mark or a confirmation there. Remove it, if nothing in it is "
            "yours: it is made anew for administrators alone. Or let an administrator take it: icacls FOLDER /setowner "
            "*S-1-5-32-544, and icacls FOLDER /inheritance:r /grant:r *S-1-5-18:(OI)(CI)F *S-1-5-32-544:(OI)(CI)F"
        )

    def _path(self, name: str) -> str:
        return f"{self._folder}\\{name}"

    def _give_up(self, why: str) -> None:
        self._machine.give_up(WindowsProblem(f"{self._machine.name}: {why}"))


def _in_use(path: str, said: Mapping[str, Any]) -> str:
    return f"{path} is in use by another program, such as another run or a virus scanner ({_words(said)}); the next call tries again"


def _taken_by(mark: Mark) -> str:
    return (
        f"The mark was taken in the meantime: by run {mark['holder']['run']}, call {mark['number']}. Nothing was done."
    )


def _words(said: Mapping[str, Any]) -> str:
    return one_line(said.get("message"), 300).rstrip(". ") or "PowerShell did not say why"
