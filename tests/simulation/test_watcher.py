# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Seeded lives of watchers hold to the rules; and planted faults are seen."""

from __future__ import annotations

import os

import pytest
from watcher.many import counted, live_all
from watcher.planted import FAULTS

SEEDS = int(os.environ.get("SIMULATION_SEEDS", "2000"))
FIRST = int(os.environ.get("SIMULATION_FIRST", "0"))
JOBS = int(os.environ.get("SIMULATION_JOBS") or os.cpu_count() or 1)


def test_no_life_breaks_a_rule() -> None:
    failed = [verdict for verdict in live_all(range(FIRST, FIRST + SEEDS), JOBS) if verdict.wrong]
    stories = sorted((verdict.story for verdict in failed), key=len)[:3]
    if failed:
        pytest.fail("\n\n".join([f"{len(failed)} of {SEEDS} lives: {counted(failed)}", *stories]), pytrace=False)


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_planted_fault_is_seen(fault: str) -> None:
    wanted = FAULTS[fault]
    for verdict in live_all(range(3000), JOBS, fault):
        if any(sentence.startswith(wanted.rule + ":") for sentence in verdict.wrong):
            return
    raise AssertionError(f"3,000 lives did not show that {wanted.words}, by the rule {wanted.rule!r}")
