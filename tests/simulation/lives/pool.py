# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lives split over processes."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Job = TypeVar("Job")
Verdict = TypeVar("Verdict")

CHUNK = 10  # lives that a process is handed at once


def each(live: Callable[[Job], Verdict], work: Sequence[Job], jobs: int) -> Iterable[Verdict]:
    """The verdicts in the order of the work.

    Whoever calls has imported what is tried: else each of the processes would do it, at every call.
    """
    if jobs < 2:
        yield from map(live, work)
        return
    gc.freeze()  # or each process would go through all that is there already, and copy its pages by that
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        yield from pool.imap(live, work, chunksize=CHUNK)
