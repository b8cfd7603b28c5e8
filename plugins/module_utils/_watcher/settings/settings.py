# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user wants of the watcher: its file, checked, and read again when it changes.

The role writes the file, people correct it. So whatever is wrong is reported with the line it stands in, and with what would be right:
JSON is read together with where in the text everything stands. Settings that can't be used leave those before them in force.

Private to this collection.
"""

import json
import os
import re
import stat
from json import decoder
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple

from ..._errors import ScheduledEventsError
from ..._events.policy import DEFAULT_POLICY, parse_policy
from ..._imds.endpoint import DEFAULT_ENDPOINT
from ..._machine import trust
from ..._machine.platform import native
from ..._text import one_line, shown
from ..host.host import Host
from ..host.this_host import HOST
from .options import FORMAT, LEAST_INTERVAL, OPTIONS, RENAMED, Configuration, Settings
from .values import Path, Refused, named, unknown_key

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
_scanned = decoder.scanstring  # type: ignore[attr-defined]


class NotJson(ValueError):
    """It is no JSON; the message says why, with line and column."""


class Place(NamedTuple):
    """Both count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class JsonRead(NamedTuple):
    """A text of JSON, read.

    places: of each value; of those in an object, where the name stands
    repeated: names that an object has more than once, which would hide all but the last
    """

    value: Any
    places: Dict[Path, Place]
    repeated: List[Path]


def read_json(text: str) -> JsonRead:
    """:raises NotJson: when it is none"""
    try:
        value = json.loads(text, parse_constant=_no_number)
        walk = _Walk(text)
        walk.value(0, ())
    except RecursionError as error:
        raise NotJson("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        raise NotJson(f"{Place(error.lineno, error.colno)}: {error.msg}, at {_excerpt(text, error.pos)}") from error
    except ValueError as error:
        raise NotJson(one_line(error)) from error
    return JsonRead(value, walk.places, walk.repeated)


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _excerpt(text: str, at: int) -> str:
    rest = one_line(text[at : at + 30])
    return repr(rest) if rest else "the end"


class _Walk:
    """Goes through a text that is known to be JSON."""

    def __init__(self, text: str) -> None:
        self.places: Dict[Path, Place] = {}
        self.repeated: List[Path] = []
        self._text = text

    def value(self, at: int, path: Path) -> int:
        """Note what begins there; returns where it ends."""
        at = self._start(at)
        self.places.setdefault(path, self._place(at))
        first = self._text[at]
        if first not in "{[":
            return _DECODER.raw_decode(self._text, at)[1]
        end, position = "}" if first == "{" else "]", 0
        at = self._start(at + 1)
        while self._text[at] != end:
            if self._text[at] == ",":
                at = self._start(at + 1)
            name: Any = position
            if first == "{":
                name, colon = _scanned(self._text, at + 1)
                if path + (name,) in self.places:
                    self.repeated.append(path + (name,))
                self.places[path + (name,)] = self._place(at)
                at = self._start(colon) + 1
            at = self._start(self.value(at, path + (name,)))
            position += 1
        return at + 1

    def _start(self, at: int) -> int:
        found = _BLANK.match(self._text, at)
        return found.end() if found else at

    def _place(self, at: int) -> Place:
        return Place(self._text.count("\n", 0, at) + 1, at - self._text.rfind("\n", 0, at))


class SettingsError(ScheduledEventsError):
    """Settings that can't be followed as they are written; the message says where, what is wrong and what would be right."""

    default_kind = "invalid"


def parse_settings(text: str, where: str) -> Configuration:
    """The configuration in a text.

    :arg where: the file, for people
    :raises SettingsError: when it can't be followed
    """
    try:
        read = read_json(text)
    except NotJson as error:
        raise SettingsError(f"{where}: this is no JSON: {error}.") from error
    configuration, wrong = configured(read.value)
    wrong = [Refused("is there twice: leave one of them out", path) for path in read.repeated] + wrong
    for one in wrong:
        place = next(read.places[one.path[:n]] for n in range(len(one.path), -1, -1) if one.path[:n] in read.places)
        raise SettingsError(f"{where}, {place}: {named(one.path)} {one.words}.")
    return configuration


def configured(given: Any, host: Host = HOST) -> Tuple[Configuration, List[Refused]]:
    """What a file says, as the program has it, and all that is wrong with it.

    :arg given: what the file holds, by :data:`~.options.OPTIONS` and ``format``; null is as if left out
    :arg host: the system that it is for
    """
    if not isinstance(given, dict):
        return Configuration(), [Refused(f"must be an object, such as {{}}, not {shown(given)}")]
    wrong = [*_unknown(given), *_format(given.get("format"))]
    found = {}
    for name, value in given.items():
        if name in OPTIONS and value is not None:
            try:
                found[name] = OPTIONS[name].kind.check(value, host)
            except Refused as error:
                wrong.append(Refused(error.words, (name, *error.path)))
    parts = {name: found.pop(name) for name in Settings._fields if name in found}
    parts.setdefault("policy", parse_policy(DEFAULT_POLICY))
    whole = Configuration(settings=Settings(**parts), **found)
    if whole.interval < LEAST_INTERVAL and whole.endpoint == DEFAULT_ENDPOINT:
        words = f"must be at least {LEAST_INTERVAL:g} s, for others ask the same service"
        wrong.append(Refused(words, ("interval",)))
    return whole, wrong


def _unknown(given: Mapping[str, Any]) -> Iterator[Refused]:
    for name in given:
        if name in RENAMED:
            yield Refused(f"is now called {RENAMED[name]}: rename it, or run the playbook deploy_watcher", (name,))
        elif name not in OPTIONS and name != "format":
            yield unknown_key(name, (*OPTIONS, "format"))


def _format(form: Any) -> Iterator[Refused]:
    if form != FORMAT or isinstance(form, bool):
        said = "is missing" if form is None else f"is {shown(form)}"
        yield Refused(f"must be {FORMAT}, and {said}: the role of this version writes that", ("format",))


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

    def refresh(self, anyway: bool = False) -> bool:
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
