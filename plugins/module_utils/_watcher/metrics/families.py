# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's metrics by name: what there is, what it means, and its samples. Pure.

Private to this collection.

``docs/docsite/rst/metrics.rst`` says the same for those who read them. Names are an interface: rules and dashboards of users go by them.
"""

from typing import Dict, Iterable, List, Tuple

from .counters import BOUNDS, Counters
from .exposition import COUNTER, GAUGE, HISTOGRAM, Family, Number, Sample, histogram
from .gauges import IN_SERVICE, PHASES, Gauges, counted

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
