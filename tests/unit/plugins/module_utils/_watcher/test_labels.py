# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Labels: from the settings into every report, whatever else is in it."""

import json

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Say
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import (
    MOST_BYTES,
    line_of,
    report_of,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.reporter import Reporter, past
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import (
    parse_settings,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.values import (
    LONGEST_LABEL,
    MOST_LABELS,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import (
    IDENTITY,
    MACHINE,
    MOMENT,
    an_event,
)


class Silent:
    def say(self, message, priority, **fields):
        pass


def configured(folder, **labels):
    given = {"format": 1, "labels": labels, "folder": str(folder), "hooks_folder": str(folder / "none")}
    return parse_settings(json.dumps(given), "watcher.json")


def test_reports_bear_the_labels_of_the_settings_as_they_are_now(tmp_path):
    reporter = Reporter(configured(tmp_path, ring="canary"), MACHINE, lambda: MOMENT, Clock(), Silent())
    reporter.tell([Say("prepared", "It is.")], IDENTITY)
    reporter.configure(configured(tmp_path, ring="all"))
    reporter.tell([Say("recovered", "It is.")], IDENTITY)
    reporter.stop()
    assert [one["labels"] for one in past(str(tmp_path), 9).reports] == [{"ring": "canary"}, {"ring": "all"}]


def test_no_labels_make_a_report_too_large_for_whoever_receives_it(tmp_path):
    most = {f"l{number:059}": "\U0001f600" * LONGEST_LABEL for number in range(MOST_LABELS)}
    labels = configured(tmp_path, **most).labels
    names = tuple(f"machine-{number:04}-" + "\U0001f600" * 100 for number in range(1000))
    say = Say("scheduled", "m" * 5000, event=an_event(resources=names, raw_resources=names), details={"a": "d" * 10**6})
    report = report_of(say, IDENTITY, MOMENT, MACHINE._replace(labels=labels))
    assert report["labels"] == most and len(line_of(report)) <= MOST_BYTES
