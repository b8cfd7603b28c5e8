# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user wants of the watcher: its file, checked. Pure.

Private to this collection.

The role writes the file, people correct it. So whatever is wrong is said with the line it stands in, and with what would be right:
JSON is read together with where in the text everything stands.
"""

import json
import math
import os
import re
from json import decoder
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, NoReturn, Optional, Tuple

from ..._errors import ScheduledEventsError
from ..._events.policy import DEFAULT_POLICY, PolicyError, parse_policy
from ..._imds.client import DEFAULT_VERSION, VERSIONS
from ..._imds.endpoint import DEFAULT_ENDPOINT, check_endpoint
from ..._steps.step_type import Step
from ..._text import did_you_mean, one_line, shown
from ..engine.facts import MANAGE, NEVER, OBSERVE, OWN, Settings
from ..host.this_host import HOST
from .destinations import Destination, DestinationError, destinations_of
from .health import HealthError, HealthSettings, health_settings
from .hooks import PHASES

Path = Tuple[Any, ...]
"""The names and positions that lead to a value from the outside in; () for the whole."""

MOST_LABELS = 20
LONGEST_LABEL = 100
"""Characters of a label's value; with :data:`MOST_LABELS` that keeps a report small, whatever its letters are."""

_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
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


FORMAT = 1
STEP_TYPES = ("service", "command", "http", "connections")
"""What a machine can do alone, and the watcher therefore does."""

RENAMED = {"act": "mode", "settle": "boot_timeout", "turn_after": "cooldown"}
"""Keys that have another name now; each with that. What is set under the old name is not done, so it is refused."""

LEAST_INTERVAL = 0.5  # seconds between two looks, at a service that others depend on
_MOST_SECONDS = 86400.0


class SettingsError(ScheduledEventsError):
    """Settings that can't be followed as they are written; the message says where, what is wrong and what would be right."""

    default_kind = "invalid"


class HookOptions(NamedTuple):
    """What the user has said about one hook."""

    limit: Optional[float] = None  # seconds; None for the usual ones
    user: str = ""  # as whom it runs; "" for root


class Configuration(NamedTuple):
    """The whole file. ``settings`` is the part that handling goes by."""

    settings: Settings = Settings()
    hook_limit: float = 300.0
    hooks: Dict[str, HookOptions] = {}
    hooks_folder: str = HOST.hooks_folder
    steps: Tuple[Step, ...] = ()
    endpoint: str = DEFAULT_ENDPOINT
    discover: bool = False
    api_version: str = DEFAULT_VERSION
    resource_name: str = ""  # "" where the metadata service says it
    interval: float = 1.0
    reports: Tuple[Destination, ...] = ()
    labels: Mapping[str, str] = {}
    health: HealthSettings = HealthSettings()
    folder: str = HOST.state
    boot_timeout: float = 300.0
    history_bytes: int = 1048576
    spool_bytes: int = 10485760


def parse_settings(text: str, where: str) -> Configuration:
    """The configuration in a text.

    :arg where: the file, for people
    :raises SettingsError: when it can't be followed
    """
    try:
        read = read_json(text)
    except NotJson as error:
        raise SettingsError(f"{where}: this is no JSON: {error}.") from error
    return _Checked(read, where).configuration()


class _Checked:
    """One file's content, looked at key by key."""

    def __init__(self, read: JsonRead, where: str) -> None:
        self._read = read
        self._where = where

    def configuration(self) -> Configuration:
        given = self._object((), self._read.value, (*_KEYS, "format"))
        form = given.pop("format", None)
        if form != FORMAT or isinstance(form, bool):
            said = "is missing" if form is None else f"is {shown(form)}"
            self._refuse(("format",), f"must be {FORMAT}, and {said}: the role of this version writes that")
        found = {name: _KEYS[name](self, (name,), value) for name, value in given.items() if value is not None}
        parts = {name: found.pop(name) for name in Settings._fields if name in found}
        parts.setdefault("policy", parse_policy(DEFAULT_POLICY))
        whole = Configuration(settings=Settings(**parts), **found)
        if whole.interval < LEAST_INTERVAL and whole.endpoint == DEFAULT_ENDPOINT:
            self._refuse(("interval",), f"must be at least {LEAST_INTERVAL:g} s, for others ask the same service")
        return whole

    # --- what a value may be ---

    def text(self, path: Path, value: Any) -> str:
        if not isinstance(value, str) or not value.strip() or one_line(value, len(value) + 1) != value:
            self._refuse(path, f"must be a text of one line, not {shown(value)}")
        return str(value)

    def flag(self, path: Path, value: Any) -> bool:
        if not isinstance(value, bool):
            self._refuse(path, f"must be true or false, not {shown(value)}")
        return bool(value)

    def absolute(self, path: Path, value: Any) -> str:
        if not os.path.isabs(self.text(path, value)):
            self._refuse(path, f"must be a whole path, such as /var/lib/azure-maintenance, not {shown(value)}")
        return str(value).rstrip("/") or "/"

    def number(self, path: Path, value: Any, least: float, most: float, what: str = "seconds") -> float:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if not is_number or not least <= value <= most:
            self._refuse(path, f"must be a number of {what} from {least:g} to {most:.15g}, not {shown(value)}")
        return float(value)

    def choice(self, path: Path, value: Any, choices: Tuple[str, ...]) -> str:
        if value not in choices:
            self._refuse(path, f"must be one of {', '.join(choices)}, not {shown(value)}{did_you_mean(value, choices)}")
        return str(value)

    def endpoint(self, path: Path, value: Any) -> str:
        text = self.text(path, value)
        try:
            endpoint = check_endpoint(text)
        except ScheduledEventsError as error:
            self._refuse(path, f"is no address of a metadata service: {error.message.rstrip('.')}")
        if not endpoint.startswith("http://"):
            self._refuse(path, f"must begin with http://, as the metadata service does, not {shown(endpoint)}")
        return endpoint

    def policy(self, path: Path, value: Any) -> Any:
        try:
            return parse_policy(value)
        except PolicyError as error:
            rule = _RULE.match(error.message)
            here = (*path, int(rule.group(1)) - 1) if rule else path
            self._refuse(here, f"can't be followed: {error.message.rstrip('.')}")

    def hooks(self, path: Path, value: Any) -> Dict[str, HookOptions]:
        found = {}
        for name, options in self._object(path, value, None).items():
            here = (*path, name)
            folder = name.split("/")[0]
            if folder not in _PHASES:
                self._refuse(
                    here, f"is of no phase{did_you_mean(folder, _PHASES)}: names begin with {', '.join(_PHASES)}"
                )
            given = self._object(here, options, HookOptions._fields)
            limit = given.get("limit")
            found[name] = HookOptions(
                None if limit is None else self.number((*here, "limit"), limit, 1.0, _MOST_SECONDS),
                self.text((*here, "user"), given["user"]) if given.get("user") else "",
            )
        return found

    def reports(self, path: Path, value: Any) -> Tuple[Destination, ...]:
        try:
            return tuple(destinations_of(value))
        except DestinationError as error:
            entry = _ENTRY.search(str(error))
            here = (*path, int(entry.group(1)) - 1) if entry else path
            self._refuse(here, f"can't be followed: {str(error).rstrip('.')}")

    def labels(self, path: Path, value: Any) -> Dict[str, str]:
        given = self._object(path, value, None)
        if len(given) > MOST_LABELS:
            self._refuse(path, f"are {len(given)}, and there may be {MOST_LABELS} at most")
        for name, label in given.items():
            here = (*path, name)
            if not _LABEL.fullmatch(name):
                self._refuse(
                    here, "is no name of a label: it needs letters, digits and underscores, no digit first, at most 60"
                )
            if len(self.text(here, label)) > LONGEST_LABEL:
                self._refuse(here, f"is {len(label)} characters long, and may have {LONGEST_LABEL}")
        return given

    def health(self, path: Path, value: Any) -> HealthSettings:
        self._object(path, value, HealthSettings._fields)
        try:
            return health_settings(value)
        except HealthError as error:
            self._refuse((*path, *error.where), str(error))

    def steps(self, path: Path, value: Any) -> Tuple[Step, ...]:
        """Filter drain_steps has checked them; here it is seen that they are such, and that the machine can do them alone."""
        keys = set()
        for number, step in enumerate(self._list(path, value)):
            here = (*path, number)
            if not isinstance(step, dict) or any(not isinstance(step.get(key), kind) for key, kind in _STEP.items()):
                self._refuse(here, "is no step as filter drain_steps returns it: let role watcher write this file")
            if step["type"] not in STEP_TYPES or step.get("elsewhere"):
                self._refuse(
                    here,
                    f"is of type {shown(step['type'])}, which a machine can't do alone; the watcher does "
                    f"{', '.join(STEP_TYPES)}. Let `maintain` do it: set mode to {OBSERVE!r}",
                )
            if step["key"] in keys:
                self._refuse(here, f"has the key {shown(step['key'])} of a step before it")
            keys.add(step["key"])
        return tuple(value)

    # --- the rest ---

    def _list(self, path: Path, value: Any) -> List[Any]:
        if not isinstance(value, list):
            self._refuse(path, f"must be a list, not {shown(value)}")
        return list(value)

    def _object(self, path: Path, value: Any, names: Optional[Tuple[str, ...]]) -> Dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse(path, f"must be an object, such as {{}}, not {shown(value)}")
        for repeated in self._read.repeated:
            if repeated[:-1] == path:
                self._refuse(repeated, "is there twice: leave one of them out")
        for name in value:
            if names is not None and name not in names:
                if not path and name in RENAMED:
                    self._refuse(
                        (name,), f"is now called {RENAMED[name]}: rename it, or run the playbook deploy_watcher"
                    )
                known = ", ".join(sorted(names))
                self._refuse(
                    (*path, name), f"is no key that is known here{did_you_mean(name, names)}: there are {known}"
                )
        return dict(value)

    def _refuse(self, path: Path, what: str) -> NoReturn:
        place = next(self._read.places[path[:n]] for n in range(len(path), -1, -1) if path[:n] in self._read.places)
        raise SettingsError(f"{self._where}, {place}: {_named(path)} {what}.")


def _named(path: Path) -> str:
    """``reports[1].url``: positions count from 1, as people do."""
    words = "".join(
        f"[{part + 1}]" if isinstance(part, int) else f".{one_line(part, 80) or shown(part)}" for part in path
    )
    return words.lstrip(".") or "the whole file"


_PHASES = tuple(f"{phase}.d" for phase in PHASES)
_ENTRY = re.compile(r"entry (\d+)")
_RULE = re.compile(r"Rule (\d+) of the policy")
_STEP: Dict[str, Any] = {"key": str, "type": str, "name": str, "does": str, "undoes": str, "timeout": (int, float)}
_Check = Callable[[_Checked, Path, Any], Any]


def _seconds(least: float, most: float = _MOST_SECONDS) -> _Check:
    return lambda checked, path, value: checked.number(path, value, least, most)


def _bytes(least: int) -> _Check:
    return lambda checked, path, value: int(checked.number(path, value, least, 2.0**40, "bytes"))


def _one_of(*choices: str) -> _Check:
    return lambda checked, path, value: checked.choice(path, value, choices)


_KEYS: Dict[str, _Check] = {
    "mode": _one_of(MANAGE, OBSERVE),
    "approve": _one_of(OWN, NEVER),
    "policy": _Checked.policy,
    "prepare_before": _seconds(0.0),
    "cooldown": _seconds(0.0),
    "hook_limit": _seconds(1.0),
    "hooks": _Checked.hooks,
    "hooks_folder": _Checked.absolute,
    "steps": _Checked.steps,
    "endpoint": _Checked.endpoint,
    "discover": _Checked.flag,
    "api_version": _one_of(*VERSIONS),
    "resource_name": _Checked.text,
    "interval": _seconds(0.001, 60.0),
    "reports": _Checked.reports,
    "labels": _Checked.labels,
    "health": _Checked.health,
    "folder": _Checked.absolute,
    "boot_timeout": _seconds(0.0, 3600.0),
    "history_bytes": _bytes(4096),
    "spool_bytes": _bytes(4096),
}
