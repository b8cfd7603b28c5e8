# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Orders to the watcher: files in a folder of root's, each taken once, at the next tick.

Private to this collection.

The command puts them there; a file is whole or not there. What comes of an order is published with the watcher's state.
"""

import json
import os
import stat
import time
from typing import Any, List, NamedTuple

from ..._machine.files import FORMAT, Unreadable, object_in
from ..._machine.platform import native
from ..._text import did_you_mean, one_line, shown
from ..host.this_host import HOST

FOLDER = "orders"
COMMANDS = ("hold", "release", "approve", "recover", "check")
MOST = 100  # that wait; more than that is no person
_MOST_BYTES = 16384


class Command(NamedTuple):
    """What somebody wants. Which of the others are needed depends on ``order``."""

    name: str  # of the file: by it the answer is found
    order: str  # one of ORDERS
    by: str = ""
    reason: str = ""
    until: Any = None  # of hold: Unix time
    event: str = ""  # of approve: the id, as it was given
    force: bool = False  # of recover
    problem: str = ""  # why it is not carried out


def place(folder: str, order: str, **more: Any) -> str:
    """Put an order into the state folder; returns the name under which its outcome will be found.

    :raises OSError: when it can't be put there
    """
    orders = os.path.join(folder, FOLDER)
    if not os.path.isdir(orders):
        os.mkdir(orders, 0o700)
    name = f"{time.time():017.6f}-{os.getpid()}.json"
    temporary = os.path.join(orders, f".{name}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        json.dump(dict(more, format=FORMAT, order=order), file)
    native.replace(temporary, os.path.join(orders, name))
    return name


class CommandQueue:
    """The folder of orders."""

    def __init__(self, folder: str) -> None:
        self._folder = os.path.join(folder, FOLDER)
        self._seen = 0

    def make(self) -> None:
        """:raises OSError: when it can't be made"""
        if not os.path.isdir(self._folder):
            os.makedirs(self._folder, 0o700)

    def take(self) -> List[Command]:
        """Those that wait, in the order in which they came; they are gone from the folder then."""
        try:
            # A look at the folder's own time costs less than to list it, once a second for ever.
            changed = os.stat(self._folder).st_mtime_ns
            if changed == self._seen:
                return []
            names = sorted(name for name in os.listdir(self._folder) if not name.startswith("."))[:MOST]
        except OSError:
            return []
        if not names:
            # It may change again within the same moment of the file system's clock.
            if time.time() - changed / 1e9 > 2:
                self._seen = changed
            return []
        return [self._taken(name) for name in names]

    def _taken(self, name: str) -> Command:
        path = os.path.join(self._folder, name)
        try:
            content = self._content(path)
            os.unlink(path)
        except ValueError as error:
            self._remove(path)
            return Command(one_line(name), "", problem=f"{one_line(path)} was refused: {error}")
        except OSError as error:
            return Command(one_line(name), "", problem=f"{one_line(path)} can't be read: {one_line(error.strerror)}")
        try:
            return _parsed(one_line(name), content)
        except ValueError as error:
            return Command(one_line(name), "", problem=f"{one_line(path)} was refused: {error}")

    def _content(self, path: str) -> bytes:
        """:raises ValueError: when somebody else can have written it"""
        owner = os.stat(self._folder)
        if not native.is_ours(owner) or native.open_to(owner, stat.S_IWGRP | stat.S_IWOTH):
            raise ValueError(f"others may write into {self._folder}; run: {HOST.close_private(self._folder)}")
        if not stat.S_ISREG(os.lstat(path).st_mode):  # to open a pipe would wait for whoever writes into it
            raise ValueError("it is no file")
        with open(os.open(path, os.O_RDONLY | native.AS_IT_IS | native.AT_ONCE), "rb") as file:
            found = os.fstat(file.fileno())
            if found.st_uid != owner.st_uid or native.open_to(found, stat.S_IWGRP | stat.S_IWOTH):
                raise ValueError(f"it does not belong to {HOST.admin}, or others may write it")
            content = file.read(_MOST_BYTES + 1)
        if len(content) > _MOST_BYTES:
            raise ValueError(f"it has more than {_MOST_BYTES} bytes")
        return content

    @staticmethod
    def _remove(path: str) -> None:
        try:
            os.unlink(path)
        except OSError:  # a folder, say
            pass


def _parsed(name: str, content: bytes) -> Command:
    try:
        given = object_in(content)
    except Unreadable as error:
        raise ValueError(f"it {error}; the command `azure-maintenance` writes such files") from error
    order = given.get("order")
    if order not in COMMANDS:
        raise ValueError(
            f"the order {shown(order)} is not known{did_you_mean(order, COMMANDS)}: there are {', '.join(COMMANDS)}"
        )
    until = given.get("until")
    if until is not None and (isinstance(until, bool) or not isinstance(until, (int, float))):
        raise ValueError(f"its `until` must be a Unix time, not {shown(until)}")
    event = given.get("event")
    if order == "approve" and not (isinstance(event, str) and event.strip()):
        raise ValueError("it does not name the event to approve")
    words = {key: one_line(given.get(key), 500) for key in ("by", "reason")}
    return Command(name, str(order), until=until, event=one_line(event), force=given.get("force") is True, **words)
