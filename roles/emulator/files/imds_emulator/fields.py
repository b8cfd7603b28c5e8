# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading a mapping that a person wrote: each value checked, each error naming its place."""

import difflib
import math
from typing import Any, Dict, Iterable, List, Optional, Sequence, Set

from .problems import InvalidInput

REQUIRED = object()


def at(place: str, key: Any) -> str:
    """The place of a key (or a list's position) below another place."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    return f"{place}.{key}" if place else str(key)


def listed(value: Any, place: str) -> List[Any]:
    """The value, which must be a list."""
    if not isinstance(value, list):
        raise InvalidInput(place, f"a list is needed, not {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    names = {dict: "a mapping", list: "a list", str: "a text", bool: "a yes or no", type(None): "nothing"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else "this")


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """`` (did you mean 'rate_limit'?)``, to be put behind a word that is unknown; "" when no known one is like it."""
    known = {candidate.lower(): candidate for candidate in words}
    close = difflib.get_close_matches(word.lower(), sorted(known), 1)
    return f" (did you mean {known[close[0]]!r}?)" if close else ""


class Fields:
    """One mapping. Every `take` names a known key; `done` refuses the keys that nobody took."""

    def __init__(self, value: Any, place: str = "") -> None:
        if not isinstance(value, dict):
            raise InvalidInput(place, f"a mapping is needed, not {_kind(value)}")
        self._values: Dict[str, Any] = value
        self._known: Set[str] = set()
        self.place = place

    def at(self, key: str) -> str:
        """The place of a key of this mapping."""
        return at(self.place, key)

    def raw(self, key: str, default: Any = None) -> Any:
        """The value as it stands; an absent key and a null are the default."""
        self._known.add(key)
        value = self._values.get(key)
        if value is not None:
            return value
        if default is REQUIRED:
            raise InvalidInput(self.at(key), "missing")
        return default

    def text(self, key: str, default: Any = REQUIRED, choices: Sequence[str] = (), word: bool = False) -> Any:
        """A text; with `choices` one of them in any case; with `word` neither empty nor with blanks."""
        value = self.raw(key, default)
        if value is default:
            return value
        if not isinstance(value, str):
            raise InvalidInput(self.at(key), f"a text is needed, not {_kind(value)}")
        if word and (
            not value or any(letter.isspace() or not letter.isprintable() or letter in "/?#" for letter in value)
        ):
            raise InvalidInput(self.at(key), "a name is needed: not empty, no blanks, none of / ? #")
        if not choices:
            return value
        for choice in choices:
            if value.lower() == choice.lower():
                return choice
        raise InvalidInput(self.at(key), f"{value!r}{did_you_mean(value, choices)} is none of {', '.join(choices)}")

    def number(self, key: str, default: Any, low: float = 0, high: float = 1e9, words: Sequence[str] = ()) -> Any:
        """A number from low to high, or one of some words."""
        value = self.raw(key, default)
        if value is default or (isinstance(value, str) and value in words):
            return value
        return checked_number(value, self.at(key), low, high, words)

    def whole(self, key: str, default: Any, low: int = 0, high: int = 2**31 - 1) -> Any:
        """A whole number from low to high."""
        value = self.number(key, default, low, high)
        if value is not default and value != int(value):
            raise InvalidInput(self.at(key), f"a whole number is needed, not {value!r}")
        return value if value is default else int(value)

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        value = self.raw(key, default)
        if not isinstance(value, bool):
            raise InvalidInput(self.at(key), f"true or false is needed, not {_kind(value)}")
        return value

    def texts(self, key: str, default: Optional[Sequence[str]] = ()) -> Any:
        """A list of texts; one text alone will do."""
        value = self.raw(key, default)
        if value is default:
            return default if default is None else list(default)
        if isinstance(value, str):
            return [value]
        for position, item in enumerate(listed(value, self.at(key))):
            if not isinstance(item, str):
                raise InvalidInput(at(self.at(key), position), f"a text is needed, not {_kind(item)}")
        return list(value)

    def done(self) -> None:
        """Refuse what nobody asked for."""
        unknown = sorted(str(key) for key in set(self._values) - self._known)
        if unknown:
            meant = did_you_mean(unknown[0], self._known)
            raise InvalidInput(self.at(unknown[0]), f"unknown key{meant}; known here: {', '.join(sorted(self._known))}")


def checked_number(value: Any, place: str, low: float, high: float, words: Sequence[str] = ()) -> Any:
    """The number, within its bounds."""
    also = f" or {' or '.join(words)}" if words else ""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InvalidInput(place, f"a number{also} is needed, not {value!r}")
    if not low <= value <= high:
        raise InvalidInput(place, f"{value!r} is not between {low:g} and {high:g}{also}")
    return value
