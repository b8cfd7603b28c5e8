# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a value of the settings can't be used, and where it stands in them; and what all checks of values share. Pure.

Private to this collection.
"""

import math
from typing import Any, Callable, Dict, List, Sequence, Tuple

from ..._text import did_you_mean, one_line, shown

Path = Tuple[Any, ...]
"""The names and positions that lead to a value from the outside in; () for the whole."""


class Refused(Exception):
    """A value that can't be used: why, as a clause that follows its name (``must be true or false``); and where in the value, () for the whole."""

    def __init__(self, words: str, path: Path = ()) -> None:
        super().__init__(f"{named(path)} {words}" if path else words)
        self.words = words
        self.path = path


def named(path: Path) -> str:
    """``reports[1].url``: positions count from 1, as people do."""
    words = [f"[{part + 1}]" if isinstance(part, int) else f".{one_line(part, 80) or shown(part)}" for part in path]
    return "".join(words).lstrip(".") or "the whole file"


def within(name: Any, check: Callable[..., Any], *arguments: Any) -> Any:
    """What a check returns; what is wrong is said of that name, or position."""
    try:
        return check(*arguments)
    except Refused as error:
        raise Refused(error.words, (name, *error.path)) from error


def object_of(value: Any, names: Sequence[str] = ()) -> Dict[str, Any]:
    """:arg names: the keys that it may have; () for any"""
    if not isinstance(value, dict):
        raise Refused(f"must be an object, such as {{}}, not {shown(value)}")
    for name in value:
        if names and name not in names:
            raise unknown_key(name, names)
    return dict(value)


def unknown_key(name: Any, names: Sequence[str]) -> Refused:
    """What is said of a key that an object does not take."""
    known = ", ".join(sorted(names))
    return Refused(f"is no key that is known here{did_you_mean(name, names)}: there are {known}", (name,))


def list_of(value: Any) -> List[Any]:
    if not isinstance(value, list):
        raise Refused(f"must be a list, not {shown(value)}")
    return value


def number_of(value: Any, unit: str, least: float, most: float) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not is_number or not least <= value <= most:
        raise Refused(f"must be a number of {unit} from {least:g} to {most:.15g}, not {shown(value)}")
    return float(value)
