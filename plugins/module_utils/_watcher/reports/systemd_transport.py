# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What systemd gets from the watcher: entries of its log for the journal, and what it says of itself (sd_notify). Both are datagrams.

Private to this collection.

Where there is no journal, the log goes to standard error in lines.
"""

import os
import socket
import struct
import sys
from typing import Any, Callable, Mapping, TextIO

from ..._clock import Clock, iso_utc
from ..._text import one_line

JOURNAL = "/run/systemd/journal/socket"
IDENTIFIER = "azure-maintenance"
PREFIX = "AZURE_MAINTENANCE_"
ERROR, WARNING, NOTICE, INFO = 3, 4, 5, 6

_MOST_BYTES = 48 * 1024  # bytes of a field; a datagram has little more than 200 kB


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
    content = str(value).encode("utf-8", "replace")[:_MOST_BYTES]
    return name.encode("ascii") + b"\n" + struct.pack("<Q", len(content)) + content + b"\n"


Send = Callable[[str, bytes], bool]


class Notify:
    """The service manager, or nobody where none asked to hear of it.

    :arg environment: of the process, where systemd says where it listens and how often it wants to hear of us
    interval: seconds between two signs of life; 0 when nobody waits for any
    """

    def __init__(self, environment: Mapping[str, str], send: Send) -> None:
        self._address = environment.get("NOTIFY_SOCKET", "")
        self._send = send
        self._status = ""
        limit = environment.get("WATCHDOG_USEC", "")
        # A sixth: one that is lost, or two, must not end the service.
        self.interval = int(limit) / 6e6 if self._address and limit.isdigit() else 0.0

    def ready(self) -> None:
        self._say("READY=1")

    def alive(self) -> None:
        self._say("WATCHDOG=1")

    def stopping(self) -> None:
        self._say("STOPPING=1")

    def status(self, text: str) -> None:
        """The line that ``systemctl status`` shows; sent where it has changed."""
        if text != self._status:
            self._status = text
            self._say("STATUS=" + one_line(text, 300))

    def _say(self, line: str) -> None:
        if self._address:
            self._send(self._address, line.encode("utf-8"))


def send_datagram(address: str, message: bytes) -> bool:
    """Send one to a socket in the file system; whether that went well. Never waits: who does not listen must not hold us.

    :arg address: a path; one that begins with @ is a name outside of the file system
    """
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK) as sender:
            sender.sendto(message, address)
    except OSError:
        return False
    return True
