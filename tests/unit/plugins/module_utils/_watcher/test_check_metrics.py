# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What status and doctor say of the watcher's metrics."""

import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_report import (
    FAIL,
    OK,
    WARN,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.check_system import metrics
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.status import (
    MetricsView,
    as_json,
    entries,
    metrics_view,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health.client import metrics_problem
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.test_check_health import (
    WITHIN,
    Here,
    a_view,
    an_endpoint,
    listening,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import assert_well_said

PATH = "/run/azure-maintenance/metrics.prom"
FRESH, OLD, GONE = MetricsView(PATH, 12.4), MetricsView(PATH, 300.0), MetricsView(PATH, problem="not there")


def test_the_file_is_where_the_watcher_says(tmp_path):
    path = tmp_path / "metrics.prom"
    published = {"metrics": str(path)}
    assert metrics_view(published, 100.0) == MetricsView(str(path), problem="not there")
    path.write_text("")
    os.utime(path, (60.0, 60.0))
    assert metrics_view(published, 100.0) == MetricsView(str(path), 40.0)
    assert metrics_view({"metrics": f"{path}/x"}, 1.0).problem == "Not a directory"
    assert metrics_view(None, 1.0) is None and metrics_view({"metrics": 7}, 1.0) is None, "of an earlier version"


@pytest.mark.parametrize(
    ("view", "is_running", "state", "words", "advice"),
    [
        (FRESH, True, OK, f"{PATH}, written 12 s ago", ""),
        (OLD, True, FAIL, f"{PATH}, written 300 s ago, and it should be every half minute", "journalctl -u"),
        (OLD, False, WARN, f"{PATH}, written 300 s ago: the watcher does not run", "systemctl start"),
        (
            GONE,
            True,
            FAIL,
            f"{PATH} can't be seen: not there. Prometheus gets nothing of this machine",
            "journalctl -u",
        ),
        (
            GONE,
            False,
            WARN,
            f"{PATH} can't be seen: not there. Prometheus gets nothing of this machine",
            "systemctl start",
        ),
        (FRESH._replace(age=-3.0), True, OK, f"{PATH}, written 0 s ago", ""),
    ],
)
def test_what_doctor_says_of_the_file(view, is_running, state, words, advice):
    (found,) = metrics(view, is_running, [], lambda address: "never asked")
    assert (found.state, found.words) == (state, words) and found.advice.startswith(advice)
    assert_well_said(found.words)


def test_what_doctor_says_of_the_endpoint():
    problems = {"127.0.0.1:1": "", "127.0.0.1:2": "Connection refused"}
    found = metrics(FRESH, True, list(problems), problems.get)[1:]
    assert [(one.state, one.words) for one in found] == [
        (OK, "http://127.0.0.1:1/metrics answers"),
        (FAIL, "http://127.0.0.1:2/metrics: Connection refused"),
    ]
    assert len(metrics(GONE, True, ["127.0.0.1:2"], problems.get)) == 1, "for one cause one finding"
    assert metrics(None, True, ["127.0.0.1:2"], problems.get) == []


def test_the_endpoint_is_asked_as_prometheus_asks(tmp_path):
    with an_endpoint(tmp_path) as (http, _agent):
        assert metrics_problem(http, WITHIN) == "no watcher has written its metrics since the boot"
        (tmp_path / "metrics.prom").write_text("# nothing\n" * 1000)
        assert metrics_problem(http, WITHIN) == ""
    with listening() as one:
        address = f"127.0.0.1:{one.getsockname()[1]}"
    assert metrics_problem(address, WITHIN) == "Connection refused"


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (FRESH, f"{PATH}, written 12 s ago"),
        (OLD, f"{PATH}, NOT WRITTEN FOR 5 min"),
        (GONE, f"{PATH} CAN'T BE SEEN: not there"),
    ],
)
def test_status_shows_the_file(view, words):
    status = a_view([])._replace(metrics=view)
    assert ("Metrics", words) in entries(status, Here())
    assert as_json(status, Here())["metrics"] == dict(view._asdict())
    assert "Metrics" not in dict(entries(a_view([]), Here())) and as_json(a_view([]), Here())["metrics"] is None
