# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many lives, split over processes."""

from __future__ import annotations

import collections
from collections.abc import Iterable

from .collection import decider
from .life import Verdict, lived
from .planted import FAULTS, LIVES, planted
from .pool import each
from .scenarios import SCENARIOS

APART = 10  # every so many seeds live a scenario, too


def _live(job: tuple[int, str, str]) -> Verdict:
    seed, scenario, fault = job
    with planted(fault):
        return lived(seed, decider(), scenario)


def live_all(seeds: Iterable[int], jobs: int, fault: str = "", scenario: str | None = None) -> Iterable[Verdict]:
    """The verdicts on these seeds, in their order.

    :arg fault: one of planted.py's, to see it caught
    :arg scenario: the one that all of them live, "" for none; None for what is drawn and, by turns, the scenarios
    """
    work = [(seed, one, fault) for seed in seeds for one in (_scenarios(seed) if scenario is None else [scenario])]
    return lived_all(work, jobs)


def lived_all(work: list[tuple[int, str, str]], jobs: int) -> Iterable[Verdict]:
    """The verdicts on these lives: of each its seed, scenario, and planted fault."""
    decider()  # what is to be changed has to be there
    return each(_live, work, jobs)


def _scenarios(seed: int) -> list[str]:
    names = sorted(SCENARIOS)
    return [""] if seed % APART else ["", names[seed // APART % len(names)]]


def seen(fault: str) -> str:
    """The life that shows a planted fault, of the first 500: the one that is known to show it comes first. "" where none does."""
    wanted = FAULTS[fault]
    seeds = [*range(wanted.seed, LIVES), *range(wanted.seed)]
    for verdict in live_all(seeds, 1, fault, wanted.scenario):
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
