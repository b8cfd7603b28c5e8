# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""JSON of somebody else: read so that nothing in it can do harm, or get lost without a word.

Private to this collection.
"""

import collections
import json
import math
import re
import sys
from typing import Any, Dict, FrozenSet, List, Tuple

# A document is four levels deep. What is deeper than this was made to hurt whoever has to print it.
_MAX_DEPTH = 50

# Longer integers may not fit 64 bits, and Python 3.11 and up refuse to read or print the very long ones.
_MAX_DIGITS = 18

_HALF_A_PAIR = re.compile("[\ud800-\udfff]")


class JsonObject(Dict[str, Any]):
    """An object, which knows what it had more than once: a dictionary keeps the last one only.

    repeated: names in lower case; those that differ in the case of letters alone count as the same
    """

    repeated: FrozenSet[str] = frozenset()


def parse_json(body: bytes) -> Any:
    """The value that the body stands for.

    :raises ValueError: with what is wrong with it, for a person
    """
    try:
        # Names and ids are ASCII. A byte that is no UTF-8 must not hide what stands beside it.
        text = body.decode("utf-8-sig", "replace")
        # strict=False lets raw control characters in strings pass: real descriptions had some.
        value = json.loads(
            text, strict=False, parse_int=_integer, parse_constant=_no_number, object_pairs_hook=_json_object
        )
        return _storable(value)
    except RecursionError:
        problem = "it is nested too deeply"
    except ValueError as exc:
        problem = f"it is not JSON ({exc})"
    raise ValueError(problem)


def kind_of(value: Any) -> str:
    """What a value of JSON is called."""
    if value is None:
        return "null"
    for kind, called in _KINDS:
        if isinstance(value, kind):
            return called
    raise TypeError(type(value))


_KINDS = (
    (bool, "a boolean"),  # before the numbers: Python counts it among them
    (str, "a string"),
    ((int, float), "a number"),
    (list, "a list"),
    (dict, "an object"),
)


def _json_object(pairs: List[Tuple[str, Any]]) -> JsonObject:
    found = JsonObject(pairs)
    counted = collections.Counter(name.lower() for name, _value in pairs)
    if len(counted) < len(pairs):
        found.repeated = frozenset(name for name, count in counted.items() if count > 1)
    return found


def _integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MAX_DIGITS else float(digits)


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a number")


def _storable(value: Any, depth: int = 0) -> Any:
    """The value, such that it can be written to a file and a module's result without a surprise."""
    if depth > _MAX_DEPTH:
        raise RecursionError()
    if isinstance(value, str):  # half a surrogate pair ("\ud83d") can't be encoded
        return _HALF_A_PAIR.sub("\ufffd", value)
    if isinstance(value, list):
        return [_storable(item, depth + 1) for item in value]
    if isinstance(value, JsonObject):
        found = JsonObject((_storable(name), _storable(item, depth + 1)) for name, item in value.items())
        found.repeated = value.repeated
        return found
    if isinstance(value, float) and math.isinf(value):  # 1e999; JSON has no word for infinity
        return math.copysign(sys.float_info.max, value)
    return value
