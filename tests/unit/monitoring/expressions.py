# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's metrics, and the expressions of the alert rules and of the dashboard that the collection ships."""

from __future__ import annotations

import json
import pathlib
import re
from typing import NamedTuple

import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.metrics_file import families
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.values import Counters, Gauges

FOLDER = pathlib.Path(__file__).resolve().parents[3] / "docs" / "monitoring"
ALERTS = FOLDER / "prometheus-alerts.yml"
DASHBOARD = FOLDER / "grafana-dashboard.json"
_ANY = families(Gauges("1", "manage", True, "prepared", (), 0.0, False, False), Counters(), 0, 0)
FAMILIES = {one.name: one for one in _ANY}
_NAME = re.compile(r"\bazure_maintenance_[a-z_]+")
_VARIABLES = {"$job": ".*", "$instance": ".*", "$__range": "1h"}


class Expression(NamedTuple):
    """One, as Prometheus takes it."""

    where: str  # the alert, or the title of the panel
    text: str

    @property
    def metrics(self) -> set[str]:
        return set(_NAME.findall(self.text))


def of_alerts() -> list[Expression]:
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    return [Expression(rule["alert"], rule["expr"]) for group in groups for rule in group["rules"]]


def of_dashboard() -> list[Expression]:
    """With its variables set to all machines, and to an hour."""
    return [Expression(panel["title"], _filled(target["expr"])) for panel in panels() for target in panel["targets"]]


def panels() -> list[dict]:
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]


def _filled(text: str) -> str:
    for name, value in _VARIABLES.items():
        text = text.replace(name, value)
    return text
