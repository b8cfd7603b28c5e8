# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The queue of reports that wait to be sent: one file a report and destination, in the order in which they came.

Private to this collection.

::

    spool/KEY/000000000017.json            a report for the destination of this key
    spool/KEY/000000000016-dropped.json    the report that others before it were dropped
    spool/KEY/last                         what came of the last try, for people (:mod:`.last_try`); the daemon's

The watcher puts them here, the daemon takes them away: each stays until it was taken, is given up, or is put out by newer ones. Each file
is there whole or not at all, and neither side waits for the other.
"""

import contextlib
import fnmatch
import json
import os
import re
from typing import Callable, Dict, List, Mapping, NamedTuple

from ..._clock import Clock, iso_utc
from ..._machine import files
from ..._text import one_line
from .last_try import LAST_TRY, read_last_try, write_last_try
from .report import Report

FOLDER = "spool"
LEAST_SHARE = 256 * 1024  # bytes of a destination, whatever the limit: a report has up to 128 kB
_BLOCK = 4096  # bytes that the smallest file takes

_FILE = re.compile(r"^(\d{12})(-dropped)?\.json$")


class Waiting(NamedTuple):
    """One report that waits."""

    name: str
    number: int
    size: int
    is_notice: bool  # whether it says that others were dropped
    since: float  # Unix time


class ReportQueue:
    """The side that fills it. Nothing that goes wrong here is an error to whoever calls.

    :arg folder: of the state; the spool is a folder in it
    :arg destinations: by key, how each is called
    :arg most_bytes: of all destinations together
    :arg dropped: makes the report that so many reports to a destination were dropped, and why
    """

    def __init__(
        self,
        folder: str,
        destinations: Mapping[str, str],
        most_bytes: int,
        dropped: Callable[[str, int, str], Report],
    ) -> None:
        self._folder = os.path.join(folder, FOLDER)
        self._most_bytes = most_bytes
        self.destinations = dict(destinations)
        self._make_dropped = dropped
        self._number = 0
        self._lost: Dict[
            str, int
        ] = {}  # by destination: reports that could not be put there, and which nobody has heard of yet
        self.problem = ""
        """Why the last report could not be put there for every destination; "" when it could."""

    @property
    def _share(self) -> int:
        """Bytes of each destination, so that one that can't be reached puts out nothing of the others."""
        return max(LEAST_SHARE, self._most_bytes // max(1, len(self.destinations)))

    def add(self, report: Report, missed: int = 0) -> None:
        """:arg missed: how many before it could not even be handed over"""
        self.problem = ""
        for key, words in self.destinations.items():
            self._lost[key] = self._lost.get(key, 0) + missed
            try:
                self._add(key, words, report)
            except OSError as error:
                self._lost[key] += 1
                self.problem = f"the report for {words} can't be kept: {error.strerror or error}"

    def _add(self, key: str, words: str, report: Report) -> None:
        folder = os.path.join(self._folder, key)
        files.make_folder(self._folder)
        files.make_subfolder(folder)
        if not self._number:
            self._number = self._take_up()
        if self._lost[key]:
            why = "they could not be kept until they are sent"
            self._put(folder, "-dropped", self._make_dropped(words, self._lost[key], why))
            self._lost[key] = 0
        self._put(folder, "", report)
        self._bound(folder, words)

    def _put(self, folder: str, kind: str, report: Report) -> None:
        number = self._number + 1
        files.replace(os.path.join(folder, f"{number:012}{kind}.json"), report)
        self._number = number

    def _take_up(self) -> int:
        """After a restart: remove what the one before left half written; its last number, so that what comes now stands behind it.

        The daemon removes none of that: it can't tell what is left from what is being written.
        """
        last = 0
        for key in os.listdir(self._folder):
            folder = os.path.join(self._folder, key)
            tidy(folder, "*.json.*")
            last = max([last, *(one.number for one in waiting(folder))])
        return last

    def _bound(self, folder: str, words: str) -> None:
        """Drop the oldest until the rest has room, and leave word of it in their place."""
        there = waiting(folder)
        size = sum(one.size for one in there)
        if size <= self._share:
            return
        count, last = 0, there[0]
        # A quarter of the room is made at once: to make room for one report at a time costs a notice each time.
        while len(there) > 1 and size > self._share * 3 // 4:
            last = there.pop(0)
            size -= last.size
            count += _dropped_by(os.path.join(folder, last.name)) if last.is_notice else 1
            with contextlib.suppress(FileNotFoundError):  # sent in this moment
                os.unlink(os.path.join(folder, last.name))
        notice = self._make_dropped(words, count, "too many waited, as they could not be sent")
        files.replace(os.path.join(folder, f"{last.number:012}-dropped.json"), notice)


def waiting(folder: str) -> List[Waiting]:
    """What waits in the folder of a destination, the oldest first; nothing where there is no such folder."""
    found = []
    try:
        entries = list(os.scandir(folder))
    except OSError:
        if os.path.isdir(folder):
            raise
        return []  # systems have several words for what is no folder
    for entry in entries:
        match = _FILE.match(entry.name)
        if not match:
            continue
        try:
            stat = entry.stat(follow_symlinks=False)
        except FileNotFoundError:  # taken away in this moment
            continue
        found.append(
            Waiting(entry.name, int(match.group(1)), max(stat.st_size, _BLOCK), bool(match.group(2)), stat.st_mtime)
        )
    return sorted(found, key=lambda one: (one.number, not one.is_notice))


def count_waiting(folder: str) -> int:
    """How many reports wait, of all destinations together.

    :arg folder: of the state
    """
    spool = os.path.join(folder, FOLDER)
    return sum(bool(_FILE.match(name)) for key in _names(spool) for name in _names(os.path.join(spool, key)))


def _names(folder: str) -> List[str]:
    try:
        return os.listdir(folder)
    except OSError:  # no report was ever sent from here, or it is a file
        if os.path.isdir(folder):
            raise
        return []


def tidy(folder: str, pattern: str) -> None:
    """Remove what a program left in the folder of a destination that was ended while it wrote. Only the one that writes them may.

    :arg pattern: of the shell's, which the names of its files match while they are half written
    """
    with contextlib.suppress(OSError):
        for name in fnmatch.filter(os.listdir(folder), pattern):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))


def _dropped_by(path: str) -> int:
    """How many reports a notice says were dropped."""
    try:
        count = (files.read(path) or {})["details"]["count"]
    except (OSError, ValueError, KeyError, TypeError):
        return 1
    return count if isinstance(count, int) else 1


def _named(body: bytes) -> str:
    """A report for people, who find it by its id in the history."""
    try:
        report = json.loads(body.decode("utf-8"))
        return f"{one_line(report['id'], 40)} ({one_line(report['happened'], 40)})"
    except (ValueError, KeyError, TypeError, RecursionError):
        return "that can't be read"


TAKEN, GIVEN_UP, AGAIN, REFUSED = "taken", "given up", "again", "refused"
"""Of one try. AGAIN is retried without end, REFUSED for as long as :data:`REFUSED_FOR`."""

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
BAD_REQUEST = 400
"""Of an answer that may be about the report, or about who sends it and where to."""
REFUSED_FOR = 86400.0
"""Seconds since it was made for which a report that is refused is kept: a rotated secret or a moved URL is put right within a day."""
POLL_EVERY = 1.0  # seconds between two looks at an empty folder


class Outcome(NamedTuple):
    """What came of one try."""

    what: str  # TAKEN, GIVEN_UP, AGAIN or REFUSED
    words: str
    after: float = 0.0  # seconds that the other side wants to be left alone
    status: int = 0  # of the answer that refused it


class QueueConsumer:
    """The side of the spool that empties it, for one destination.

    :arg folder: of the destination
    :arg words: how it is called in the log
    :arg send: tries once; gets the bytes of a report and its file's path
    :arg log: gets how urgent it is, as syslog counts, and a sentence
    """

    def __init__(
        self,
        folder: str,
        words: str,
        send: Callable[[bytes, str], Outcome],
        clock: Clock,
        log: Callable[[int, str], None],
    ) -> None:
        self._folder = folder
        self._words = words
        self._send = send
        self._clock = clock
        self._log = log
        self._failures = 0
        self._said = ""
        self._last = read_last_try(folder)
        tidy(folder, f"{LAST_TRY}.*")

    def step(self) -> float:
        """Send the oldest report, if there is one; the seconds until there may be something to do again."""
        # A folder that is read while files are put there may show a newer one and not an older one. What the second reading
        # shows first has none before it: all before what the first reading showed were there when the second began.
        there = waiting(self._folder) and waiting(self._folder)
        if not there:
            return POLL_EVERY
        path = os.path.join(self._folder, there[0].name)
        try:
            with open(path, "rb") as file:
                body = file.read()
        except FileNotFoundError:  # put out by newer ones in this moment
            return 0.0
        except OSError as error:
            return self._failed(Outcome(AGAIN, f"{path} can't be read: {error.strerror}"), len(there))
        outcome = self._send(body, path)
        if outcome.status == BAD_REQUEST and len(there) > 1 and self._takes(there[1]):
            outcome = self._send(body, path)  # it may be that somebody has put right just now what was wrong
            if outcome.status == BAD_REQUEST:
                outcome = outcome._replace(what=GIVEN_UP)
        if outcome.what == REFUSED:
            return self._refused(outcome, there)
        if outcome.what == AGAIN:
            return self._failed(outcome, len(there))
        return self._done(path, body, outcome, len(there) - 1)

    def _takes(self, other: Waiting) -> bool:
        """Whether the receiver accepts another report: then what it refuses is the one before, and not who sends it or where to."""
        path = os.path.join(self._folder, other.name)
        try:
            with open(path, "rb") as file:
                is_taken = self._send(file.read(), path).what == TAKEN
            if is_taken:
                os.unlink(path)
        except OSError:  # put out by newer ones, or sent once more later
            return False
        return is_taken

    def _done(self, path: str, body: bytes, outcome: Outcome, left: int) -> float:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:  # to send it again and again would be worse than to wait
            return self._failed(Outcome(AGAIN, f"{path} was sent and can't be removed: {error.strerror}"), left + 1)
        if outcome.what == GIVEN_UP:
            self._give_up(1, _named(body), outcome)
        elif self._failures:
            self._log(6, f"{self._words}: reports are taken again; {left} more wait")
        if outcome.words != self._said or outcome.what == GIVEN_UP:
            self._note(outcome)
        self._failures, self._said = 0, outcome.words
        return 0.0

    def _refused(self, outcome: Outcome, there: List[Waiting]) -> float:
        """Keep them but for those that are too old, which are given up together: who refuses is not asked a thousand times for that.

        How old one is goes by the time of its file: whoever sets the clock ahead by a day loses what is refused right then.
        """
        made_before = self._clock.wall() - REFUSED_FOR
        old, name = 0, ""
        for one in there:
            if one.since > made_before:
                break
            path = os.path.join(self._folder, one.name)
            with contextlib.suppress(OSError):  # put out by newer ones, or tried once more later
                with open(path, "rb") as file:
                    name = _named(file.read())
                os.unlink(path)
                old += 1
        if old:
            self._give_up(old, name, outcome._replace(words=f"{outcome.words}, and made more than a day ago"))
            self._said = ""  # so that the next line has the new number of those that wait
        return self._failed(outcome, len(there) - old)

    def _give_up(self, count: int, name: str, outcome: Outcome) -> None:
        """Count and name what is lost."""
        if count == 1:
            self._log(4, f"{self._words}: report {name} is given up: {outcome.words}")
        else:
            self._log(4, f"{self._words}: {count} reports are given up, the last one {name}: {outcome.words}")
        self._last = self._last._replace(
            given_up=self._last.given_up + count, given_up_last=f"{name}: {one_line(outcome.words, 200)}"
        )

    def _failed(self, outcome: Outcome, left: int) -> float:
        doubled = FIRST_PAUSE * float(2 ** min(self._failures, 20))
        pause = min(LONGEST_PAUSE, max(doubled, outcome.after))
        self._failures += 1
        if outcome.words != self._said:  # a line for each try would fill the log for days
            waits = f"{left} report{' waits' if left == 1 else 's wait'}"
            self._log(4, f"{self._words}: {outcome.words}; {waits}, and it is tried again in {pause:g} s")
        if outcome.words != self._said or outcome.status:  # people want to know when it was refused last
            self._note(outcome)
        self._said = outcome.words
        return pause

    def _note(self, outcome: Outcome) -> None:
        """For people who ask how it is."""
        now = iso_utc(self._clock.wall())
        if outcome.words != self._last.words:
            self._last = self._last._replace(at=now, words=outcome.words)
        if outcome.status:
            self._last = self._last._replace(status=outcome.status, refused_at=now)
        write_last_try(self._folder, self._last)
