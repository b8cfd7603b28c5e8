# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a machine's mark: what is written there is there whole or not at all, whatever happens in between.

Private to this collection.

::

    lock            held while the mark is compared and changed, and while something is begun by it
    mark.json
    yes/NAME        a confirmation of an event
    put_back.json   the events despite which a person has recovered the machine
    hold.json       that no event is to be approved
    jobs/           of the step runners
    hooks/          what hooks find, and what they leave for others
    aside/          the mark of another machine, of which this one is a copy
    unreadable_mark the mark that nobody could read when a person recovered the machine by force
"""

import contextlib
import errno
import functools
import os
from typing import Callable, ContextManager, Iterable, Iterator, List, Optional

from .._clock import Clock, Deadline
from . import beside_mark, files
from .beside_mark import confirmation_file, confirmation_note, confirmed_event
from .mark import (
    HOOKS,
    MARK,
    MOST_BYTES,
    MOST_BYTES_AT_FIRST,
    Busy,
    Fenced,
    Mark,
    MarkUnreadable,
    NotWritten,
    Store,
    understood,
)
from .platform import native

FOLDER = "/var/lib/azure-maintenance"
LOCK_WITHIN = 2.0  # seconds; it is held for moments
_LOCK_EVERY = 0.02
_ACCESS_DENIED, _SHARING_VIOLATION = 5, 32  # numbers of Windows
ROOM = 1024 * 1024  # bytes that a mark and what is beside it need at most

_ADVICE = {
    errno.ENOSPC: "make room there",
    errno.EFBIG: f"the mark would have more than {MOST_BYTES // 1024} kB, which nobody reads again; give the machine fewer steps or hooks",
    errno.EDQUOT: "make room there",
    errno.EROFS: "make the file system writable, or name a folder on another one (azure_maintenance_folder)",
    errno.EACCES: "set ansible_become to true there, or name a folder that its user may write (azure_maintenance_folder)",
    errno.EPERM: "set ansible_become to true there, or name a folder that its user may write (azure_maintenance_folder)",
}


def _advice(number: Optional[int]) -> str:
    return _ADVICE.get(number or 0, "see what is wrong there")


class FolderStore(Store):
    """The mark in a folder of this machine.

    :arg at: called with a name before and after every change; tests end the program there
    """

    def __init__(self, folder: str, clock: Clock, at: Callable[[str], None] = lambda place: None) -> None:
        self.folder = folder
        self._clock = clock
        self._at = at
        self._mark = os.path.join(folder, MARK)
        self._confirmations = os.path.join(folder, "yes")
        self._depth = 0

    @property
    def jobs(self) -> str:
        return os.path.join(self.folder, "jobs")

    def alone(self) -> ContextManager[None]:
        return self._locked()

    def read(self) -> Optional[Mark]:
        try:
            with native.patiently(lambda: open(self._mark, "rb")) as file:
                content = file.read(MOST_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise MarkUnreadable(f"{self._mark} can't be read: {error.strerror}; {_advice(error.errno)}") from error
        return understood(content, self._mark)

    def unwritable(self) -> str:
        refusal = files.refusal(self.folder, ROOM)
        if refusal:
            return f"{self.folder} can't be written ({os.strerror(refusal)}): {_advice(refusal)}"
        return self._open_to_others() if os.path.isdir(self.folder) else ""

    def disk(self) -> str:
        """When the lock was made, into which nobody ever writes."""
        try:
            return str(os.stat(os.path.join(self.folder, "lock")).st_mtime_ns)
        except OSError:
            return ""

    def _open_to_others(self) -> str:
        if files.is_closed(self.folder):
            return ""
        return (
            f"{self.folder} is another user's, or all may write there: whoever can could have a file of theirs "
            "written in its place. Let nobody else write there (chown root, chmod 0700; on Windows administrators and SYSTEM alone), "
            "or name another folder (azure_maintenance_folder)"
        )

    def create(self, mark: Mark) -> None:
        with self._locked():
            self._at("before create")
            with self._in_place(self._mark):
                if not files.write_first(self._mark, mark, MOST_BYTES_AT_FIRST):
                    raise Fenced(f"{self._mark} is there already: somebody else has just taken the machine.")
            self._at("after create")

    def replace(self, mark: Mark, run: str, number: int) -> None:
        with self.held(run, number):
            self._at("before replace")
            with self._in_place(self._mark):
                files.replace(self._mark, mark, MOST_BYTES)
            self._at("after replace")

    def remove(self, run: str, number: int) -> None:
        with self.held(run, number):
            mark = self.read()
            for event in mark["events"] if mark else ():
                self.withdraw_confirmation(event)
            self._remove_folders()  # before the mark, by which alone anybody knows of them
            self._clean()
            self._at("before unlink")
            self._unlink(self._mark)
            self._at("after unlink")

    def take_off(self) -> None:
        """Remove the mark, whatever it is, and all that is beside it."""
        with self._locked():
            self._remove_folders()
            _remove_folder(self._confirmations)
            self._clean()
            self._unlink(self._mark)

    def put_aside(self) -> str:
        """Move the mark, unread, and all that is beside it out of the way; returns where it is. What was there goes."""
        aside = os.path.join(self.folder, "aside")
        with self._locked(), self._explained():
            _remove_folder(aside)
            files.make_folder(aside)
            for path in (
                self.jobs,
                os.path.join(self.folder, HOOKS),
                self._confirmations,
                self._mark,
            ):  # the mark last: by it alone anybody knows of the others
                if os.path.lexists(path):
                    moved = os.path.join(aside, os.path.basename(path))
                    native.patiently(functools.partial(os.rename, path, moved))
            files.sync_folder_of(self._mark)
        return aside

    def replace_unreadable(self, mark: Mark) -> str:
        """Put a mark in the place of one that can't be read, as one change; returns where that is kept."""
        kept = os.path.join(self.folder, "unreadable_mark")
        with self._locked(), self._explained():
            with contextlib.suppress(FileNotFoundError):
                os.unlink(kept)
            os.link(self._mark, kept)
            files.replace(self._mark, mark, MOST_BYTES)
        return kept

    @contextlib.contextmanager
    def held(self, run: str, number: int) -> Iterator[None]:
        with self._locked():
            mark = self.read()
            if mark is None:
                raise Fenced(f"The mark of run {run} was removed in the meantime. Nothing was done.")
            if mark["holder"]["run"] != run or mark["number"] != number:
                raise Fenced(
                    f"The mark was taken in the meantime: by run {mark['holder']['run']}, call {mark['number']}. "
                    "Nothing was done."
                )
            yield

    def confirmed_events(self) -> List[str]:
        try:
            names = sorted(os.listdir(self._confirmations))
        except OSError:
            return []
        return [event for event in (_event_in(os.path.join(self._confirmations, name)) for name in names) if event]

    def confirm_event(self, event: str, by: str, at: str) -> None:
        with self._locked(), self._explained():
            files.make_folder(self._confirmations)
            files.replace(os.path.join(self._confirmations, confirmation_file(event)), confirmation_note(event, by, at))

    def withdraw_confirmation(self, event: str) -> None:
        self._unlink(os.path.join(self._confirmations, confirmation_file(event)))

    def suppressed_events(self) -> List[str]:
        return sorted(beside_mark.suppressed(self.folder))

    def suppress_events(self, events: Iterable[str], wall: float) -> None:
        events = list(events)
        with self._locked(), self._explained():
            noted = beside_mark.with_events(beside_mark.suppressed(self.folder), events, wall)
            files.replace(os.path.join(self.folder, beside_mark.SUPPRESSED), noted)
            for event in events:
                self.withdraw_confirmation(event)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Alone with the folder; once more from within is fine."""
        if self._depth:
            yield
            return
        with self._explained():
            files.make_folder(self.folder)
            open_to_others = self._open_to_others()
            if open_to_others:
                raise NotWritten(open_to_others)
            descriptor = self._opened_lock()
        try:
            self._lock(descriptor)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                native.unlock(descriptor)
        finally:
            os.close(descriptor)

    def _opened_lock(self) -> int:
        path = os.path.join(self.folder, "lock")
        try:
            return native.patiently(lambda: os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        except PermissionError as error:
            if getattr(error, "winerror", 0) == _SHARING_VIOLATION:  # look.ps1 has it open while it writes
                raise Busy(f"{path} is in use by another program; the next call tries again") from error
            raise

    def _lock(self, descriptor: int) -> None:
        deadline = Deadline(self._clock, LOCK_WITHIN)
        with self._explained():
            while True:
                try:
                    native.lock(descriptor)
                    return
                except BlockingIOError as error:
                    if deadline.passed():
                        raise Busy(
                            f"{self.folder} has been locked by another call for {LOCK_WITHIN:g} s; the next call tries "
                            f"again. `fuser {self.folder}/lock` shows who it is"
                        ) from error
                self._clock.sleep(_LOCK_EVERY)

    def _remove_folders(self) -> None:
        for folder in (self.jobs, os.path.join(self.folder, HOOKS)):
            _remove_folder(folder)

    def _clean(self) -> None:
        """Remove what a program left that was ended while it wrote."""
        for folder in (self.folder, self._confirmations):
            for name in os.listdir(folder) if os.path.isdir(folder) else ():
                if ".json." in name:
                    with contextlib.suppress(OSError):
                        os.unlink(os.path.join(folder, name))

    def _unlink(self, path: str) -> None:
        with self._in_place(path), contextlib.suppress(FileNotFoundError):
            files.remove(path)

    @contextlib.contextmanager
    def _in_place(self, path: str) -> Iterator[None]:
        """Put or remove a file that a reader may have open, which Windows calls "in use", or "access denied" where it is to be replaced.

        That this folder may be written has been seen before: the lock is there, and the file that is to be its new content.
        """
        with self._explained():
            try:
                yield
            except PermissionError as error:
                if getattr(error, "winerror", 0) in (_ACCESS_DENIED, _SHARING_VIOLATION):
                    raise Busy(f"{path} is in use by another program; the next call tries again") from error
                raise

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """What the system says against writing, and what to do about it."""
        try:
            yield
        except OSError as error:
            advice = _advice(error.errno)
            raise NotWritten(
                f"{self.folder} can't be written ({error.strerror}): {advice}, and run this again"
            ) from error


def _remove_folder(path: str) -> None:
    import shutil  # takes time to import, and few calls need it

    shutil.rmtree(path, ignore_errors=True)


def _event_in(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return confirmed_event(file.read(MOST_BYTES))
    except OSError:
        return ""
