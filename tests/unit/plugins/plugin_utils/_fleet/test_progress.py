# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says that it waits for while nothing happens."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.progress import awaited, sentence_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Run,
    event,
    mark,
    rules,
    started,
)


def says(run):
    """What it waits for, without "TIME  waits"."""
    return [line.partition("waits")[2].strip() for line in awaited(run.record)]


def shown(**options):
    run = Run("web1", "web2", **options).tick()
    run["web1"].seconds = 100.0
    run.show(event("A", ["vm1"]))
    return run.until(run.marked)


def test_each_stage_of_an_event_until_when_it_lasts():
    run = shown()
    assert says(run) == ["web1 to be prepared for Reboot A, until 1970-01-01T00:14:00Z at the latest"]
    run.until(lambda: run.sent("A"))
    (words,) = says(run)
    assert words == "Reboot A is approved and has not started; it starts at 1970-01-01T00:15:00Z at the latest"
    run.show(started(event("A", ["vm1"])))
    run.until(lambda: run.event().started is not None)
    (words,) = says(run)
    assert words.startswith("Reboot A has started; it is polled until it is over, until 1970-01-01T01:")
    run["web1"].down = NO_ROUTE
    run.show()
    run.until(lambda: run.event().gone is not None)
    (words,) = says(run)
    assert words.startswith("web1 to be recovered, until") and words.endswith(f"(it does not answer: {NO_ROUTE})")


def test_what_keeps_an_event_from_being_approved():
    run = Run("web1", "web2", policy=rules("hold")).tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    (words,) = says(run)
    assert words.startswith("Reboot A is not approved yet: ") and words.endswith(
        "until 1970-01-01T00:15:00Z at the latest"
    )


def test_a_mark_of_which_nobody_knows_whether_its_run_lives():
    run = Run("web1", "web2")
    run["web1"].mark = mark("another", ["B"], until=1000.0)
    run.tick()
    (words,) = says(run)
    assert words.startswith("web1 is marked by run another") and "whether that still runs is seen by" in words


def test_a_sentence_is_the_same_though_its_not_before_is_reckoned_anew():
    first = "1970-01-01T00:00:40Z  waits      Reboot A is approved and has not started; it starts at 1970-01-01T00:15:00Z at the latest"
    assert sentence_of(first) == sentence_of(first.replace("00:40Z", "01:01Z").replace("15:00Z", "14:59Z"))
    assert sentence_of(first) != sentence_of(first.replace("Reboot A", "Reboot B"))
