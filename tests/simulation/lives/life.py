# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One seed from its beginning to the verdict."""

from __future__ import annotations

import traceback
from typing import NamedTuple

from .driver import Decider
from .fleet import Fleet
from .oracle import judged
from .story import told


class Verdict(NamedTuple):
    life: str  # its seed, and its scenario where it has one
    wrong: list[str]  # sentences: which rule was broken, when, by whom
    story: str


def lived(seed: int, decider: Decider, scenario: str = "", with_story: bool = False) -> Verdict:
    """Live one life and judge it. Whatever the decider raises is wrong, too."""
    fleet = Fleet(seed, decider, scenario)
    try:
        fleet.live()
        wrong = _few_of_each(judged(fleet))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        wrong = [f"crash: {type(error).__name__}: {error} ({frame.filename.rsplit('/', 1)[-1]}:{frame.lineno})"]
    return Verdict(f"{seed} {scenario}".strip(), wrong, told(fleet, wrong) if wrong or with_story else "")


def _few_of_each(wrong: list[str]) -> list[str]:
    """A rule that is broken is broken again and again: the first two times tell enough."""
    kept: list[str] = []
    for sentence in wrong:
        if sum(other.split(":")[0] == sentence.split(":")[0] for other in kept) < 2:
            kept.append(sentence)
    return kept
