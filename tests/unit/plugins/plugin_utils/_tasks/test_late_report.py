# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report of which nobody knows whether it is a copy starts nothing."""

from __future__ import annotations

import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import iso_utc
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.given import late_report


def refused(**variables):
    return late_report({f"azure_maintenance_report_{name}": value for name, value in variables.items()})


@pytest.mark.parametrize(
    "received, is_refused",
    [("2026-01-01T12:15:00Z", False), ("2026-01-01T12:15:01Z", True), ("2026-01-01T11:44:59Z", True)],
)
def test_it_counts_for_a_quarter_of_an_hour_before_and_after(received, is_refused):
    words = refused(time="2026-01-01T12:00:00Z", received=received)
    assert bool(words) == is_refused
    assert not words or words.startswith(
        f"Nothing was started: the report that asks for this run is of 2026-01-01T12:00:00Z, and arrived at {received}"
    )


def test_without_the_time_when_it_arrived_that_is_now():
    assert refused(time=iso_utc(time.time() - 600)) == "" != refused(time=iso_utc(time.time() - 1000))


def test_a_run_that_no_report_asks_for_has_nothing_to_refuse():
    assert refused() == refused(time="", received="") == ""  # AWX gives "" for an answer that nobody gave


@pytest.mark.parametrize(
    "given", [{"time": "2026-00-39T12:00:00Z"}, {"time": "2026-01-01T12:00:00Z", "received": "soon"}]
)
def test_what_is_no_time_is_refused(given):
    assert refused(**given).startswith("Nothing was started: it is not known whether the report")
