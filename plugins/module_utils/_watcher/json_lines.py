# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where in a text of JSON everything stands, so that a person finds what is to be corrected. Pure.

Private to this collection.
"""

import json
import re
from json.decoder import scanstring
from typing import Any, Dict, List, NamedTuple, Tuple

from .._text import one_line

Path = Tuple[Any, ...]
"""The names and positions that lead to a value from the outside in; () for the whole."""

_BLANK = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class NotJson(ValueError):
    """It is no JSON; the message says why, with line and column."""


class Place(NamedTuple):
    """Both count from 1."""

    line: int
    column: int

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}"


class Read(NamedTuple):
    """A text of JSON, read.

    places: of each value; of those in an object, where the name stands
    repeated: names that an object has more than once, which would hide all but the last
    """

    value: Any
    places: Dict[Path, Place]
    repeated: List[Path]


def read_json(text: str) -> Read:
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
    return Read(value, walk.places, walk.repeated)


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
                name, colon = scanstring(self._text, at + 1)
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
