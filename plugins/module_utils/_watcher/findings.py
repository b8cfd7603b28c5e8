# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Findings for people and for programs.

Private to this collection.
"""

import textwrap
from typing import Any, Dict, List, Sequence

from .._text import one_line
from .checks.finding import FAIL, OK, WARN, Finding
from .surroundings import WIDTH, Surroundings

_BEFORE = 18


def lines_of(finding: Finding) -> List[str]:
    """``FAIL  route      no route leads to ...``, and below it what to do."""
    state = finding.state if finding.state == OK else finding.state.upper()
    begin = f"{state:<5} {one_line(finding.what):<11} "
    below = " " * _BEFORE
    words = begin + one_line(finding.words, 2000)
    found = textwrap.wrap(words, WIDTH, subsequent_indent=below, break_on_hyphens=False)
    if finding.advice:
        found += textwrap.wrap(
            f"-> {one_line(finding.advice, 1000)}",
            WIDTH,
            initial_indent=below,
            subsequent_indent=below + "   ",
            break_on_hyphens=False,
        )
    return found


def show(here: Surroundings, findings: Sequence[Finding]) -> None:
    for finding in findings:
        for line in lines_of(finding):
            here.say(line)
    counts = {state: sum(finding.state == state for finding in findings) for state in (FAIL, WARN)}
    if not any(counts.values()):
        here.say("Nothing is wrong.")
    else:
        here.say(f"{counts[FAIL]} wrong, {counts[WARN]} to look at.")


def as_json(findings: Sequence[Finding]) -> List[Dict[str, Any]]:
    return [{"state": one.state, "what": one.what, "words": one.words, "advice": one.advice} for one in findings]
