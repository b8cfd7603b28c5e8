# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every type of step is checked with.

Private to this collection.
"""

import math
from typing import Any, Dict, Mapping

from .._text import did_you_mean, listed


class StepError(Exception):
    """One thing that is wrong with one step."""


_WORDS = {"str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}


def check_keys(given: Mapping[str, Any], spec: Mapping[str, Any], inside: str = "") -> None:
    """Unknown keys, and containers where a text or a number belongs (Ansible's validator would make texts of them)."""
    for key, value in given.items():
        if key not in spec:
            raise StepError(
                f"key {inside + str(key)!r} is unknown{did_you_mean(str(key), spec)}; it takes {listed(sorted(spec))}"
            )
        if value is not None:
            _check_kind(value, spec[key], inside + key)


def _check_kind(value: Any, option: Mapping[str, Any], key: str) -> None:
    kind = option.get("type")
    if kind in _WORDS and isinstance(value, (Mapping, list, tuple)):
        raise StepError(f"{key} is {kind_of(value)}, where {_WORDS[kind]} belongs")
    if kind == "dict":
        if not isinstance(value, Mapping):
            raise StepError(f"{key} is {kind_of(value)}, where a dictionary belongs")
        if "options" in option:
            check_keys(value, option["options"], f"{key}.")
    if kind == "list" and (
        isinstance(value, Mapping)
        or isinstance(value, (list, tuple))
        and any(isinstance(item, (Mapping, list)) for item in value)
    ):
        raise StepError(f"{key} is not a list of {_WORDS[option['elements']][2:]}s")


def positive(value: float, key: str) -> float:
    """A number of seconds, more than none."""
    if not math.isfinite(value) or value <= 0:
        raise StepError(f"{key} is {value}; it is a number of seconds, more than 0")
    return float(value)


def at_least_one(value: int, key: str) -> None:
    """A whole number of seconds."""
    if value < 1:
        raise StepError(f"{key} is {value}; it is a number of seconds, at least 1")


def without_none(mapping: Mapping[str, Any]) -> Dict[str, Any]:
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
