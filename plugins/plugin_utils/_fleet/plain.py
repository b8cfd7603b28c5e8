# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of a run as plain data, for a file, and back: by the types of its fields. Pure.

Private to this collection.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any

from ...module_utils._events.hours import Hours, hours_of


def to_plain(value: Any) -> Any:
    """Mappings, lists, texts and numbers."""
    if isinstance(value, Hours):
        return dict(value.as_rule())
    if dataclasses.is_dataclass(value):
        return {one.name: to_plain(getattr(value, one.name)) for one in dataclasses.fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: to_plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, Mapping):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [to_plain(one) for one in value]
    return value


def from_plain(kind: Any, data: Any) -> Any:
    """What :func:`to_plain` has made plain.

    :arg kind: the type that it was
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if data is None or kind is Any:
        return data
    if origin in (typing.Union, types.UnionType):  # of something and None
        return from_plain(next(one for one in inner if one is not types.NoneType), data)
    if kind is Hours:
        return hours_of(data)
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        hints = _hints(kind)
        return kind(**{name: from_plain(hints[name], one) for name, one in data.items()})
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: from_plain(inner[1], one) for key, one in data.items()}
    if origin in (list, tuple, frozenset):
        return origin(from_plain(inner[0], one) for one in data)
    return data


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)
