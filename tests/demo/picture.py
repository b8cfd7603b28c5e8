#!/usr/bin/env python
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The picture in README, drawn from what a run has measured:

make demo && python tests/demo/picture.py build/demo/result.json > docs/maintenance.svg
"""

import datetime
import json
import sys
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, LANE = 920, 150, 20, 64, 66
SERVES, BUSY, OUT, WAITS = "#2e7d32", "#f9a825", "#757575", "#1565c0"


class Span(NamedTuple):
    lane: int
    begins: float
    ends: float
    color: str
    words: str


def seconds(moment: str) -> float:
    return datetime.datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()


def picture(result: dict[str, Any]) -> str:
    """The first event of a run for which one machine was prepared."""
    event = next(one for one in result["events"] if len(one["prepared"]) == 1 and one["type"] == "Reboot")
    ((host, prepared),) = event["prepared"].items()
    recovered = event["recovered"][host]
    shown, started, gone = (seconds(event[key]) for key in ("shown", "started", "gone"))
    ready, back = seconds(prepared["at"]), seconds(recovered["at"])
    first, last = shown - 4, back + 6
    spans = [
        Span(0, shown, started, WAITS, "Reboot is scheduled"),
        Span(0, started, gone, OUT, "Reboot has started"),
        Span(1, first, ready - prepared["seconds"], SERVES, "in service"),
        Span(1, ready - prepared["seconds"], ready, BUSY, "drains"),
        Span(1, ready, back - recovered["seconds"], OUT, "out of service, reboots"),
        Span(1, back - recovered["seconds"], back, BUSY, "recovers"),
        Span(1, back, last, SERVES, "in service"),
        Span(2, first, last, SERVES, "in service: visitors are served without an error"),
    ]
    scale = (WIDTH - LEFT - RIGHT) / (last - first)
    marks = [(shown, "announced"), (started, "all is ready: approved"), (gone, "over")]
    lanes = ("Azure", host, "the others")
    height = TOP + LANE * len(lanes) + 34
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="15">',
        "<title>One maintenance: a machine is drained, Azure reboots it, and it is recovered</title>",
        f'<rect width="{WIDTH}" height="{height}" rx="8" fill="#ffffff" stroke="#d0d7de"/>',
    ]
    for number, name in enumerate(lanes):
        lines.append(
            f'<text x="16" y="{TOP + LANE * number + 31}" font-weight="bold" fill="#1f2328">{escape(name)}</text>'
        )
    for span in spans:
        lines += drawn(span, LEFT + (span.begins - first) * scale, (span.ends - span.begins) * scale)
    for moment, words in marks:
        x = LEFT + (moment - first) * scale
        lines.append(f'<path d="M{x:.1f} 46V{height - 34}" stroke="#1f2328" stroke-dasharray="3 3"/>')
        lines.append(f'<text x="{x:.1f}" y="38" text-anchor="middle" fill="#1f2328">{escape(words)}</text>')
        lines.append(
            f'<text x="{x:.1f}" y="{height - 14}" text-anchor="middle" fill="#57606a">{moment - shown:.0f} s</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def drawn(span: Span, x: float, width: float) -> list[str]:
    y = TOP + LANE * span.lane + 6
    box = f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="40" rx="4" fill="{span.color}"/>'
    dark = "#1f2328" if span.color == BUSY else "#ffffff"
    words = f'<text x="{x + width / 2:.1f}" y="{y + 25}" text-anchor="middle" font-size="13" fill="{dark}">{escape(span.words)}</text>'
    return [box, words]


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        sys.stdout.write(picture(json.load(file)))
