# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many lives, split over processes, each with its verdict."""

from __future__ import annotations

import collections
import traceback
from collections.abc import Iterable
from typing import NamedTuple

from lives.pool import each

from .collection import parts
from .life import Life
from .oracle import judged
from .planted import FAULTS, LIVES, planted
from .story import told


class Verdict(NamedTuple):
    life: str  # its seed
    wrong: list[str]  # sentences: which rule was broken, when, by whom
    story: str


def lived(seed: int, with_story: bool = False, mixed: bool = False) -> Verdict:
    """Live one life and judge it. Whatever the handling raises is wrong, too."""
    life = Life(seed, mixed)
    try:
        life.live()
        wrong = _few_of_each(judged(life))
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        wrong = [f"crash: {type(error).__name__}: {error} ({frame.filename.rsplit('/', 1)[-1]}:{frame.lineno})"]
    return Verdict(f"{seed}{' mixed' if mixed else ''}", wrong, told(life, wrong) if wrong or with_story else "")


def _few_of_each(wrong: list[str]) -> list[str]:
    """A rule that is broken is broken again and again: the first two times tell enough."""
    seen: collections.Counter[str] = collections.Counter()
    kept = []
    for sentence in wrong:
        rule = sentence.split(":")[0]
        seen[rule] += 1
        kept += [sentence] if seen[rule] <= 2 else []
    return kept


def _live(job: tuple[int, str, bool]) -> Verdict:
    seed, fault, mixed = job
    with planted(fault):
        return lived(seed, mixed=mixed)


def live_all(seeds: Iterable[int], jobs: int, fault: str = "", mixed: bool = False) -> Iterable[Verdict]:
    """The verdicts on these seeds, in their order.

    :arg fault: one of planted.py's, to see it caught
    :arg mixed: whether some machines, or all, run Windows
    """
    parts()  # what is to be changed has to be there
    return each(_live, [(seed, fault, mixed) for seed in seeds], jobs)


def seen(fault: str) -> str:
    """The life that shows a planted fault, of the first 500: the one that is known to show it comes first. "" where none does."""
    wanted = FAULTS[fault]
    for verdict in live_all([*range(wanted.seed, LIVES), *range(wanted.seed)], 1, fault, wanted.mixed):
        if any(sentence.startswith(f"{wanted.rule}:") for sentence in verdict.wrong):
            return verdict.life
    return ""


def counted(verdicts: Iterable[Verdict]) -> dict[str, list[str]]:
    """The lives in which each rule was broken."""
    found: dict[str, list[str]] = collections.defaultdict(list)
    for verdict in verdicts:
        for rule in dict.fromkeys(sentence.split(":")[0] for sentence in verdict.wrong):
            found[rule].append(verdict.life)
    return dict(found)
