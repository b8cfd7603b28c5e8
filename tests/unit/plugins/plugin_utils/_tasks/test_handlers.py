# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The topics of a run: of which machines, since when, and only those that a handler listens to."""

from __future__ import annotations

import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import handlers
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import Run, event, mark


def task(**handler):
    """A task of a play with one handler."""
    one = types.SimpleNamespace(**{"name": "Note it", "listen": [], **handler})
    play = types.SimpleNamespace(handlers=[types.SimpleNamespace(block=[one])])
    return types.SimpleNamespace(_play=play)


@pytest.fixture
def run():
    run = Run("web1", "web2")
    run.tick()
    run.show(event("A", ["vm1"]))
    run.tick(20)
    return run


BOTH = [handlers.PREPARED, handlers.RECOVERED]


def test_what_happens_to_a_machine_is_notified_once(run):
    first = handlers.of_run(task(listen=BOTH), run.record, 0)
    notified = len(run.record.happenings)
    run.show()
    run.to_end()
    assert first == {"web1": [handlers.PREPARED]}
    assert handlers.of_run(task(listen=BOTH), run.record, notified) == {"web1": [handlers.RECOVERED]}


@pytest.mark.parametrize("handler", [{"listen": handlers.PREPARED}, {"name": handlers.PREPARED}])
def test_a_topic_counts_that_is_a_text_or_a_name(run, handler):
    assert handlers.of_run(task(**handler), run.record, 0) == {"web1": [handlers.PREPARED]}


@pytest.mark.parametrize("handler", [{}, {"listen": [handlers.RECOVERED]}])
def test_nothing_is_notified_that_nobody_listens_to(run, handler):
    assert handlers.of_run(task(**handler), run.record, 0) == {}
    assert handlers.of_hosts(types.SimpleNamespace(_parent=None), handlers.PREPARED, ["web1"]) == {}


def test_a_machine_that_its_watcher_handles_is_not_notified_for():
    run = Run("web1", "web2")
    run["web1"].watcher = {"mode": "manage", "version": "0.2.0", "alive": True, "lacks": [], "prepares": True}
    run["web1"].mark = mark("watcher", ["A"], kind="watcher", phase="prepared")
    run.show(event("A", ["vm1"], not_before=2000.0))
    run.tick(3)
    assert [one.what for one in run.record.happenings if one.host == "web1"] == ["prepared"]
    assert handlers.of_run(task(listen=BOTH), run.record, 0) == {}
