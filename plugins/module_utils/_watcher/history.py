# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What has happened on this machine, as JSON lines, for people. The watcher never reads it back.

Private to this collection.
"""

import json
import os
from typing import List, NamedTuple

from .._machine.platform import native
from .report import Report, line_of

NAME, OLDER = "history.jsonl", "history.1.jsonl"
LIMIT = 1024 * 1024  # bytes of both files


class Past(NamedTuple):
    """What is left of the history."""

    reports: List[Report]  # the latest one last
    damaged: int  # lines that can't be read
    problem: str  # why a file can't be read; "" when it can


class History:
    """The history in a folder.

    :arg limit: bytes of both files together
    """

    def __init__(self, folder: str, limit: int = LIMIT) -> None:
        self._path = os.path.join(folder, NAME)
        self._older = os.path.join(folder, OLDER)
        self._limit = limit
        self.problem = ""
        """Why the last report could not be written; "" when it was."""

    def add(self, report: Report) -> bool:
        """Write it down; whether that went well. Nothing depends on it."""
        line = line_of(report)
        try:
            if self._is_full(len(line)):
                native.replace(self._path, self._older)
            self._append(line)
        except OSError as error:
            self.problem = f"{self._path} can't be written: {error.strerror or error}"
            return False
        self.problem = ""
        return True

    def _is_full(self, more: int) -> bool:
        try:
            size = os.stat(self._path).st_size
        except FileNotFoundError:
            return False
        return size > 0 and size + more > self._limit // 2

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | native.AS_IT_IS, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            os.lseek(descriptor, max(0, size - 1), os.SEEK_SET)
            # Somebody was cut off in the middle of a line, which must not spoil this one, too.
            if size and os.read(descriptor, 1) != b"\n":
                line = b"\n" + line
            written = os.write(descriptor, line)
            if written < len(line):
                raise OSError(0, "the disk is full")
        finally:
            os.close(descriptor)


def past(folder: str, most: int) -> Past:
    """The latest reports of a history, at most so many."""
    lines: List[str] = []
    problem = ""
    for name in (OLDER, NAME):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                lines += [line for line in file if line.strip()]
        except FileNotFoundError:
            pass
        except OSError as error:
            problem = f"{os.path.join(folder, name)} can't be read: {error.strerror or error}"
    found = [_report_in(line) for line in lines]
    reports = [report for report in found if report]
    return Past(reports[-most:] if most else [], len(found) - len(reports), problem)


def _report_in(line: str) -> Report:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("happened"), str) else {}
