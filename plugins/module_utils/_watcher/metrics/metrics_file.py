# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of the watcher's metrics, for the health endpoint and for node_exporter's textfile collector; and the counts, kept over a restart.

Private to this collection.

::

    metrics.prom           in the folder of what a boot clears: everybody may read it
    metrics-counters.json  there, too: the counts, for a watcher that is restarted

Both are replaced whole. They are written at once when something has changed, else every half minute, so that an idle watcher costs next to nothing.
"""

import os
from typing import Any, Dict, Optional, Tuple

from ..._clock import Clock, unix_time
from ..._core.mark_view import OURS
from ..._machine.files import StateFile, Unreadable
from ..._machine.platform import native
from ..engine.actions import Say
from ..engine.facts import Facts
from ..engine.snapshot import own_mark
from ..health.state_files import METRICS
from ..reports.report_queue import count_waiting
from .families import families, rendered
from .values import Counters, Gauges, gauges_of, last_poll, unpacked

COUNTERS = "metrics-counters.json"
EVERY = 30.0
"""Seconds between two files in which nothing but the time of the last poll and the number of waiting reports is another one. The loop ticks
every five seconds, so they are up to 40 seconds late."""


class MetricsFile:
    """The file of one watcher.

    :arg run_folder: of what a boot clears
    :arg folder: of the state, with the reports that wait
    :arg version: of the collection

    problem: why it could not be written the last time
    """

    def __init__(self, run_folder: str, folder: str, version: str, clock: Clock) -> None:
        self._path = os.path.join(run_folder, METRICS)
        self._counters_file = StateFile(os.path.join(run_folder, COUNTERS))
        self._folder = folder
        self._version = version
        self._clock = clock
        self._counters: Optional[Counters] = None
        self._kept: Dict[str, Any] = {}
        self._written: Optional[Tuple[Gauges, Dict[str, Any]]] = None
        self._at = 0.0
        self.problem = ""

    def take_report(self, say: Say, boot_id: str) -> None:
        """Something is reported."""
        self._of_boot(boot_id).take_report(say, self._clock.wall())

    def publish(self, facts: Facts) -> None:
        """Have this in the file."""
        counters = self._of_boot(facts.moment.boot_id)
        mark = own_mark(facts)
        if facts.mark and mark.owner == OURS:
            counters.follow(mark, unix_time(mark.since) or facts.moment.wall, facts.mark["steps"])
        gauges, kept = gauges_of(facts, self._version), counters.packed()
        try:
            if kept != self._kept:
                self._counters_file.replace_unsynced(dict(kept, boot_id=facts.moment.boot_id))
                self._kept = kept
            if (gauges, kept) == self._written and self._clock.now() - self._at < EVERY:
                return
            text = rendered(families(gauges, counters, last_poll(facts), count_waiting(self._folder)))
            self._write(text)
        except FileNotFoundError:  # the folder is not there (yet), so nobody looks into it
            return
        except OSError as error:
            self.problem = f"{self._path} can't be written: {error.strerror}"
        else:
            self._written, self.problem = (gauges, kept), ""
        self._at = self._clock.now()

    def _of_boot(self, boot_id: str) -> Counters:
        """The counts, which a watcher before this one may have begun."""
        if self._counters is None:
            try:
                found = self._counters_file.read()
            except Unreadable:
                found = None
            self._counters = unpacked(found if found and found.get("boot_id") == boot_id else None)
        return self._counters

    def _write(self, text: str) -> None:
        temporary = f"{self._path}.new"
        # Not synced: it is not to outlive a power cut.
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:  # Prometheus takes no other end of a line
            file.write(text)
        native.show_everybody(temporary)
        native.replace(temporary, self._path)
