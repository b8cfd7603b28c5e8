# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the sender ends while a receiver hangs."""

import json
import threading
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports import report_daemon

LONG = 60.0


class Hangs:
    """A delivery whose receiver takes the report and never answers."""

    def __init__(self):
        self.has_begun = threading.Event()
        self.may_end = threading.Event()

    def step(self):
        self.has_begun.set()
        self.may_end.wait(LONG)
        return 1.0


@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "watcher.json"
    path.write_text(json.dumps({"folder": str(tmp_path / "state")}), encoding="ascii")
    return path


@pytest.fixture
def hanging(settings):
    """A sender at work, its delivery, and the thread that it runs in."""
    delivery, stop = Hangs(), threading.Event()
    made = report_daemon.ReportDaemon(str(settings), {}, "0", Clock(), lambda priority, words: None, stop)
    made.deliveries = lambda wanted: [("one", delivery)]
    thread = threading.Thread(target=made.run, daemon=True)
    thread.start()
    assert delivery.has_begun.wait(LONG)
    yield stop, delivery, thread
    delivery.may_end.set()
    stop.set()
    thread.join(LONG)


def test_who_hangs_does_not_keep_it_from_ending(hanging, monkeypatch):
    monkeypatch.setattr(report_daemon, "GRACE", 0.1)
    stop, _delivery, thread = hanging
    began = time.monotonic()
    stop.set()
    thread.join(LONG)
    assert not thread.is_alive() and time.monotonic() - began < LONG / 2


def test_what_is_under_way_may_end_first(hanging, monkeypatch):
    monkeypatch.setattr(report_daemon, "GRACE", LONG)
    stop, delivery, thread = hanging
    stop.set()
    thread.join(0.2)
    assert thread.is_alive()
    delivery.may_end.set()
    thread.join(LONG)
    assert not thread.is_alive()


def test_the_unit_gives_it_longer_than_that():
    assert report_daemon.GRACE < 10  # TimeoutStopSec of azure-maintenance-reports.service.j2
