# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's metrics as text: the format, and that a real promtool takes it."""

import shutil
import subprocess

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.metrics_file import (
    COUNTER,
    GAUGE,
    Family,
    families,
    rendered,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.values import (
    BOUNDS,
    OUTCOMES,
    Counters,
    Gauges,
)

QUIET = Gauges("1.0.0", "manage", True, "in_service", (), 0.0, False, False)
NAMES = {
    "azure_maintenance_watcher_info": "gauge",
    "azure_maintenance_imds_up": "gauge",
    "azure_maintenance_last_poll_timestamp_seconds": "gauge",
    "azure_maintenance_out_of_service": "gauge",
    "azure_maintenance_phase": "gauge",
    "azure_maintenance_event": "gauge",
    "azure_maintenance_event_not_before_timestamp_seconds": "gauge",
    "azure_maintenance_approvals_held": "gauge",
    "azure_maintenance_outages_total": "counter",
    "azure_maintenance_outage_seconds": "histogram",
    "azure_maintenance_hook_failures_total": "counter",
    "azure_maintenance_reports_waiting": "gauge",
    "azure_maintenance_degraded": "gauge",
}


def text_of(gauges=QUIET, counters=None, last_poll=1767225600, waiting=0):
    return rendered(families(gauges, counters or Counters(), last_poll, waiting))


def samples_of(text):
    """{"name{labels}": "value"}"""
    return dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))


def test_the_format():
    found = rendered(
        [
            Family("a_total", COUNTER, "A line.", {'{path="x",b="y"}': 3, "": 1}),
            Family("b", GAUGE, "None.", {}),
        ]
    )
    assert found == (
        "# HELP a_total A line.\n"
        "# TYPE a_total counter\n"
        'a_total{path="x",b="y"} 3\n'
        "a_total 1\n"
        "# HELP b None.\n"
        "# TYPE b gauge\n"
    )


def test_a_histogram_counts_up():
    counters = Counters()
    counters.buckets[:2], counters.buckets[-1], counters.seconds = [2, 1], 1, 700
    lines = [line.rpartition("outage_seconds_")[2] for line in text_of(counters=counters).splitlines()]
    assert 'bucket{le="60"} 2' in lines and 'bucket{le="120"} 3' in lines and 'bucket{le="14400"} 3' in lines
    assert lines[lines.index('bucket{le="+Inf"} 4') + 1 :][:2] == ["sum 700", "count 4"]


def test_names_and_kinds_are_an_interface():
    kinds = dict(line.split()[2:4] for line in text_of().splitlines() if line.startswith("# TYPE"))
    assert kinds == NAMES


def test_a_machine_in_service():
    found = samples_of(text_of())
    assert found.pop('azure_maintenance_watcher_info{version="1.0.0",mode="manage"}') == "1"
    assert found.pop("azure_maintenance_imds_up") == found.pop('azure_maintenance_phase{phase="in_service"}') == "1"
    assert found.pop("azure_maintenance_last_poll_timestamp_seconds") == "1767225600"
    assert set(found.values()) == {"0"}


def test_a_machine_that_is_prepared():
    events = (("Reboot", "Scheduled"), ("Reboot", "Scheduled"), ("other", "Started"))
    gauges = QUIET._replace(
        phase="prepared", events=events, not_before=1767229200.5, approvals_held=True, degraded=True
    )
    found = samples_of(text_of(gauges, waiting=7))
    ones = {name for name, value in found.items() if value == "1"}
    assert ones == {
        'azure_maintenance_watcher_info{version="1.0.0",mode="manage"}',
        "azure_maintenance_imds_up",
        "azure_maintenance_out_of_service",
        'azure_maintenance_phase{phase="prepared"}',
        'azure_maintenance_event{type="other",status="Started"}',
        "azure_maintenance_approvals_held",
        "azure_maintenance_degraded",
    }
    assert found['azure_maintenance_event{type="Reboot",status="Scheduled"}'] == "2"
    assert found["azure_maintenance_event_not_before_timestamp_seconds"] == "1767229200"
    assert found["azure_maintenance_reports_waiting"] == "7"


def test_samples_do_not_come_and_go():
    """A series that is there only at times is no 0 at others: rules would see its last value, or nothing."""
    gauges = QUIET._replace(phase="unreadable", events=(("Freeze", "Started"),), not_before=1.0, imds_up=False)
    counters = Counters()
    counters.outages["recovered"] += 1
    assert set(samples_of(text_of())) == set(samples_of(text_of(gauges, counters)))
    assert all(f'azure_maintenance_outages_total{{outcome="{name}"}}' in samples_of(text_of()) for name in OUTCOMES)
    assert f'azure_maintenance_outage_seconds_bucket{{le="{BOUNDS[-1]}"}}' in samples_of(text_of())


@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool on this machine: apt-get install prometheus")
def test_promtool_finds_nothing_wrong():
    with subprocess.Popen(["promtool", "check", "metrics"], stdin=subprocess.PIPE, stderr=subprocess.PIPE) as checked:
        _out, said = checked.communicate(text_of().encode())
    assert (checked.returncode, said.decode()) == (0, "")
