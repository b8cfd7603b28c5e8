# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many scripts, each lived twice, split over processes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lives.collection import decider
from lives.pool import each
from watcher.collection import parts

from . import by_run, by_watcher
from .causes import Case
from .drawing import drawn
from .known import known
from .milestones import first_difference
from .script import Script
from .story import told


class Verdict(NamedTuple):
    """What came of one seed.

    row: of the known differences; "" where both decided alike
    new: a difference that is none of them, in one line
    story: both lives, where it is new
    """

    seed: int
    row: str
    new: str
    story: str


def compared(script: Script, watched: Script | None = None) -> Case | None:
    """Both lives of a script with their first difference; None where they have none.

    :arg watched: another one for the watcher, to see that the difference is noticed
    """
    run, watcher = by_run.lived(script, decider()), by_watcher.lived(watched or script)
    first = first_difference(run, watcher)
    return Case(script, run, watcher, first) if first else None


def lived(seed: int) -> Verdict:
    """Both lives of a seed. An error of either is for whoever calls."""
    case = compared(drawn(seed))
    if case is None:
        return Verdict(seed, "", "", "")
    row = known(case)
    if row:
        return Verdict(seed, row, "", "")
    return Verdict(seed, "", f"seed {seed}: {case.first}", f"seed {seed}\n{told(case.script, case.both)}")


def live_all(seeds: Iterable[int], jobs: int) -> Iterable[Verdict]:
    """The verdicts on these seeds, in their order."""
    decider()
    parts()
    return each(lived, list(seeds), jobs)
