# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import functools

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils import _module
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.endpoint import Found
from ansible_collections.cloudops.azure_maintenance.plugins.modules import scheduled_events_info
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    NAME_PATH,
    ScriptedTransport,
    document,
    event,
    events_path,
    get,
    look,
    own_name,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.modules.play import play


@pytest.fixture
def run(monkeypatch, capsys):
    def _run(*script, **options):
        options.setdefault("endpoint", ENDPOINT)
        return play(scheduled_events_info, ScriptedTransport(*script), monkeypatch, capsys, **options)

    return _run


def test_a_look(run):
    code, result = run(look(200, document(4, event(), event("ID-2", "Started"))), own_name(), statuses=["Started"])
    assert (code, result["changed"], result["incarnation"], result["resource_name"]) == (0, False, 4, "web1")
    assert [each["id"] for each in result["events"]] == ["ID-2"]
    assert "failure" not in result


def test_all_options_arrive(run):
    code, result = run(
        get(events_path("2017-08-01"), 200, document(4), timeout=20.0, at=0),
        own_name(timeout=3.0),
        get(events_path("2017-08-01"), 200, document(5, event(EventSource="User", EventType="Freeze")), at=0.5),
        event_ids=["ID-1"],
        types="Freeze",
        statuses=["Scheduled"],
        sources=["User"],
        affecting="self",
        wait=True,
        wait_for="event",
        wait_timeout="30",
        wait_sleep=0.5,
        api_version="2017-08-01",
        timeout=3,
        first_timeout=20,
        resource_name="web1",
    )
    assert (code, result["elapsed"]) == (0, 0.5)


def test_check_mode_looks_all_the_same(run):
    assert run(look(200, document(4)), own_name(), check_mode=True)[1]["incarnation"] == 4


def test_a_failure_is_told_with_all_that_was_seen(run):
    code, result = run(look(200, document(4)), own_name(), wait=True, wait_timeout=0)
    assert (code, result["failed"], result["failure"]["kind"], result["incarnation"]) == (1, True, "timeout", 4)
    assert result["msg"].startswith("No event came within 0 s at http://imds.test")


def test_a_wrong_option_is_told_before_anything_is_asked(run):
    code, result = run(wait_sleep=0)
    assert (code, result["failure"]) == (1, {"kind": "invalid", "status": None, "url": None})
    assert "wait_sleep" in result["msg"]


def test_warnings_are_ansibles(run):
    result = run(look(200, document(4)), get(NAME_PATH, 404))[1]
    assert len(result["warnings"]) == 1
    assert NAME_PATH in str(result["warnings"][0])


def test_a_failed_task_has_its_warnings_too(run):
    result = run(look(200, document(4)), get(NAME_PATH, 404), wait=True, wait_timeout=0)[1]
    assert result["failed"] and NAME_PATH in str(result["warnings"])


def test_leases_are_read_for_discovery(run, monkeypatch):
    seen = []

    def find(files, now):
        seen.append((type(files).__name__, now))
        return Found(("http://168.63.129.16",), ())

    monkeypatch.setattr(_module, "find_endpoints", find)
    there = functools.partial(get, "http://168.63.129.16" + events_path())
    its_name = get("http://168.63.129.16" + NAME_PATH, 200, b"web1")
    result = run(look(Unreachable("No.")), there(200, document(4)), its_name, discover=True)[1]
    assert result["endpoint"] == "http://168.63.129.16"
    assert seen == [("Files", 1767225600.0)]


@pytest.mark.parametrize("missing", [False, True])
def test_without_requests_the_transport_of_the_machine_program_serves(run, missing):
    result = run(look(200, document(4, event())), own_name(), without_requests=missing)[1]
    assert [each["id"] for each in result["events"]] == ["ID-1"]
    assert result.get(_module.WITHOUT_REQUESTS, False) == missing
