# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The log of the service on Windows: all of it in a file that is kept small, and what people should see in the event log.

Private to this collection.
"""

import contextlib
import ctypes
import importlib
import logging
import logging.handlers
import os
import re
from typing import Any, Dict

from ..._clock import Clock, iso_utc
from ..._machine import files
from ..._machine.windows import kernel
from ..._text import one_line
from ..reports.systemd_transport import ERROR, INFO, NOTICE, WARNING, Log

MOST, KEPT = 1024 * 1024, 3
"""Bytes of a file, and how many older ones are kept beside it."""

_NAMES = {ERROR: "ERROR", WARNING: "WARNING", NOTICE: "NOTICE", INFO: "INFO"}
AGAIN_AFTER = 60.0  # seconds after which a file that could not be written is tried again


class _Rotating(logging.handlers.RotatingFileHandler):
    """Windows renames no file that somebody has open. The one that is written goes first: where that fails, nothing else has moved, and it is
    written on. Where an older one is open, what was set aside stays aside until later.
    """

    def doRollover(self) -> None:
        if self.stream is not None:
            self.stream.close()
            vars(self)["stream"] = None  # it is opened again for the next line
        with contextlib.suppress(OSError):
            if not os.path.exists(self._numbered(0)):
                os.rename(self.baseFilename, self._numbered(0))
            for number in range(self.backupCount - 1, -1, -1):
                if os.path.exists(self._numbered(number)):
                    os.replace(self._numbered(number), self._numbered(number + 1))

    def _numbered(self, number: int) -> str:
        return f"{self.baseFilename}.{number}"


class FileLog(Log):
    """Lines for people. A file that can't be written keeps nobody from work.

    :arg path: of the file; its folder is made
    """

    def __init__(self, path: str, clock: Clock, most: int = MOST) -> None:
        self._path = path
        self._clock = clock
        self._most = most
        self._handler: Any = None
        self._not_before = 0.0
        logging.raiseExceptions = False  # nobody reads what it would print

    def say(self, message: str, priority: int = INFO, **fields: Any) -> None:
        if self._handler is None and self._clock.now() >= self._not_before:
            self._open()
        if self._handler is None:
            return
        begin = f"{iso_utc(self._clock.wall())} {_NAMES.get(priority, 'INFO')} "
        for line in message.splitlines() or [""]:
            record = logging.LogRecord("", logging.INFO, "", 0, begin + one_line(line, 2000), None, None)
            self._handler.handle(record)

    def _open(self) -> None:
        try:
            files.make_folder(os.path.dirname(self._path))
            self._handler = _Rotating(self._path, maxBytes=self._most, backupCount=KEPT, encoding="utf-8", delay=True)
        except OSError:
            self._not_before = self._clock.now() + AGAIN_AFTER

    def close(self) -> None:
        if self._handler is not None:
            self._handler.close()


KINDS: Dict[int, int] = {ERROR: 1, WARNING: 2}  # of entries; all others inform
_INFORMATION = 4
MESSAGES = r"%SystemRoot%\System32\EventCreate.exe"
"""The file of messages: Windows' own, whose messages 1 to 1000 are a text and nothing else."""

_KEY = r"SYSTEM\CurrentControlSet\Services\EventLog\Application"
_MOST_LETTERS = 30000
_INSERTED = re.compile(r"%(?=[0-9%])")


class EventLog(Log):
    """The event log ``Application``. The number of an entry is that of its priority in syslog: 3 error, 4 warning, 5 notice.

    :arg source: its name there
    """

    def __init__(self, source: str) -> None:
        self._handle: Any = None
        try:
            _register(source)
        except OSError:  # entries are readable all the same, with a line before them that their text was not found
            pass
        self._handle = kernel.function("RegisterEventSourceW")(None, source)

    def say(self, message: str, priority: int = INFO, **fields: Any) -> None:
        if not self._handle or priority > NOTICE:
            return
        texts = (ctypes.c_wchar_p * 1)(text_of_entry(message))
        kind = KINDS.get(priority, _INFORMATION)
        kernel.function("ReportEventW")(self._handle, kind, 0, priority, None, 1, 0, texts, None)


def text_of_entry(message: str) -> str:
    """The event viewer would put other texts in the place of %1 and %%1, and knows no way to write them."""
    return _INSERTED.sub("% ", message[:_MOST_LETTERS])


def _register(source: str) -> None:
    """Say where the texts of a source's entries are."""
    registry = vars(importlib.import_module("winreg"))
    with registry["CreateKeyEx"](
        registry["HKEY_LOCAL_MACHINE"], f"{_KEY}\\{source}", 0, registry["KEY_SET_VALUE"]
    ) as key:
        registry["SetValueEx"](key, "EventMessageFile", 0, registry["REG_EXPAND_SZ"], MESSAGES)
        registry["SetValueEx"](key, "TypesSupported", 0, registry["REG_DWORD"], 7)


class BothLogs(Log):
    """A file and the event log."""

    def __init__(self, *logs: Log) -> None:
        self._logs = logs

    def say(self, message: str, priority: int = INFO, **fields: Any) -> None:
        for log in self._logs:
            log.say(message, priority, **fields)
