# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's settings as they stand in their file: looked at again when it changes, and kept when it can't be followed.

Private to this collection.
"""

import os
import stat
from typing import Optional, Tuple

from ..._machine import trust
from ..._machine.platform import native
from ..._text import one_line
from ..host.this_host import HOST
from .options import Configuration
from .settings import SettingsError, parse_settings, read_json
from .values import Path

_MOST_BYTES = 4 * 1024 * 1024


class SettingsFile:
    """One file.

    current: the last configuration that could be followed; problem: why the file as it is now can't be, "" when it can
    """

    def __init__(self, path: str) -> None:
        """:raises SettingsError: when there is nothing to begin with"""
        self.path = path
        self.problem = ""
        self._seen = self._state()
        self.current: Configuration = self._read()

    def look(self, anyway: bool = False) -> bool:
        """Read it again where it has changed, or anyway; whether there is another configuration now."""
        state = self._state()
        if state == self._seen and not anyway:
            return False
        self._seen = state
        try:
            found = self._read()
        except SettingsError as error:
            self.problem = error.message
            return False
        self.problem = ""
        changed = found != self.current
        self.current = found
        return changed

    def _state(self) -> Optional[Tuple[int, ...]]:
        """What differs when somebody has written it, or put another one in its place, or changed who may."""
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size

    def _read(self) -> Configuration:
        try:
            with open(self.path, "rb") as file:
                why = _distrust(self.path, file.fileno())
                content = file.read(_MOST_BYTES + 1)
        except OSError as error:
            raise SettingsError(f"{self.path} can't be read: {one_line(error.strerror or error)}.") from error
        if why:
            raise SettingsError(f"{self.path} is not followed: {why}")
        if len(content) > _MOST_BYTES:
            raise SettingsError(f"{self.path} has more than {_MOST_BYTES} bytes: this is no file of role watcher.")
        try:
            return parse_settings(content.decode("utf-8"), self.path)
        except UnicodeDecodeError as error:
            raise SettingsError(f"{self.path} is no text in UTF-8: byte {error.start + 1} can't be read.") from error


def place_of(path: str, where: Path) -> str:
    """The file, and the line in it of a value that it has: ``/etc/azure-maintenance/watcher.json, line 4, column 5``

    :arg where: the names and positions that lead to the value from the outside in
    """
    try:
        with open(path, encoding="utf-8") as file:
            places = read_json(file.read(_MOST_BYTES)).places
    except (OSError, ValueError):
        return path
    return f"{path}, {places[where]}" if where in places else path


def _distrust(path: str, descriptor: int) -> str:
    """Why settings may be another's; "" when they are the administrator's alone."""
    if os.name == "nt":
        return trust.objection(path)
    folder = os.path.dirname(path)
    open_to = writers(os.fstat(descriptor)) or writers(os.stat(folder or "."))
    if not open_to:
        return ""
    return (
        f"{open_to} may write it, or its folder, and so make {HOST.admin} run what they like. "
        f"Give both to {HOST.admin}, and run: {HOST.close(path)} {folder}"
    )


def writers(found: os.stat_result) -> str:
    """Who else than root, or this user, may write something; "" when nobody may."""
    if not native.is_ours(found):
        return f"user number {found.st_uid}"
    if native.open_to(found, stat.S_IWOTH):
        return "everybody"
    return "a group" if native.open_to(found, stat.S_IWGRP) else ""
