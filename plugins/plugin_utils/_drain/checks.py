# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every type of step of role ``drain`` is checked with."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from ...module_utils._text import did_you_mean


class StepError(Exception):
    """One thing that is wrong with one step."""


class Host(NamedTuple):
    """What a plan has to know about the host it is for, and about its inventory."""

    name: str
    system: str
    groups: Mapping[str, Sequence[str]]
    system_of: Callable[[str], str]
    find_file: Callable[[str], str | None]
    default_timeout: float = 60.0

    def members(self, name: str) -> list[str] | None:
        """The hosts that a name stands for: a group's, or the host itself; None when the inventory has neither."""
        if name in self.groups:
            return list(self.groups[name])
        return [name] if name in self.groups.get("all", ()) else None


def check_keys(given: Mapping[str, Any], spec: Mapping[str, Any], inside: str) -> None:
    """Unknown keys, and containers where a text or a number belongs (Ansible's validator would make texts of them)."""
    for key, value in given.items():
        if key not in spec:
            raise StepError(
                f"key {inside + str(key)!r} is unknown{did_you_mean(str(key), spec)}; it takes {', '.join(sorted(spec))}"
            )
        option = spec[key]
        if value is None:
            continue
        if option.get("type") in ("str", "int", "float", "bool") and isinstance(value, (Mapping, list, tuple)):
            raise StepError(f"{inside + key} is {kind_of(value)}, where {_WORDS[option['type']]} belongs")
        if option.get("type") == "dict":
            if not isinstance(value, Mapping):
                raise StepError(f"{inside + key} is {kind_of(value)}, where a dictionary belongs")
            if "options" in option:
                check_keys(value, option["options"], inside + key + ".")
        if option.get("type") == "list" and (
            isinstance(value, Mapping)
            or isinstance(value, (list, tuple))
            and any(isinstance(item, (Mapping, list)) for item in value)
        ):
            raise StepError(f"{inside + key} is not a list of {_WORDS[option['elements']][2:]}s")


_WORDS = {"str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}


def task_file(path: str, key: str, host: Host) -> str:
    """The path of a user's file of tasks."""
    found = host.find_file(path)
    if not found:
        raise StepError(f"{'the file of ' + key if key else 'the file'} is not there: {path}")
    return found


def check_url(url: str, key: str) -> None:
    """It must be an http or https URL."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number, brackets without an address
        fine = False
    if not fine:
        raise StepError(f"{key} is {bare_url(url)!r}, which is no http or https URL")


def bare_url(url: str) -> str:
    """A URL as it may be shown: without the password or the query that it may carry."""
    scheme, separator, rest = url.split("?", 1)[0].partition("://")
    authority, slash, path = rest.partition("/")
    return scheme + separator + authority.rpartition("@")[2] + slash + path


def positive(value: float, key: str) -> float:
    """A number of seconds, more than none."""
    if not math.isfinite(value) or value <= 0:
        raise StepError(f"{key} is {value}; it is a number of seconds, more than 0")
    return float(value)


def without_none(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """What was given: an option that is null counts as absent."""
    return {key: value for key, value in mapping.items() if value is not None}


def kind_of(value: Any) -> str:
    """What a value is, for somebody who reads YAML."""
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a dictionary"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, bool):
        return "true or false"
    return "a text" if isinstance(value, str) else "a number"
