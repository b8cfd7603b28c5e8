# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of the watcher's metrics, for the health endpoint and for node_exporter's textfile collector: the metrics by name, what each means
and its samples, as text in the format that Prometheus and node_exporter read; and the counts, kept over a restart.

Private to this collection.

::

    metrics.prom           in the folder of what a boot clears: everybody may read it
    metrics-counters.json  there, too: the counts, for a watcher that is restarted

Both are replaced whole. They are written at once when something has changed, else every half minute, so that an idle watcher costs next to nothing.

``docs/docsite/rst/metrics.rst`` says what the metrics mean for those who read them. Names are an interface: rules and dashboards of users go
by them.

Source: https://prometheus.io/docs/instrumenting/exposition_formats/ (text-based format, version 0.0.4). No sample has a timestamp: node_exporter's
textfile collector refuses files with timestamps, and Prometheus would keep an old value for five minutes longer.
"""

import os
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple, Union

from ..._clock import Clock, unix_time
from ..._core.mark_view import OURS
from ..._machine.files import StateFile, Unreadable
from ..._machine.platform import native
from ..engine.interface import Facts, Say
from ..engine.snapshot import own_mark
from ..health.machine_state import METRICS
from ..reports.report_queue import count_waiting
from .values import BOUNDS, IN_SERVICE, PHASES, Counters, Gauges, counted, gauges_of, last_poll, unpacked

GAUGE, COUNTER, HISTOGRAM = "gauge", "counter", "histogram"

Number = Union[int, float]
Labels = Tuple[Tuple[str, str], ...]


class Sample(NamedTuple):
    """One line."""

    value: Number
    labels: Labels = ()
    suffix: str = ""  # what is added to the family's name: _bucket, _sum or _count of a histogram


class Family(NamedTuple):
    """All samples of one name."""

    name: str
    kind: str
    help: str
    samples: Tuple[Sample, ...]


def rendered(families: Iterable[Family]) -> str:
    """The whole text."""
    lines: List[str] = []
    for family in families:
        lines.append(f"# HELP {family.name} {_escaped(family.help)}")
        lines.append(f"# TYPE {family.name} {family.kind}")
        lines += [f"{family.name}{one.suffix}{_labels(one.labels)} {_number(one.value)}" for one in family.samples]
    return "".join(line + "\n" for line in lines)


def histogram(counts: Iterable[Tuple[Number, int]], total: int, seconds: Number) -> Tuple[Sample, ...]:
    """The samples of a histogram without labels.

    :arg counts: each bucket's upper bound, and how many values were not above it and above the bound before
    :arg total: of all values, those above the last bound among them
    :arg seconds: their sum
    """
    samples: List[Sample] = []
    so_far = 0
    for bound, count in counts:
        so_far += count
        samples.append(Sample(so_far, (("le", _number(bound)),), "_bucket"))
    samples.append(Sample(total, (("le", "+Inf"),), "_bucket"))
    return (*samples, Sample(seconds, (), "_sum"), Sample(total, (), "_count"))


def _labels(labels: Labels) -> str:
    if not labels:
        return ""
    pairs = ",".join(f'{name}="{_quoted(value)}"' for name, value in labels)
    return "{" + pairs + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _quoted(text: str) -> str:
    return _escaped(text).replace('"', '\\"')


def _number(value: Number) -> str:
    return repr(int(value) if value == int(value) else value)


PREFIX = "azure_maintenance_"


def families(gauges: Gauges, counters: Counters, last_poll: int, reports_waiting: int) -> List[Family]:
    """All of them, always with the same samples but for the values of ``watcher_info``.

    :arg last_poll: Unix time of the last document; 0 before the first one
    :arg reports_waiting: reports that were not sent yet
    """
    return [
        _family(
            "watcher_info",
            GAUGE,
            "Version of the collection and mode (manage or observe) of the watcher. Always 1.",
            [Sample(1, (("version", gauges.version), ("mode", gauges.mode)))],
        ),
        _one("imds_up", "Whether the instance metadata service answered the last poll (1) or not (0).", gauges.imds_up),
        _one(
            "last_poll_timestamp_seconds",
            "Unix time of the last answer with the scheduled events, up to 40 seconds late; 0 before the first one.",
            last_poll,
        ),
        _one(
            "out_of_service",
            "Whether the machine has a maintenance mark: it is out of service, or on its way there or back.",
            gauges.phase != IN_SERVICE,
        ),
        _family(
            "phase",
            GAUGE,
            "Phase of the machine by its maintenance mark: 1 for the one that it is in, 0 for the others.",
            [Sample(int(phase == gauges.phase), (("phase", phase),)) for phase in PHASES],
        ),
        _family(
            "event",
            GAUGE,
            "Scheduled events that list this machine, by type and status.",
            [
                Sample(count, (("type", kind), ("status", status)))
                for (kind, status), count in counted(gauges.events).items()
            ],
        ),
        _one(
            "event_not_before_timestamp_seconds",
            "Unix time before which the first event that is Scheduled for this machine does not start; 0 without one.",
            int(gauges.not_before),
        ),
        _one("approvals_held", "Whether approvals are on hold (1) or not (0).", gauges.approvals_held),
        _family(
            "outages_total",
            COUNTER,
            "Outages since the boot that this watcher has handled, by outcome.",
            _by("outcome", counters.outages),
        ),
        _family(
            "outage_seconds",
            HISTOGRAM,
            "Seconds for which the machine was marked, of outages that this watcher has ended since the boot.",
            histogram(zip(BOUNDS, counters.buckets), sum(counters.buckets), counters.seconds),
        ),
        _family(
            "hook_failures_total",
            COUNTER,
            "Prepare and recover hooks that have failed since the boot.",
            [Sample(counters.hook_failures)],
        ),
        _one("reports_waiting", "Reports that wait to be sent, up to 40 seconds late.", reports_waiting),
        _one(
            "degraded",
            "Whether the watcher can't write its state or read the mark (1): nothing is prepared, approved or recovered.",
            gauges.degraded,
        ),
    ]


def _family(name: str, kind: str, words: str, samples: Iterable[Sample]) -> Family:
    return Family(PREFIX + name, kind, words, tuple(samples))


def _one(name: str, words: str, value: Number) -> Family:
    return _family(name, GAUGE, words, [Sample(int(value))])


def _by(label: str, values: Dict[str, int]) -> Tuple[Sample, ...]:
    return tuple(Sample(value, ((label, name),)) for name, value in values.items())


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
