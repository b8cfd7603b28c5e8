# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of the command line as values."""

import re
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .problems import InvalidInput
from .scenario_reader import read_settings

TEXTS = (  # keys whose value is a text even when it looks like something else
    "body",
    "content_type",
    "default_vm",
    "description",
    "id",
    "location",
    "name",
    "source",
    "start",
    "status_text",
)
NUMBER = re.compile(r"-?\d+(\.\d+)?")
ADDRESS = re.compile(r"(?:http://)?(?:\[([0-9A-Fa-f:.]+)\]|([^:/\[\]]+)):([0-9]{1,5})/?")


def keys(words: Sequence[str]) -> Dict[str, Any]:
    """KEY=VALUE words as a mapping; a key that comes twice becomes a list."""
    found: Dict[str, Any] = {}
    for word in words:
        key, mark, text = word.partition("=")
        if not mark or not key:
            raise InvalidInput(word, "KEY=VALUE is needed")
        value = _value(key, text)
        if key in found:
            found[key] = (found[key] if isinstance(found[key], list) else [found[key]]) + [value]
        else:
            found[key] = value
    return found


def _value(key: str, text: str) -> Any:
    if key not in TEXTS:
        if text in ("true", "false"):
            return text == "true"
        if NUMBER.fullmatch(text):
            return float(text) if "." in text else int(text)
    return text


def without_nothing(**given: Any) -> Dict[str, Any]:
    """Only what was given."""
    return {key: value for key, value in given.items() if value is not None}


def names(text: Optional[str]) -> Optional[List[str]]:
    """A comma-separated list."""
    return None if text is None else [name.strip() for name in text.split(",") if name.strip()]


def settings(words: Sequence[str], option: str) -> Dict[str, Any]:
    """NAME=VALUE words as checked settings; of one that comes twice the last counts."""
    found: Dict[str, Any] = {}
    try:
        for word in words:
            found.update(keys([word]))
        return read_settings(found, "")
    except InvalidInput as problem:
        raise InvalidInput(option, str(problem)) from None


def host_and_port(text: str, option: str) -> Tuple[str, int]:
    """ADDRESS:PORT, an IPv6 address in brackets; or its URL, as other commands take it."""
    found = ADDRESS.fullmatch(text)
    if not found or int(found.group(3)) > 65535:
        raise InvalidInput(option, f"{text!r} is not ADDRESS:PORT")
    return found.group(1) or found.group(2), int(found.group(3))
