# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whatever becomes of notifications, a run goes on; and in check mode nothing is sent."""

from __future__ import annotations

import json

import pytest
from ansible.errors import AnsibleError

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify import notifications
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import Run, event, put
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import RESULT, wrong


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(notifications.constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    return tmp_path


def ticks(check=False):
    """How much had happened before an event was shown, and the record after that."""
    run = Run()
    run.tick()
    number = len(run.record.happenings)
    run.show(event("A", ["vm1"], not_before=2000))
    run.until(lambda: run.record.events)
    put(run.record, run__check=check)
    return number, run.record


def test_what_a_tick_brought_is_sent_and_the_end_tells_of_problems():
    number, record = ticks()
    record.problems["x"] = "web1 is not back."
    with Receiver() as takes:
        notify = [{"url": takes.url}]
        notifications.tell(record, number, lambda: notify)
        notes, notified = notifications.end(record, lambda: notify)
        words = [json.loads(body)["happened"] for _headers, body, _path in takes.requests]
    assert words[0] == "scheduled" and words[-1] == "run_ended"
    assert notes == [] and notified[0]["sent"] == len(words)
    assert wrong(notified, RESULT["properties"]["notifications"]) == []


def test_nothing_is_asked_for_while_nothing_happens():
    record = ticks()[1]
    notifications.tell(record, len(record.happenings), lambda: pytest.fail("the variable was read"))


def test_nobody_wants_to_know():
    number, record = ticks()
    notifications.tell(record, number, list)
    assert notifications.end(record, list) == ([], [])


def test_check_mode_sends_nothing_and_says_who_can_be_reached(folder):
    number, record = ticks(check=True)
    record.problems["x"] = "web1 is not back."
    with Receiver() as takes:
        notify = [{"url": takes.url}, {"url": "http://127.0.0.1:1/x"}, {"hook": "/bin/true"}]
        notifications.tell(record, number, lambda: notify)
        notes, notified = notifications.end(record, lambda: notify)
        assert takes.requests == []
    assert notified == [] and list(folder.iterdir()) == []
    (words,) = notes
    assert words.startswith("Check mode: no notification is sent. Receivers: ")
    assert f"127.0.0.1:{takes.port}/... (it can be reached)" in words
    assert "127.0.0.1:1/... (no connection, or it was cut: Connection refused), /bin/true." in words


def test_a_folder_that_can_not_be_written_is_a_warning(folder, monkeypatch):
    said = []
    monkeypatch.setattr(notifications.Display, "warning", lambda _self, words: said.append(words))
    (folder / "file").touch()
    monkeypatch.setattr(notifications.constants, "DEFAULT_LOCAL_TMP", str(folder / "file"))
    number, record = ticks()
    notifications.tell(record, number, lambda: [{"hook": "/bin/true"}])
    assert len(said) == 1 and said[0].startswith("Notifications could not be sent: ")
    assert record.notes["notifications"].startswith("Not all notifications could be sent while the run went on: ")


@pytest.mark.parametrize("kind", [AnsibleError, KeyError])
def test_a_template_that_fails_is_a_note_without_its_words(monkeypatch, kind):
    """The vault of a token is sealed at three in the morning, say: the run must go on, and end as it would have ended."""
    said = []
    monkeypatch.setattr(notifications.Display, "warning", lambda _self, words: said.append(words))

    def fails():
        raise kind("the vault is sealed for hvs.TOKEN")

    number, record = ticks()
    notifications.tell(record, number, fails)
    why = f"a template in maintain_notify failed ({kind.__name__})"
    assert said == [f"Notifications could not be sent: {why}. The run goes on."]
    assert record.notes["notifications"] == f"Not all notifications could be sent while the run went on: {why}."
    assert notifications.end(record, fails) == ([f"Notifications could not be sent at the end of the run: {why}."], [])


def test_what_waits_when_a_template_fails_at_the_end_is_sent_all_the_same(folder):
    def fails():
        raise AnsibleError("the vault is sealed")

    number, record = ticks()
    with Receiver(503) as takes:
        notifications.tell(record, number, lambda: [{"url": takes.url}])
        notifications.end(record, fails)
        words = [json.loads(body)["happened"] for _headers, body, _path in takes.requests]
    assert words == ["scheduled", "scheduled", "planned"]
    assert list(folder.iterdir()) == []
