# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alert rules and the dashboard that the collection ships, and what the guide says of metrics."""

from __future__ import annotations

import itertools
import json
import pathlib
import re
import shutil
import subprocess

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.values import (
    BOUNDS,
    OUTCOMES,
    PHASES,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.monitoring import expressions
from ansible_collections.cloudops.azure_maintenance.tests.unit.monitoring.expressions import FAMILIES

HERE = pathlib.Path(__file__).resolve().parent
GUIDE = HERE.parents[2] / "docs" / "docsite" / "rst" / "metrics.rst"
SERIES = {*FAMILIES, *(f"azure_maintenance_outage_seconds_{part}" for part in ("bucket", "sum", "count"))}
ALL = [*expressions.of_alerts(), *expressions.of_dashboard()]
needs_promtool = pytest.mark.skipif(
    not shutil.which("promtool"),
    reason="no promtool on this machine: apt-get install --no-install-recommends prometheus",
)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.where)
def test_expressions_ask_for_metrics_that_there_are(one):
    assert one.metrics <= SERIES
    assert "$" not in one.text
    for phase in re.findall(r'phase="([^"]+)"', one.text):
        assert phase in PHASES
    for outcome in re.findall(r'outcome="([^"]+)"', one.text):
        assert outcome in OUTCOMES


def test_each_metric_is_used_somewhere():
    used = set().union(*(one.metrics for one in ALL))
    assert [name for name in FAMILIES if not any(series.startswith(name) for series in used)] == []


def test_the_dashboard_can_be_imported():
    dashboard = json.loads(expressions.DASHBOARD.read_text(encoding="utf-8"))
    assert dashboard["uid"] and dashboard["title"] and "id" not in dashboard
    assert [one["name"] for one in dashboard["templating"]["list"]] == ["datasource", "job", "instance"]
    panels = expressions.panels()
    assert len({panel["id"] for panel in panels}) == len(panels)
    for panel in panels:
        assert panel["description"], panel["title"]
        assert panel["datasource"]["uid"] == "${datasource}"
    for first, second in itertools.combinations([panel["gridPos"] for panel in panels], 2):
        apart_x = first["x"] + first["w"] <= second["x"] or second["x"] + second["w"] <= first["x"]
        apart_y = first["y"] + first["h"] <= second["y"] or second["y"] + second["h"] <= first["y"]
        assert apart_x or apart_y, (first, second)


def test_the_guide_lists_all_metrics_phases_outcomes_and_alerts():
    page = GUIDE.read_text(encoding="utf-8")
    listed = re.findall(r"^``(azure_maintenance_[a-z_]+)`` \(", page, re.MULTILINE)
    assert listed == list(FAMILIES)
    for one in FAMILIES.values():
        for name in set(re.findall(r"(\w+)=", "".join(one.samples))) - {"le"}:
            assert f"``{name}``" in page, (one.name, name)
    assert [name for name in (*PHASES, *OUTCOMES) if f"``{name}``" not in page] == []
    assert [one.where for one in expressions.of_alerts() if f"``{one.where}``" not in page] == []
    assert ", ".join(map(str, BOUNDS)) in page


def test_every_alert_is_tried():
    tried = (HERE / "alerts_test.yml").read_text(encoding="utf-8")
    assert [one.where for one in expressions.of_alerts() if one.where not in tried] == []


@needs_promtool
def test_promtool_finds_nothing_wrong_with_the_rules():
    subprocess.run(["promtool", "check", "rules", str(expressions.ALERTS)], check=True)


@needs_promtool
def test_the_alerts_fire_for_what_they_are_for_and_for_nothing_else():
    subprocess.run(["promtool", "test", "rules", str(HERE / "alerts_test.yml")], check=True)


@needs_promtool
def test_promtool_understands_the_dashboard(tmp_path):
    """As recording rules: promtool checks no single expression before version 2.44."""
    rules = [{"record": f"panel:{number}", "expr": one.text} for number, one in enumerate(expressions.of_dashboard())]
    path = tmp_path / "dashboard.json"  # which is YAML, too
    path.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    subprocess.run(["promtool", "check", "rules", str(path)], check=True)
