# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's log: the journal with its fields where systemd keeps one, else lines on standard error.

Private to this collection.
"""

import os
import struct
import sys
from typing import Any, Callable, Mapping, TextIO

from .._clock import Clock, iso_utc
from .._text import one_line

JOURNAL = "/run/systemd/journal/socket"
IDENTIFIER = "azure-maintenance"
PREFIX = "AZURE_MAINTENANCE_"
ERROR, WARNING, NOTICE, INFO, DEBUG = 3, 4, 5, 6, 7

_MOST = 48 * 1024  # bytes of a field; a datagram has little more than 200 kB


class Log:
    """Takes what is to be logged; never fails, never waits."""

    def say(self, message: str, priority: int = INFO, **fields: Any) -> None:
        """:arg fields: their names in lower case, as in ``event_id``; what is empty is left out"""


class JournalLog(Log):
    """The journal's own protocol; what it does not take goes to another log.

    :arg send: sends a datagram; False where that failed
    """

    def __init__(self, send: Callable[[str, bytes], bool], otherwise: Log, address: str = JOURNAL) -> None:
        self._send = send
        self._otherwise = otherwise
        self._address = address

    def say(self, message: str, priority: int = INFO, **fields: Any) -> None:
        entry = {"MESSAGE": message, "PRIORITY": priority, "SYSLOG_IDENTIFIER": IDENTIFIER}
        entry.update({PREFIX + name.upper(): value for name, value in fields.items() if value not in (None, "")})
        if not self._send(self._address, b"".join(_field(name, value) for name, value in entry.items())):
            self._otherwise.say(message, priority, **fields)


class StreamLog(Log):
    """Lines for people.

    :arg with_priority: for whoever reads systemd's ``<6>`` and knows the time himself
    """

    def __init__(self, stream: TextIO, clock: Clock, with_priority: bool = False) -> None:
        self._stream = stream
        self._clock = clock
        self._with_priority = with_priority

    def say(self, message: str, priority: int = INFO, **fields: Any) -> None:
        begin = f"<{priority}>" if self._with_priority else f"{iso_utc(self._clock.wall())} "
        try:
            for line in message.splitlines() or [""]:
                self._stream.write(f"{begin}{one_line(line, 2000)}\n")
            self._stream.flush()
        except (OSError, ValueError):  # nobody reads it any more
            pass


def make_log(environment: Mapping[str, str], clock: Clock, send: Callable[[str, bytes], bool]) -> Log:
    """The journal where standard error goes there already, or where there is no terminal and a journal listens."""
    is_journal = _is_stream(environment.get("JOURNAL_STREAM", ""))
    lines = StreamLog(sys.stderr, clock, is_journal)
    return JournalLog(send, lines) if is_journal and os.path.exists(JOURNAL) else lines


def _is_stream(stream: str) -> bool:
    """Whether standard error is what systemd says it has connected to the journal: ``device:inode``."""
    try:
        found = os.fstat(sys.stderr.fileno())
    except (OSError, ValueError, AttributeError):
        return False
    return stream == f"{found.st_dev}:{found.st_ino}"


def _field(name: str, value: Any) -> bytes:
    """One field: its length in front of it, as it may have lines."""
    content = str(value).encode("utf-8", "replace")[:_MOST]
    return name.encode("ascii") + b"\n" + struct.pack("<Q", len(content)) + content + b"\n"
