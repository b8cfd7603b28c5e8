# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What ``status`` and ``doctor`` see of the watcher's metrics: the file, and what the health endpoint gives to Prometheus.

Private to this collection.
"""

import os
from typing import Any, Callable, Dict, List, NamedTuple, Optional

from ..host.this_host import HOST
from .check_report import FAIL, OK, WARN, Finding

STALE = 120.0
"""Seconds after which a watcher that runs should have written its metrics again: it does every half minute."""


class MetricsView(NamedTuple):
    """The file, as it is."""

    path: str
    age: Optional[float] = None  # seconds since it was written; None where it can't be seen
    problem: str = ""  # why it can't be; "" when it can

    @property
    def is_stale(self) -> bool:
        return self.age is not None and self.age > STALE


def metrics_view(published: Optional[Dict[str, Any]], wall: float) -> Optional[MetricsView]:
    """None where no watcher has said where it writes them.

    :arg published: what it last said of itself
    :arg wall: Unix time
    """
    path = (published or {}).get("metrics")
    if not isinstance(path, str):
        return None
    try:
        return MetricsView(path, wall - os.stat(path).st_mtime)
    except FileNotFoundError:
        return MetricsView(path, problem="not there")
    except OSError as error:
        return MetricsView(path, problem=str(error.strerror))


def check_metrics(
    view: Optional[MetricsView], is_running: bool, addresses: List[str], problem_of: Callable[[str], str]
) -> List[Finding]:
    """:arg is_running: whether the watcher is there
    :arg addresses: of the health endpoint
    :arg problem_of: asks one of them for metrics
    """
    if view is None:
        return []
    found = [_file(view, is_running)]
    for address in addresses:
        problem = problem_of(address)
        words = f"http://{address}/metrics"
        if problem and not view.problem:
            found.append(Finding(FAIL, "metrics", f"{words}: {problem}", HOST.restart(HOST.health.name)))
        elif not problem:
            found.append(Finding(OK, "metrics", f"{words} answers"))
    return found


def _file(view: MetricsView, is_running: bool) -> Finding:
    if view.problem:
        words = f"{view.path} can't be seen: {view.problem}. Prometheus gets nothing of this machine"
        return Finding(FAIL if is_running else WARN, "metrics", words, HOST.log_end() if is_running else HOST.start())
    seconds = max(0.0, view.age or 0.0)
    words = f"{view.path}, written {seconds:.0f} s ago"
    if not view.is_stale:
        return Finding(OK, "metrics", words)
    if not is_running:
        return Finding(WARN, "metrics", f"{words}: the watcher does not run", HOST.start())
    return Finding(FAIL, "metrics", f"{words}, and it should be every half minute", HOST.log_end())
