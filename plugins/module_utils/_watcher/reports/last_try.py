# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file ``spool/KEY/last``: what came of the last try to send to a destination, and its last refusal, for people.

Private to this collection.

The daemon writes it, ``status`` and ``doctor`` read it. Nothing is decided by it: a file that can't be read counts as none.
"""

import os
from typing import Any, NamedTuple

from ..._machine.files import StateFile, Unreadable
from ..._text import one_line

LAST_TRY = "last"


class LastTry(NamedTuple):
    """Times are ISO 8601, in UTC; all of it is empty where nothing was tried yet."""

    at: str = ""  # when words were new
    words: str = ""  # what came of the last try
    status: int = 0  # of the last answer that refused a report; 0 where none ever has
    refused_at: str = ""  # when that came last
    given_up: int = 0  # reports that were given up so far
    given_up_last: str = ""  # which one was the last of these, and why

    @property
    def is_refused(self) -> bool:
        """Whether the last try was refused."""
        return self.status != 0 and self.words.startswith(f"HTTP {self.status}")


def read_last_try(folder: str) -> LastTry:
    """:arg folder: of the destination"""
    try:
        found = _file(folder).read() or {}
        return LastTry(
            one_line(found.get("at", ""), 30),
            one_line(found.get("words", "")),
            _number(found.get("status")),
            one_line(found.get("refused_at", ""), 30),
            _number(found.get("given_up")),
            one_line(found.get("given_up_last", "")),
        )
    except Unreadable:
        return LastTry()


def write_last_try(folder: str, last: LastTry) -> None:
    try:
        _file(folder).replace(last._asdict())
    except OSError:
        pass


def what_to_do(status: int) -> str:
    """About an answer that refuses reports, for people.

    :arg status: from 400 to 499
    """
    if status in (401, 403):
        return "Was the secret rotated? Set the one that the receiver checks in watcher_reports and deploy it"
    if status in (400, 404, 405, 410, 421):
        return (
            "Has the receiver moved, or was it deleted (an event stream)? Correct url in watcher_reports and deploy it"
        )
    if status == 407:
        return "The proxy wants credentials: correct proxy in watcher_reports and deploy it"
    return "The receiver does not want these reports: see its log"


def _file(folder: str) -> StateFile:
    return StateFile(os.path.join(folder, LAST_TRY), None)


def _number(given: Any) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) and given > 0 else 0
