# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of the watcher's metrics, for the health endpoint and for node_exporter's textfile collector: a table of the metrics, as text in the
format that Prometheus and node_exporter read.

Private to this collection.

The file is in the folder of what a boot clears, and everybody may read it. It is replaced whole, at once when something has changed, else every
half minute, so that an idle watcher costs next to nothing.

``docs/docsite/rst/metrics.rst`` says what the metrics mean for those who read them. Names are an interface: rules and dashboards of users go
by them.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (text-based format, version 0.0.4). No sample has a timestamp: node_exporter's
textfile collector refuses files with timestamps, and Prometheus would keep an old value for five minutes longer.
"""

import itertools
import os
from typing import Iterable, List, Mapping, NamedTuple, Tuple

from ..._clock import Clock, unix_time
from ..._core.mark_view import OURS
from ..._machine.platform import native
from ..engine.interface import Facts, Say
from ..engine.snapshot import note_of, own_mark
from ..health.machine_state import METRICS
from ..reports.report_queue import count_waiting
from .values import BOUNDS, IN_SERVICE, PHASES, Counters, Gauges, counted, gauges_of, last_poll

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"


class Family(NamedTuple):
    """All samples of one name. Nothing in them is from the wire: nothing needs to be quoted."""

    name: str
    kind: str
    help: str
    samples: Mapping[str, float]  # by what follows the name


def families(gauges: Gauges, counters: Counters, last_poll: int, reports_waiting: int) -> List[Family]:
    """All of them, always with the same samples but for the values of ``watcher_info``.

    :arg last_poll: Unix time of the last document; 0 before the first one
    :arg reports_waiting: reports that were not sent yet
    """
    phases = {_labels(phase=phase): phase == gauges.phase for phase in PHASES}
    events = {_labels(type=kind, status=status): count for (kind, status), count in counted(gauges.events).items()}
    outages = {_labels(outcome=outcome): count for outcome, count in counters.outages.items()}
    up_to = itertools.accumulate(counters.buckets)
    seconds = {f"_bucket{_labels(le=bound)}": count for bound, count in zip([*map(str, BOUNDS), "+Inf"], up_to)}
    seconds.update(_sum=counters.seconds, _count=sum(counters.buckets))
    table: Tuple[Tuple[str, str, str, Mapping[str, float]], ...] = (
        ("watcher_info", GAUGE, _INFO, {_labels(version=gauges.version, mode=gauges.mode): 1}),
        ("imds_up", GAUGE, _UP, {"": gauges.imds_up}),
        ("last_poll_timestamp_seconds", GAUGE, _LAST_POLL, {"": last_poll}),
        ("out_of_service", GAUGE, _OUT, {"": gauges.phase != IN_SERVICE}),
        ("phase", GAUGE, _PHASE, phases),
        ("event", GAUGE, "Scheduled events that list this machine, by type and status.", events),
        ("event_not_before_timestamp_seconds", GAUGE, _NOT_BEFORE, {"": int(gauges.not_before)}),
        ("approvals_held", GAUGE, "Whether approvals are on hold (1) or not (0).", {"": gauges.approvals_held}),
        ("outages_total", COUNTER, "Outages that this watcher has handled since it was started, by outcome.", outages),
        ("outage_seconds", HISTOGRAM, _SECONDS, seconds),
        ("hook_failures_total", COUNTER, _HOOKS, {"": counters.hook_failures}),
        ("reports_waiting", GAUGE, "Reports that wait to be sent, up to 40 seconds late.", {"": reports_waiting}),
        ("degraded", GAUGE, _DEGRADED, {"": gauges.degraded}),
    )
    return [Family(f"azure_maintenance_{name}", kind, words, samples) for name, kind, words, samples in table]


_INFO = "Version of the collection and mode (manage or observe) of the watcher. Always 1."
_UP = "Whether the instance metadata service answered the last poll (1) or not (0)."
_LAST_POLL = "Unix time of the last answer with the scheduled events, up to 40 seconds late; 0 before the first one."
_OUT = "Whether the machine has a maintenance mark: it is out of service, or on its way there or back."
_PHASE = "Phase of the machine by its maintenance mark: 1 for the one that it is in, 0 for the others."
_NOT_BEFORE = "Unix time before which the first event that is Scheduled for this machine does not start; 0 without one."
_SECONDS = "Seconds for which the machine was marked, of outages that this watcher has ended since it was started."
_HOOKS = "Prepare and recover hooks that have failed since the watcher was started."
_DEGRADED = (
    "Whether the watcher can't write its state or read the mark (1): nothing is prepared, approved or recovered."
)


def _labels(**values: str) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in values.items()) + "}"


def rendered(found: Iterable[Family]) -> str:
    """The whole text."""
    lines: List[str] = []
    for one in found:
        lines += [f"# HELP {one.name} {one.help}", f"# TYPE {one.name} {one.kind}"]
        lines += [f"{one.name}{follows} {int(value)}" for follows, value in one.samples.items()]
    return "".join(line + "\n" for line in lines)


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
        self._folder = folder
        self._version = version
        self._clock = clock
        self._counters = Counters()
        self._is_first = True
        self._written: List[Family] = []
        self._at = 0.0
        self.problem = ""

    def take_report(self, say: Say) -> None:
        """Something is reported."""
        self._counters.take_report(say, self._clock.wall())

    def follow(self, facts: Facts) -> None:
        """Take up the mark, before a tick changes it and after."""
        counters, mark = self._counters, own_mark(facts)
        if facts.mark and mark.owner == OURS:
            if self._is_first:
                counters.take_up(mark, note_of(facts.mark), facts.mark["steps"])
            counters.follow(mark, unix_time(mark.since) or facts.moment.wall, facts.mark["steps"])
        self._is_first = False

    def publish(self, facts: Facts) -> None:
        """Have this in the file."""
        self.follow(facts)
        counters, gauges = self._counters, gauges_of(facts, self._version)
        found = families(gauges, counters, 0, 0)
        try:
            if found == self._written and self._clock.now() - self._at < EVERY:
                return
            self._write(rendered(families(gauges, counters, last_poll(facts), count_waiting(self._folder))))
        except FileNotFoundError:  # the folder is not there (yet), so nobody looks into it
            return
        except OSError as error:
            self.problem = f"{self._path} can't be written: {error.strerror}"
        else:
            self._written, self.problem = found, ""
        self._at = self._clock.now()

    def _write(self, text: str) -> None:
        temporary = f"{self._path}.new"
        # Not synced: it is not to outlive a power cut.
        with open(temporary, "w", encoding="utf-8", newline="\n") as file:  # Prometheus takes no other end of a line
            file.write(text)
        native.show_everybody(temporary)
        native.replace(temporary, self._path)
