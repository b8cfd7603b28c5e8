# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports on their way to one destination: in order, each until it was taken, is given up, or is put out by newer ones.

Private to this collection.
"""

import os
from typing import Callable, Dict, NamedTuple

from .._clock import Clock, iso_utc
from .._machine import files
from .spool import LAST, tidy, waiting

TAKEN, GIVEN_UP, AGAIN = "taken", "given up", "again"

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 300.0
LOOKS_EVERY = 1.0  # seconds between two looks at an empty folder


class Outcome(NamedTuple):
    """What came of one try."""

    what: str  # TAKEN, GIVEN_UP or AGAIN
    words: str
    after: float = 0.0  # seconds that the other side wants to be left alone


class Delivery:
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
        tidy(folder)

    def step(self) -> float:
        """Send the oldest report, if there is one; the seconds until there may be something to do again."""
        there = waiting(self._folder)
        if not there:
            return LOOKS_EVERY
        path = os.path.join(self._folder, there[0].name)
        try:
            with open(path, "rb") as file:
                body = file.read()
        except FileNotFoundError:  # put out by newer ones in this moment
            return 0.0
        except OSError as error:
            return self._failed(Outcome(AGAIN, f"{path} can't be read: {error.strerror}"), len(there))
        outcome = self._send(body, path)
        if outcome.what == AGAIN:
            return self._failed(outcome, len(there))
        return self._done(path, outcome, len(there) - 1)

    def _done(self, path: str, outcome: Outcome, left: int) -> float:
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass
        except OSError as error:  # to send it again and again would be worse than to wait
            return self._failed(Outcome(AGAIN, f"{path} was sent and can't be removed: {error.strerror}"), left + 1)
        if outcome.what == GIVEN_UP:
            self._log(4, f"{self._words}: report {os.path.basename(path)} is given up: {outcome.words}")
        elif self._failures:
            self._log(6, f"{self._words}: reports are taken again; {left} more wait")
        if outcome.words != self._said:
            self._note(outcome.words)
        self._failures, self._said = 0, outcome.words
        return 0.0

    def _failed(self, outcome: Outcome, left: int) -> float:
        doubled = FIRST_PAUSE * float(2 ** min(self._failures, 20))
        pause = min(LONGEST_PAUSE, max(doubled, outcome.after))
        self._failures += 1
        if outcome.words != self._said:  # a line for each try would fill the log for days
            waits = f"{left} report{' waits' if left == 1 else 's wait'}"
            self._log(4, f"{self._words}: {outcome.words}; {waits}, and it is tried again in {pause:g} s")
            self._note(outcome.words)
        self._said = outcome.words
        return pause

    def _note(self, words: str) -> None:
        """For people who ask how it is."""
        note: Dict[str, str] = {"at": iso_utc(self._clock.wall()), "words": words}
        try:
            files.replace(os.path.join(self._folder, LAST), note)
        except OSError:
            pass
