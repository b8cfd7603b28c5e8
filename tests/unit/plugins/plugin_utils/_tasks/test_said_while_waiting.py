# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much a run prints while it waits: neither so much that nobody reads it, nor so little that it seems to hang."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import fleet_run
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    rules,
    started,
)

HOUR = 3600.0


@pytest.fixture
def printed(monkeypatch, capsys):
    """Lets a scripted run go on for some seconds as the task of a run does; returns when each line was printed, and the line."""

    def watch(run, seconds):
        monkeypatch.setattr(fleet_run, "steady", lambda: run.at)
        monkeypatch.setattr(fleet_run, "move_on", lambda _record, _answers: run.tick())
        task = fleet_run.FleetRun(None, {}, {}, (), run.record, {}, list)
        until, found = run.at + seconds, []
        capsys.readouterr()
        while run.at < until and not run.record.finished:
            task._take_in({}, {})
            found += [(run.at, line) for line in capsys.readouterr().out.splitlines()]
        return found

    return watch


def test_an_hour_without_an_event(printed):
    run = Run("web1", "web2", wait_timeout=2 * HOUR).is_proven()
    lines = printed(run, HOUR)
    assert [line.split()[1] for _at, line in lines] == ["waits"]


def test_an_hour_in_which_an_event_waits_for_a_person(printed):
    run = Run("web1", "web2", policy=rules("hold"), prepare_before=7200.0, wait_timeout=3 * HOUR).tick()
    run.show(event("A", ["vm1"], not_before=2 * HOUR))
    run.until(lambda: run.prepared("web1"))
    lines = printed(run, HOUR)
    assert 1 <= len(lines) <= 10, lines
    assert any("is not approved yet" in line for _at, line in lines)


def test_an_hour_in_which_an_event_goes_on(printed):
    run = Run("web1", "web2", event_timeout=2 * HOUR).tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.show(started(event("A", ["vm1"])))
    run.until(lambda: run.event().started is not None)
    lines = printed(run, HOUR)
    assert 1 <= len(lines) <= 10, lines
    assert (
        lines[0][0] - run.event().started <= fleet_run.SILENT + 10 and "has started; it is polled until" in lines[0][1]
    )
