# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.modules import scheduled_events_approve
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    ScriptedTransport,
    document,
    event,
    look,
    own_name,
    sent,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.modules.play import play

TWO = document(4, event(resources=["web1", "web2"]), event("ID-2", resources=["web1", "web3"]))


@pytest.fixture
def run(monkeypatch, capsys):
    def _run(*script, **options):
        options.setdefault("endpoint", ENDPOINT)
        return play(scheduled_events_approve, ScriptedTransport(*script), monkeypatch, capsys, **options)

    return _run


def test_an_approval(run):
    code, result = run(
        look(200, TWO),
        own_name(),
        sent("ID-1"),
        look(200, document(5)),
        event_ids=["ID-1", "ID-2"],
        prepared_resources=["web1", "web2"],
    )
    assert (code, result["changed"], result["approved"], result["confirmed"]) == (0, True, ["ID-1"], ["ID-1"])
    assert [each["reason"] for each in result["not_approved"]] == ["unknown_machines"]
    assert result["diff"]["after"] == {"events": [{"id": "ID-1", "status": "approved"}]}


def test_an_empty_list_of_prepared_machines_is_none(run):
    result = run(look(200, TWO), own_name(), event_ids=["ID-1"], prepared_resources=[])[1]
    assert "web1, web2" in result["not_approved"][0]["message"]
    assert len(result["warnings"]) == 1 and result["not_approved"][0]["message"] in str(result["warnings"])


def test_an_event_that_is_not_approved_is_a_failure_where_that_is_wanted(run):
    code, result = run(look(200, TWO), own_name(), event_ids=["ID-1"], fail_on_not_approved=True)
    assert (code, result["failed"], result["failure"]["kind"]) == (1, True, "not_approved")
    assert result["not_approved"][0]["message"] in result["msg"]


def test_check_mode_sends_nothing(run):
    code, result = run(look(200, TWO), own_name(), check_mode=True, event_ids="ID-1", allow_unknown="web2")
    assert (code, result["changed"], result["approved"]) == (0, True, ["ID-1"])


def test_all_options_arrive(run):
    code, result = run(
        look(200, TWO, timeout=20.0),
        own_name(),
        look(200, TWO, at=3),
        look(200, TWO, at=4),
        sent("ID-2", timeout=3.0, at=4),
        event_ids=["id-2"],
        prepared_resources=["web1"],
        allow_unknown=["web3"],
        fail_on_not_approved=True,
        rank=2,
        takeover=2,
        wait=False,
        wait_timeout=1,
        wait_sleep=3,
        timeout=3,
        first_timeout=20,
        resource_name="web1",
    )
    assert (code, result["confirmed"]) == (0, [])


def test_an_approval_that_is_not_confirmed_fails_as_changed(run):
    code, result = run(
        look(200, TWO),
        own_name(),
        sent("ID-1"),
        look(200, TWO),
        event_ids=["ID-1"],
        allow_unknown=["web2"],
        wait_timeout=0,
    )
    assert (code, result["failed"], result["changed"], result["approved"]) == (1, True, True, ["ID-1"])
    assert result["failure"]["kind"] == "timeout"
