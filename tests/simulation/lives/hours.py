# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hours of a policy: drawn in seconds of a life, so that the oracle needs no clock on a wall to know when they are open."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

BEGAN = 8 * 60  # every life begins on a Friday at 08:00 UTC: the minute of that day

Spans = list[tuple[float, float]]


def drawn(chance: random.Random, hosts: Iterable[str]) -> dict[str, Spans]:
    """When things may be done early, by host, for those that have hours: in most lives nobody."""
    if chance.random() > 0.2:
        return {}
    spans = _spans(chance)
    alike = chance.random() < 0.7
    return {host: spans if alike else _spans(chance) for host in hosts if alike or chance.random() < 0.6}


def _spans(chance: random.Random) -> Spans:
    begins = [chance.randint(-1, 4)]
    begins += [begins[0] + chance.randint(3, 8)] if chance.random() < 0.4 else []
    return [(60.0 * minute, 60.0 * (minute + chance.randint(1, 3))) for minute in begins]


def as_rule(chance: random.Random, spans: Spans) -> dict[str, Any]:
    """The same as users write it, by the clock of some zone."""
    zone, offset = chance.choice((("UTC", 0), ("+02:00", 120), ("-09:30", -570), ("+14:00", 840)))
    minutes = [[BEGAN + offset + int(second) // 60 for second in span] for span in spans]
    texts = [f"{_clock(begin)}-{_clock(end)}" for begin, end in minutes]
    rule = {"hours": texts if len(texts) > 1 else texts[0], "zone": zone}
    if chance.random() < 0.3:  # where it is yesterday: no zone of these begins on another day than its hours do
        rule["weekdays"] = ["thu" if minutes[0][0] < 0 else "fri"]
    return rule


def _clock(minute: int) -> str:
    return f"{minute // 60 % 24:02d}:{minute % 60:02d}"
