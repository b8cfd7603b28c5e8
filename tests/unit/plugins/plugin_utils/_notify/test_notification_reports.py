# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run reports: the same form and words as a watcher's, in the order in which it happened."""

from __future__ import annotations

import re

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import (
    KINDS as OF_WATCHERS,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils import _fleet
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify.reports import (
    HAPPENED,
    KINDS,
    end_report,
    reports_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.keeping import Keeping
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    event,
    started,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import REPORT, wrong


def run_of(**options):
    """A run that keeps what it reports."""
    return Keeping(lambda record, number: reports_of(record, number, "1.2.3"), **options)


def a_whole_run():
    run = run_of()
    reboot = event("A", ["vm1"], not_before=2000)
    run.tick(3)
    run.show(reboot)
    run.until(run.sent)
    run.show(started(reboot))
    run.until(lambda: run.event().started is not None)
    run.show()
    run.to_end()
    return run


def test_a_whole_run_in_order():
    told = a_whole_run().kept
    assert [one["happened"] for one in told] == [
        "scheduled", "planned", "prepared", "approved", "started", "ended", "recovered"
    ]  # fmt: skip
    assert [found for one in told for found in wrong(one, REPORT)] == []
    assert {one["event"]["id"] for one in told} == {"A"} and told[5]["outcome"] == "completed"
    assert told[0]["message"].startswith("Reboot A (Platform) affects vm1 (web1): not before")
    assert told[0]["details"]["hosts"] == ["web1"]
    assert told[2]["machine"]["name"] == "vm1" and told[2]["labels"]["inventory_hostname"] == "web1"
    assert told[6]["details"]["reverted"] is False


def test_each_has_an_id_of_its_own_that_is_the_same_when_it_is_made_again():
    run = a_whole_run()
    ids = [one["id"] for one in run.kept]
    assert len(set(ids)) == len(ids)
    once, again = (reports_of(run.record, 0, "1.2.3") for _dummy in range(2))
    assert [one["id"] for one in once] == [one["id"] for one in again] and once


def test_a_preparation_that_fails():
    run = run_of(on_failure="hold")
    run["web1"].fails = "the database did not stop"
    run.show(event("A", ["vm1"], not_before=2000))
    run.until(lambda: any(one["happened"] == "prepare_failed" for one in run.kept))
    (failed,) = [one for one in run.kept if one["happened"] == "prepare_failed"]
    assert "the database did not stop" in failed["message"] and "(Reboot A)" in failed["message"]


def test_the_end_tells_of_all_problems():
    run = a_whole_run()
    report = end_report(run.record, ["web1 is not back.", "web2 is neither."], "1.2.3")
    assert wrong(report, REPORT) == [] and report["happened"] == "run_ended"
    assert report["message"] == "The run ended with problems: web1 is not back. (and 1 more)"
    assert report["details"]["problems"] == ["web1 is not back.", "web2 is neither."]


def test_every_word_is_one_that_runs_have_and_that_the_schema_tells_of():
    from pathlib import Path

    source = "".join(path.read_text(encoding="utf-8") for path in Path(list(_fleet.__path__)[0]).glob("*.py"))
    assert [word for word in HAPPENED if not re.search(rf'"{word}"', source)] == []
    assert set(HAPPENED.values()) | {"run_ended"} <= set(OF_WATCHERS) | set(KINDS)
    assert [word for word in KINDS if f" {word}: " not in REPORT["properties"]["happened"]["description"]] == []
