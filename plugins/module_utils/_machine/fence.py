# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one call may do with the machine's mark: nothing any more, once somebody else has been there.

Private to this collection.

Every call of a run has a higher number than the one before. It begins with putting its number into the mark; from then
on no earlier call can change anything, however late it goes on, and this one neither as soon as a later one has begun.
"""

import contextlib
from typing import Any, Callable, Iterator, Mapping, Optional

from .lease import Moment
from .mark import described, held_by, objection
from .places import Fenced, Mark, MarkUnreadable, NotWritten, Store


class Fence:
    """One call and the mark.

    mark: as it was last seen, None when there is none; unreadable, is_newer: why nobody can tell; lost: what somebody else has done
    to this call's right; not_renewed: why the mark could not be renewed
    """

    def __init__(self, store: Store, options: Mapping[str, Any], moment: Callable[[], Moment]) -> None:
        self.mark: Optional[Mark] = None
        self.unreadable = ""
        self.is_newer = False
        self.lost = ""
        self.not_renewed: Optional[NotWritten] = None
        self.moment = moment
        self.options = options
        self._store = store
        self._is_ours = False  # it bears this call's run and number

    def look(self) -> None:
        """See which mark there is."""
        self.mark, self.unreadable, self.is_newer = None, "", False
        try:
            self.mark = self._store.read()
        except MarkUnreadable as error:
            self.unreadable, self.is_newer = str(error), error.is_newer

    def renew(self) -> None:
        """Put this call's number, and a new lease, into the mark if it is that of its run."""
        if self.mark and self.options.get("run") and self.mark["holder"]["run"] == self.options["run"]:
            try:
                self.claim()
            except Fenced:
                pass  # kept in `lost`
            except NotWritten as error:
                self.not_renewed = error

    def claim(self, take: str = "", forced: bool = False, seconds: Optional[float] = None) -> str:
        """Make the mark, which is there, this call's. Returns whose it was, where it was another run's.

        :arg seconds: of its lease from now on; None for as many as it had
        :raises Fenced: when it can't be
        """
        mark = self._needed()
        moment = self.moment()
        if self._is_ours:
            if seconds is not None and abs(mark["lease"]["until"] - mark["lease"]["uptime"] - seconds) >= 1:
                self._replace(held_by(mark, self.options, moment, seconds))
            return ""
        why = self.lost or objection(mark, self.options, moment, take, forced)
        if why:
            self.lost = why
            raise Fenced(why)
        self._replace(held_by(mark, self.options, moment, seconds))
        self._is_ours = True
        return "" if mark["holder"]["run"] == self.options["run"] else described(mark, moment)

    def create(self, mark: Mark) -> None:
        with self._watched():
            self._store.create(mark)
        self.mark = mark
        self._is_ours = True

    def keep(self, mark: Mark) -> None:
        """Put the changed mark in the place of the one that is there."""
        if mark != self.mark:
            self._replace(mark)

    def remove(self) -> None:
        mark = self._needed()
        with self._watched():
            self._store.remove(mark["holder"]["run"], mark["number"])
        self.mark = None
        self._is_ours = False

    def take_off(self) -> None:
        """Remove the mark, even one that can't be read, and all that is beside it."""
        self._store.take_off()
        self.mark, self.unreadable, self._is_ours = None, "", False

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While in it, the mark is this call's and stays it."""
        mark = self._needed()
        with self._watched(), self._store.held(mark["holder"]["run"], mark["number"]):
            yield

    def check(self) -> None:
        """Whether this call may act at this moment: no other run holds the machine, and no later call has been here.

        :raises Fenced: when it may not
        """
        if self.unreadable:
            raise Fenced(self.unreadable)
        if self.mark and not self._is_ours:
            moment = self.moment()
            self.lost = (
                self.lost
                or objection(self.mark, self.options, moment)
                or str(self.not_renewed or f"The machine is held by {described(self.mark, moment)}.")
            )
        if self.lost:
            raise Fenced(self.lost)
        if self.mark:
            with self.held():
                return

    def _needed(self) -> Mark:
        if self.mark is None:
            raise Fenced("There is no mark any more.")
        return self.mark

    def _replace(self, mark: Mark) -> None:
        known = self._needed()
        with self._watched():
            self._store.replace(mark, known["holder"]["run"], known["number"])
        self.mark = mark

    @contextlib.contextmanager
    def _watched(self) -> Iterator[None]:
        try:
            yield
        except (Fenced, MarkUnreadable) as error:
            self.lost = str(error)
            self._is_ours = False
            self.look()
            raise Fenced(self.lost) from error
