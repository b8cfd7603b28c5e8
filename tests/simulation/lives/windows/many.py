# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many lives with Windows machines: drawn ones, and by turns those that lead up to a situation."""

from __future__ import annotations

from collections.abc import Iterable

from .. import many
from ..fleet import WINDOWS
from ..life import Verdict
from .scenarios import SCENARIOS

APART = 2  # every so many seeds live another scenario than that in which most goes wrong
TROUBLED = "windows-troubled"

counted = many.counted


def live_all(seeds: Iterable[int], jobs: int, fault: str = "") -> Iterable[Verdict]:
    """The verdicts on these seeds, in their order."""
    names = sorted(SCENARIOS)
    work = [(seed, one, fault) for seed in seeds for one in _scenarios(seed, names)]
    return many.lived_all(work, jobs)


def _scenarios(seed: int, names: list[str]) -> list[str]:
    return [WINDOWS, TROUBLED] if seed % APART else [WINDOWS, names[seed // APART % len(names)]]
