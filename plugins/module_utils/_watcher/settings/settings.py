# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user wants of the watcher: its file, checked, and read again when it changes.

The role writes the file, people correct it. So whatever is wrong is reported with the line it stands in, and with what would be right.
Settings that can't be used leave those before them in force.

Private to this collection.
"""

import json
import os
import re
import stat
from typing import Any, Collection, Dict, Iterator, List, Mapping, Optional, Tuple

from ..._errors import ScheduledEventsError
from ..._events.policy import DEFAULT_POLICY, parse_policy
from ..._imds.endpoint import DEFAULT_ENDPOINT
from ..._machine import trust
from ..._machine.platform import native
from ..._text import one_line, shown
from ..host.host import Host
from ..host.this_host import HOST
from .options import FORMAT, LEAST_INTERVAL, OPTIONS, RENAMED, Configuration, Settings
from .refused import Path, Refused, named, unknown_key


class SettingsError(ScheduledEventsError):
    """Settings that can't be followed as they are written; the message says where, what is wrong and what would be right."""

    default_kind = "invalid"


def read_json(text: str, where: str) -> Any:
    """:raises SettingsError: when it is none, or an object has a name twice, which would hide all but the last"""
    try:
        return json.loads(text, parse_constant=_no_number, object_pairs_hook=_without_repeats)
    except RecursionError as error:
        raise SettingsError(f"{where}: this is no JSON: it is nested too deeply.") from error
    except json.JSONDecodeError as error:
        words = f"line {error.lineno}: {error.msg}, at {one_line(text[error.pos : error.pos + 30]) or 'the end'!r}"
        raise SettingsError(f"{where}: this is no JSON: {words}.") from error
    except _Twice as error:
        name = str(error)
        line = text.count("\n", 0, max(0, text.rfind(json.dumps(name)))) + 1
        raise SettingsError(f"{where}, line {line}: {one_line(name)} is there twice: leave one of them out.") from error
    except ValueError as error:
        raise SettingsError(f"{where}: this is no JSON: {one_line(error)}.") from error


class _Twice(Exception):
    """A name that an object has more than once."""


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _without_repeats(pairs: List[Tuple[str, Any]]) -> Dict[str, Any]:
    names = [name for name, _value in pairs]
    if len(set(names)) < len(names):
        raise _Twice(next(name for number, name in enumerate(names) if name in names[:number]))
    return dict(pairs)


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[][{},]|[^][{},:\s"]+')


def line_of(text: str, path: Path) -> int:
    """The line of a text of JSON in which a value begins; of one in an object, its name. Of one that is not there, that of what it would be in."""
    lines: Dict[Path, int] = {(): 1}
    here: List[Any] = []  # the way to the value that comes next; None where an object's name does
    for found in _TOKEN.finditer(text):
        token = found.group()
        if token in ("}", "]"):
            here.pop()
        elif token == ",":
            here[-1] = here[-1] + 1 if isinstance(here[-1], int) else None
        else:
            if here and here[-1] is None:
                here[-1] = json.loads(token)
            lines.setdefault(tuple(here), text.count("\n", 0, found.start()) + 1)
            if token in ("{", "["):
                here.append(None if token == "{" else 0)
    return next(lines[path[:n]] for n in range(len(path), -1, -1) if path[:n] in lines)


def parse_settings(text: str, where: str, needed: Collection[str] = ()) -> Configuration:
    """The configuration in a text.

    :arg where: the file, for people
    :arg needed: the options that matter; () for all
    :raises SettingsError: when one of these can't be followed
    """
    configuration, wrong = configured(read_json(text, where))
    for one in wrong:
        if not needed or not one.path or one.path[0] in needed:
            raise SettingsError(f"{where}, line {line_of(text, one.path)}: {named(one.path)} {one.words}.")
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

    :arg needed: see :func:`parse_settings`
    current: the last configuration that could be followed; problem: why the file as it is now can't be, "" when it can
    """

    def __init__(self, path: str, needed: Collection[str] = ()) -> None:
        """:raises SettingsError: when there is nothing to begin with"""
        self.path = path
        self._needed = needed
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
            return parse_settings(content.decode("utf-8"), self.path, self._needed)
        except UnicodeDecodeError as error:
            raise SettingsError(f"{self.path} is no text in UTF-8: byte {error.start + 1} can't be read.") from error


def place_of(path: str, where: Path) -> str:
    """The file, and the line in it of a value that it has: ``/etc/azure-maintenance/watcher.json, line 4``"""
    try:
        with open(path, encoding="utf-8") as file:
            return f"{path}, line {line_of(file.read(_MOST_BYTES), where)}"
    except (OSError, ValueError):
        return path


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
