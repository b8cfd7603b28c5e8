# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks that a user names, checked, as files below the folder of hooks.

Private to this collection.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._events.event import among
from ...module_utils._events.policy import TYPES
from ...module_utils._steps.hook import PHASES
from ...module_utils._text import did_you_mean, listed, shown
from ...module_utils._watcher.host.host import Host
from .place import Place

ORDER = 50
KEYS = ("name", "phase", "types", "content", "file", "template", "limit", "user", "order")
SOURCES = ("content", "file", "template")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,80}(\.[A-Za-z0-9]{1,8})?\Z")
_USER = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?\Z")
_KEY = re.compile(rf"({'|'.join(PHASES)})\.d/([A-Za-z0-9]+/)?[A-Za-z0-9][A-Za-z0-9_.-]*\Z")
_PROGRAMS = (b"#!", b"\x7fELF")  # how a file begins that Linux runs by itself


class HookError(Exception):
    """One thing that is wrong with one hook."""


class HookFile(TypedDict):
    """One file of a hook; a hook for two types is two of them."""

    key: str  # its path below the folder of hooks, such as prepare.d/50-app or prepare.d/Reboot/50-app
    path: str  # on the machine
    phase: str
    type: str  # of the event; "" for all
    limit: float | None  # seconds; None for the default
    user: str  # "" for root
    content: str
    file: str  # of the controller
    template: str  # of the controller


def hook_files(hooks: Any, find_file: Callable[[str], str | None], place: Place) -> tuple[list[HookFile], list[str]]:
    """The files, in the order in which they are run, and what is wrong, a sentence for each hook.

    :arg place: of the machine that runs them
    """
    if not isinstance(hooks, (list, tuple)):
        return [], [f"watcher_hooks is {shown(hooks, 60)}, not a list of hooks"]
    files: dict[str, HookFile] = {}
    errors = []
    for number, raw in enumerate(hooks, 1):
        try:
            for file in _files(raw, find_file, place):
                if file["key"] in files:
                    raise HookError(f"another one is {file['key']}, too: give them different names or another order")
                files[file["key"]] = file
        except HookError as error:
            errors.append(f"watcher_hooks, {_label(raw, number)}: {error}")
    return sorted(files.values(), key=lambda file: file["key"]), errors


def is_key(key: str) -> bool:
    """Whether this is the key of a hook as this role makes them, and nothing that leads out of the folder."""
    return bool(_KEY.match(key)) and ".." not in key


def folders_of(files: Iterable[HookFile], place: Place) -> list[str]:
    """The folders below that of the hooks, all phases and the types that have files."""
    found = {f"{phase}.d" for phase in PHASES} | {file["key"].rpartition("/")[0] for file in files}
    return [place.below(place.hooks, folder) for folder in sorted(found)]


def longest(files: Iterable[HookFile], phase: str, default: float) -> float:
    """The seconds that the hooks of a phase may take in all, for the type of event that has the most."""
    common, by_type = 0.0, dict.fromkeys(TYPES, 0.0)
    for file in files:
        if file["phase"] != phase:
            continue
        seconds = default if file["limit"] is None else file["limit"]
        if file["type"]:
            by_type[file["type"]] += seconds
        else:
            common += seconds
    return common + max(by_type.values())


def _files(raw: Any, find_file: Callable[[str], str | None], place: Place) -> list[HookFile]:
    if not isinstance(raw, Mapping):
        raise HookError("it is not a dictionary with name, phase and what it runs")
    given = {key: value for key, value in raw.items() if value not in (None, "")}
    for key in given:
        if key not in KEYS:
            raise HookError(f"key {shown(key)} is unknown{did_you_mean(str(key), KEYS)}; it takes {listed(KEYS)}")
    phase = given.get("phase")
    if phase not in PHASES:
        raise HookError(f"phase is {shown(phase)}{did_you_mean(str(phase), PHASES)}; it is one of {listed(PHASES)}")
    name = f"{_order(given.get('order', ORDER)):02d}-{_name(given.get('name'), place.host)}"
    kinds: Sequence[str] = _types(given.get("types") or []) or [""]
    source = _source(given, find_file, place.host)
    keys = {kind: "/".join(filter(None, [f"{phase}.d", kind, name])) for kind in kinds}
    return [
        {
            "key": key,
            "path": place.below(place.hooks, key),
            "phase": str(phase),
            "type": kind,
            "limit": _limit(given["limit"]) if "limit" in given else None,
            "user": _user(given.get("user", ""), place.host),
            "content": source.get("content", ""),
            "file": source.get("file", ""),
            "template": source.get("template", ""),
        }
        for kind, key in keys.items()
    ]


def _name(name: Any, host: Host) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise HookError(f"name is {shown(name)}; it is letters, digits, - and _, and may end in something like .sh")
    if host.hook_endings and not name.lower().endswith(host.hook_endings):
        raise HookError(f"name is {name}; Windows runs what ends in one of {listed(host.hook_endings)}")
    return name


def _order(order: Any) -> int:
    try:
        number = int(str(order))
    except ValueError:
        number = -1
    if not 0 <= number <= 99:
        raise HookError(f"order is {shown(order)}; it is a number from 0 to 99, and hooks run in its order")
    return number


def _types(types: Any) -> list[str]:
    if not isinstance(types, (list, tuple)):
        raise HookError(f"types is {shown(types)}, not a list such as [Reboot, Redeploy]")
    found = []
    for name in types:
        if not isinstance(name, str) or not among(name, TYPES):
            raise HookError(
                f"no type {shown(name)} of events is known{did_you_mean(str(name), TYPES)}; types are {listed(TYPES)}"
            )
        found.append(next(known for known in TYPES if known.lower() == name.lower()))
    return sorted(set(found))


def _limit(limit: Any) -> float:
    try:
        seconds = float("nan") if isinstance(limit, bool) else float(limit)
    except (TypeError, ValueError):
        seconds = float("nan")
    if not math.isfinite(seconds) or seconds <= 0:
        raise HookError(f"limit is {shown(limit)}; it is a number of seconds, more than 0")
    return seconds


def _user(user: Any, host: Host) -> str:
    if user and host.has_drives:
        raise HookError("it has a user, and on Windows the watcher runs everything as SYSTEM: leave user out")
    if user and (not isinstance(user, str) or not _USER.match(user)):
        raise HookError(f"user is {shown(user)}, not the name of a user of the machine")
    return "" if user == "root" else str(user)


def _source(given: Mapping[str, Any], find_file: Callable[[str], str | None], host: Host) -> dict[str, str]:
    sources = [key for key in SOURCES if key in given]
    if len(sources) != 1:
        what = "nothing says" if not sources else f"{listed(sources)} all say"
        raise HookError(f"{what} what it runs; give one of {listed(SOURCES)}")
    kind = sources[0]
    value = given[kind]
    if not isinstance(value, str):
        raise HookError(f"{kind} is {shown(value)}, not a text")
    if kind == "content" and host.has_drives:
        return {kind: _for_windows(value, str(given.get("name")))}
    if kind == "content":
        _check_beginning(value.encode("utf-8", "replace"), "its content")
        return {kind: value if value.endswith("\n") else value + "\n"}
    found = find_file(value)
    if found is None:
        where = "beside the playbook and beside the inventory"
        raise HookError(f"its {kind} is not there: {value} (a relative one is looked for {where})")
    if kind == "file" and not host.has_drives:
        with open(found, "rb") as file:
            _check_beginning(file.read(4), found)
    return {kind: found}


def _for_windows(content: str, name: str) -> str:
    """A script with the ends of lines that cmd.exe needs. Windows PowerShell takes what begins with no byte order mark for ANSI."""
    text = "\r\n".join(content.splitlines()) + "\r\n"
    return "\ufeff" + text if name.lower().endswith(".ps1") and not text.isascii() else text


def _check_beginning(content: bytes, what: str) -> None:
    if not content.startswith(_PROGRAMS):
        raise HookError(f"{what} begins with no line such as #!/bin/sh, by which Linux knows how to run it")


def _label(raw: Any, number: int) -> str:
    name = raw.get("name") if isinstance(raw, Mapping) else None
    return f"hook {number} ({shown(name, 60)})" if isinstance(name, str) and name else f"hook {number}"
