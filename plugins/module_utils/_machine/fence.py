# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one call may do with the machine's mark: nothing any more, once somebody else has been there.

Private to this collection.

Every call of a run has a higher number than the one before. It begins with putting its number into the mark; from then
on no earlier call can change anything, however late it goes on, and this one neither as soon as a later one has begun.

Where there is no mark, nothing shows that. So a call also bears, as ``within``, when it was sent and until when somebody waits for it,
by the machine's uptime: after that it begins nothing, makes no mark its own, and sends no approval.
"""

import contextlib
from typing import Any, Callable, Iterator, List, Mapping, Optional, Sequence

from .._clock import Moment
from .._core.mark_view import holder_since, is_copied, is_expired, seconds_since
from .._text import listed
from .mark import Fenced, Mark, MarkUnreadable, NotWritten, Store, TooLate, held_by, objection


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
        self._is_ours = False  # it has this call's run and number

    def refresh(self) -> None:
        """Read the mark that is there now."""
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
                pass  # kept in `lost`, but where this call comes too late
            except NotWritten as error:
                self.not_renewed = error

    def claim(self, take: str = "", forced: bool = False, seconds: Optional[float] = None) -> str:
        """Make the mark, which is there, this call's. Returns whose it was, where it was another run's.

        :arg seconds: of its lease from now on; None for as many as it had
        :raises Fenced: when it can't be
        """
        self.check_time()
        if self._is_ours:
            mark = self._needed()
            if seconds is not None and abs(mark["lease"]["until"] - mark["lease"]["uptime"] - seconds) >= 1:
                self._replace(held_by(mark, self.options, self.moment(), seconds))
            return ""
        moment = self.moment()
        self._allowed(take, forced, moment)
        with self.watched(), self._store.alone():
            self.check_time()
            self.refresh()  # a call that hung under the lock may have written something since: it must not be lost
            mark = self._allowed(take, forced, moment)
            self._replace(held_by(mark, self.options, moment, seconds))
        self._is_ours = True
        return "" if mark["holder"]["run"] == self.options["run"] else holder_since(mark)

    def _allowed(self, take: str, forced: bool, moment: Moment) -> Mark:
        """The mark that is there, if this call may have it."""
        mark = self._needed()
        self.lost = self.lost or objection(mark, self.options, moment, take, forced)
        if self.lost:
            raise Fenced(self.lost)
        return mark

    def create(self, mark: Mark) -> None:
        with self.watched(), self._store.alone():
            self.check_time()
            self._store.create(mark)
        self.mark = mark
        self._is_ours = True

    def create_first(self, mark: Mark) -> None:
        """The mark of a machine that is to be prepared: not for an event despite which a person has recovered it meanwhile.

        :raises Fenced: when one has; whoever sent this call could not know
        """
        with self.watched(), self._store.alone():
            suppressed = self.suppressed(mark["events"])
            if suppressed:
                raise Fenced(_recovered_despite(suppressed))
            self.create(mark)

    def joining(self, events: Sequence[str], still: bool) -> List[str]:
        """Of these events, those that may join the mark, which is there for others: all but those despite which a person has
        recovered the machine meanwhile.

        :arg still: whether nothing new is begun
        :raises Fenced: when none is left, and something new would be begun
        """
        known = {event.upper() for event in self._needed()["events"]}
        suppressed = self.suppressed([event for event in events if event.upper() not in known])
        if suppressed and len(suppressed) == len(events) and not still:
            raise Fenced(_recovered_despite(suppressed))
        return [event for event in events if event not in suppressed]

    def suppressed(self, events: Sequence[str]) -> List[str]:
        """Of these events, those despite which a person has recovered the machine; a confirmation of one, which can only be later, ends that."""
        against = set(self._store.suppressed_events()).difference(
            event.upper() for event in self._store.confirmed_events()
        )
        return [event for event in events if event.upper() in against]

    def keep(self, mark: Mark) -> None:
        """Put the changed mark in the place of the one that is there."""
        if mark != self.mark:
            self._replace(mark)

    def remove(self) -> None:
        mark = self._needed()
        with self.watched():
            self._store.remove(mark["holder"]["run"], mark["number"])
        self.mark = None
        self._is_ours = False

    def take_off(self) -> None:
        """Remove the mark, even one that can't be read, and all that is beside it."""
        self._store.take_off()
        self.mark, self.unreadable, self._is_ours = None, "", False

    def put_aside(self, vm_id: str) -> None:
        """Put the mark aside, if it is that of another VM.

        :arg vm_id: this one's
        :raises Fenced: when it is not, or not any more
        """
        with self.watched(), self._store.alone():
            self.check_time()
            self.refresh()
            if not is_copied((self.mark or {}).get("vm_id", ""), vm_id):
                raise Fenced("The mark that is there now is not that of another VM: it was left as it is.")
            self._store.put_aside()
        self.refresh()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """While in it, the mark is this call's and stays it."""
        mark = self._needed()
        with self.watched(), self._store.held(mark["holder"]["run"], mark["number"]):
            yield

    def late(self) -> str:
        """Why it is too late for this call to begin anything; "" when it is not, or when nobody has said until when it may."""
        within = self.options.get("within")
        if not within:
            return ""
        moment = self.moment()
        if not is_expired(within, moment):
            return ""
        if within["boot_id"] != moment.boot_id:
            return "This call was sent before the machine was rebooted. Nothing was started."
        return (
            f"This call comes too late: nobody has waited for it since {within['until'] - within['uptime']:.0f} s after it was "
            f"sent, and that was {seconds_since(within, moment):.0f} s ago. Nothing was started."
        )

    def check_time(self) -> None:
        """:raises TooLate: when it is too late for this call to begin anything"""
        why = self.late()
        if why:
            raise TooLate(why)

    def left(self, seconds: float) -> float:
        """Of so many seconds that were left when this call was sent, how many still are; none of any after a reboot.

        By our uptime it may have been sent in the future: the run reckons it from our last answer, and we may have stood still since.
        """
        within = self.options.get("within")
        if not within:
            return seconds
        moment = self.moment()
        if within["boot_id"] != moment.boot_id:
            return float("-inf")
        return seconds - max(0.0, float(moment.uptime - within["uptime"]))

    def check(self) -> None:
        """Whether this call may act at this moment: it is not too late, no other run holds the machine, and no later call has been here.

        :raises Fenced: when it may not
        """
        self.check_time()
        if not self._is_ours:
            self.refresh()  # one that was made since this call began holds for it, too
        if self.unreadable:
            raise Fenced(self.unreadable)
        if self.mark and not self._is_ours:
            moment = self.moment()
            self.lost = (
                self.lost
                or objection(self.mark, self.options, moment)
                or str(self.not_renewed or f"The machine is owned by {holder_since(self.mark)}.")
            )
        if self.lost:
            raise Fenced(self.lost)
        if self.mark:
            with self.held():
                return

    def _needed(self) -> Mark:
        if self.mark is None:
            raise Fenced(self.unreadable or "There is no mark any more.")
        return self.mark

    def _replace(self, mark: Mark) -> None:
        known = self._needed()
        with self.watched():
            self._store.replace(mark, known["holder"]["run"], known["number"])
        self.mark = mark

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """While in it, whatever says that somebody else has been there ends this call's right."""
        try:
            yield
        except TooLate:
            raise
        except (Fenced, MarkUnreadable) as error:
            self.lost = str(error)
            self._is_ours = False
            self.refresh()
            raise Fenced(self.lost) from error


def _recovered_despite(events: Sequence[str]) -> str:
    return (
        f"A person has recovered the machine despite event {listed(events)} (recover with force), so it "
        "is not prepared for it again. Nothing was started."
    )
