# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Notifications are sent beside the run: in order, again where that helps, and without the run waiting for anybody."""

from __future__ import annotations

import datetime
import io
import json
import threading
import time
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_queue import waiting
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify import notifications
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify.notifications import (
    NotificationQueue,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify.receivers import receivers_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report


def reports(*names):
    return [dict(a_report(), id=name) for name in names]


def until(condition, seconds=60):
    for _dummy in range(int(seconds / 0.05)):
        if condition():
            return
        time.sleep(0.05)
    raise AssertionError("it did not come about")


@pytest.fixture
def make(tmp_path):
    """A queue of entries of maintain_notify; ended when the test is."""
    made = []

    def make(*entries, seconds=30.0):
        made.append(NotificationQueue(str(tmp_path / "queue"), receivers_of(list(entries)), seconds, "1.2.3"))
        return made[-1]

    yield make
    for one in made:
        one.close(0)


def test_all_are_sent_once_and_in_order_however_they_come(make):
    names = [f"report-{number:02}" for number in range(20)]
    with Receiver() as takes:
        queue = make({"url": takes.url})
        for name in names:  # while the sender of those before is at work, or has just ended
            queue.put(reports(name))
        (found,) = queue.close(300)
        assert takes.ids() == names
    assert found == {"to": f"http://127.0.0.1:{takes.port}/...", "sent": 20, "failed": 0, "problem": ""}


def test_one_that_hangs_holds_up_neither_the_run_nor_the_others(make, tmp_path):
    """One of its answers comes after the second that it has, as on a busy machine: it is sent again, beside the one that hangs."""
    let_go = threading.Event()
    with (
        Receiver(200, lambda handler: time.sleep(1.5)) as takes,
        Receiver(otherwise=lambda handler: let_go.wait(60)) as hangs,
    ):
        queue = make({"url": hangs.url}, {"url": takes.url}, seconds=1.0)
        for name in ("first", "second"):
            began = time.monotonic()
            queue.put(reports(name))
            assert time.monotonic() - began < 25  # it has a second for each, and five minutes in all
            until(lambda wanted=name: wanted in takes.ids())
        (one,) = receivers_of([{"url": takes.url}])
        until(lambda: not waiting(str(tmp_path / "queue" / one.key)))
        found = {one["to"]: one for one in queue.close(1)}
        let_go.set()
        assert list(dict.fromkeys(takes.ids())) == ["first", "second"] and len(takes.ids()) > 2
    assert found[f"http://127.0.0.1:{takes.port}/..."]["sent"] == 2
    assert found[f"http://127.0.0.1:{hangs.port}/..."]["failed"] == 2


def test_one_that_is_busy_is_tried_again_and_gets_them_in_order(make):
    with Receiver(503, (429, {"Retry-After": "1"}), 401) as busy:
        queue = make({"url": busy.url})
        queue.put(reports("first", "second"))
        (found,) = queue.close(300)
        assert busy.ids() == ["first"] * 4 + ["second"]
    assert (found["sent"], found["failed"], found["problem"]) == (2, 0, "HTTP 401 Unauthorized")


def test_one_that_can_not_use_it_is_not_tried_again(make):
    with Receiver(422) as refuses:
        queue = make({"url": refuses.url})
        queue.put(reports("first", "second"))
        (found,) = queue.close(300)
        assert refuses.ids() == ["first", "second"]
    assert (found["sent"], found["failed"]) == (1, 1)


def test_the_end_does_not_wait_longer_than_a_receiver_may_take(make):
    with Receiver(otherwise=503) as busy:
        queue = make({"url": busy.url})
        queue.put(reports("first"))
        began = time.monotonic()
        (found,) = queue.close(0.5)
        assert time.monotonic() - began < 25  # the receiver may take 30
    assert (found["sent"], found["failed"]) == (0, 1)


def test_the_secret_is_in_no_file(make, tmp_path):
    with Receiver(otherwise=503) as busy:
        queue = make({"url": busy.url, "secret": "very-secret"})
        queue.put(reports("first"))
        until(lambda: busy.requests)
        content = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
        assert json.loads(busy.requests[0][1])["id"] == "first" and "X-Hub-Signature-256" in busy.requests[0][0]
    assert '"first"' in content and "very-secret" not in content


class Kept(io.BytesIO):
    """A sender's standard input, which can be read when it was closed."""

    def close(self):
        pass


def test_what_is_no_json_is_handed_over_as_text(make, monkeypatch):
    kept = Kept()
    monkeypatch.setattr(notifications.subprocess, "Popen", lambda *_args, **_options: types.SimpleNamespace(stdin=kept))
    date = datetime.date(2026, 1, 1)
    make({"tasks": "/opt/tell.yml", "vars": {"since": date, "more": [{"until": date}]}}).put(reports("first"))
    (one,) = json.loads(kept.getvalue())["receivers"]
    assert one["vars"] == {"since": "2026-01-01", "more": [{"until": "2026-01-01"}]}


def test_nothing_is_begun_when_there_is_nothing_to_send(make, tmp_path):
    queue = make({"hook": "/bin/true"})
    queue.put([])
    assert list(tmp_path.iterdir()) == []
    assert queue.close(300) == [{"to": "/bin/true", "sent": 0, "failed": 0, "problem": ""}]
