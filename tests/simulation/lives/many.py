# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many lives, split over processes."""

from __future__ import annotations

import collections
import multiprocessing
from collections.abc import Iterable, Sequence

from .collection import decider
from .life import Verdict, lived
from .planted import planted


def _live(job: tuple[int, str]) -> Verdict:
    seed, fault = job
    decider()  # what is to be changed has to be there
    with planted(fault):
        return lived(seed, decider())


def live_all(seeds: Sequence[int], jobs: int, fault: str = "") -> Iterable[Verdict]:
    """The verdicts on these seeds, in their order.

    :arg fault: one of planted.py's, to see it caught
    """
    work = [(seed, fault) for seed in seeds]
    if jobs < 2:
        yield from map(_live, work)
        return
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap(_live, work, chunksize=10)


def counted(verdicts: Iterable[Verdict]) -> dict[str, list[int]]:
    """The seeds in which each rule was broken."""
    found: dict[str, list[int]] = collections.defaultdict(list)
    for verdict in verdicts:
        for rule in dict.fromkeys(sentence.split(":")[0] for sentence in verdict.wrong):
            found[rule].append(verdict.seed)
    return dict(found)
