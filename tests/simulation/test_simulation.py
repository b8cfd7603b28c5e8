# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded lives of whole fleets, and of watchers, hold to the rules; and each planted fault is seen."""

from __future__ import annotations

import os

import lives.many
import lives.planted
import lives.windows.many
import pytest
import watcher.many
import watcher.planted
from lives.fleet import MIXED

SEEDS = int(os.environ.get("SIMULATION_SEEDS", "600"))
FIRST = int(os.environ.get("SIMULATION_FIRST", "0"))
JOBS = int(os.environ.get("SIMULATION_JOBS") or os.cpu_count() or 1)
PART = 100  # seeds of one test: the lane's log has to grow while they are lived


def parts(seeds: int) -> list[range]:
    return [range(first, min(first + PART, FIRST + seeds)) for first in range(FIRST, FIRST + seeds, PART)]


PARTS = parts(SEEDS)
WINDOWS = parts(SEEDS // 3)  # with Windows machines: these lives take longer
LIVES = [(lives, {}, part, f"maintain-{part.start}") for part in PARTS]
LIVES += [(lives.windows, {}, part, f"windows-{part.start}") for part in WINDOWS]
LIVES += [(lives, {"scenario": MIXED}, part, f"mixed-{part.start}") for part in parts(SEEDS // 5)]
LIVES += [(watcher, {}, part, f"watcher-{part.start}") for part in PARTS]
LIVES += [(watcher, {"mixed": True}, part, f"watcher-mixed-{part.start}") for part in WINDOWS]


@pytest.mark.parametrize("simulation, options, seeds", [pytest.param(*one, id=name) for *one, name in LIVES])
def test_no_life_breaks_a_rule(simulation, options: dict, seeds: range) -> None:
    failed = [verdict for verdict in simulation.many.live_all(seeds, JOBS, **options) if verdict.wrong]
    stories = sorted((verdict.story for verdict in failed), key=len)[:3]
    if failed:
        found = simulation.many.counted(failed)
        pytest.fail("\n\n".join([f"{len(failed)} of {len(seeds)} lives: {found}", *stories]), pytrace=False)


def planted(simulation, name: str) -> list:
    return [pytest.param(simulation, fault, id=f"{name}-{fault}") for fault in sorted(simulation.planted.FAULTS)]


@pytest.mark.parametrize("simulation, fault", planted(lives, "maintain") + planted(watcher, "watcher"))
def test_a_planted_fault_is_seen(simulation, fault: str) -> None:
    wanted = simulation.planted.FAULTS[fault]
    assert simulation.many.seen(fault), (
        f"{simulation.planted.LIVES} lives did not show that {wanted.words}, by the rule {wanted.rule!r}"
    )
