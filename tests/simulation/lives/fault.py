# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planted fault is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Fault(NamedTuple):
    """What is changed: file (of the deciding, of another room, or of this package) and name, and what stands there instead."""

    rule: str  # of the oracle, which sees it
    words: str
    # A file of _fleet, or with the way there; a method by its class and name
    changes: list[tuple[str, str, Callable[[Any], Any]]]
    seed: int = 0  # that is known to show it
    scenario: str = ""  # that shows it; "" where the lives in which everything is drawn do


def always(value: Any) -> Callable[[Any], Any]:
    return lambda _real: lambda *_args, **_kwargs: value
