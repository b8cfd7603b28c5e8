# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""POST: what it takes, what it does, what it answers."""

import json

import pytest
from emulator_harness import EVENTS, METADATA

UNKNOWN = "FFFFFFFF-0000-0000-0000-000000000000"


def test_an_approval_starts_it_and_answers_an_empty_200(emulator):
    event_id = emulator.inject("Reboot", ["web1", "web2"])
    reply = emulator.approve(event_id, vm="web2")
    assert (reply.status, reply.body, reply.headers["content-length"]) == (200, b"", "0")
    (event,) = emulator.events()
    assert (event["EventStatus"], event["NotBefore"]) == ("Started", "")


def test_approving_twice_is_fine(emulator):
    event_id = emulator.inject("Reboot", co_tenant_delay=60)
    assert [emulator.approve(event_id, vm=vm).status for vm in ("web1", "web1", "web2")] == [200] * 3
    emulator.advance(60)
    assert emulator.approve(event_id).status == 200
    results = [entry["requests"][0]["result"] for entry in emulator.journal("post")]
    assert results == ["approved", "already", "already", "started"]
    assert len(emulator.journal("approved")) == 2  # by web1 and by the co-tenants


@pytest.mark.parametrize(
    "content_type", [None, "application/json", "application/x-www-form-urlencoded", "text/plain", "nonsense"]
)
def test_the_content_type_does_not_matter(emulator, content_type):
    event_id = emulator.inject("Reboot")
    headers = dict(METADATA, **({"Content-Type": content_type} if content_type else {}))
    assert emulator.approve(event_id, headers=headers).status == 200
    assert emulator.statuses() == ["Started"]


@pytest.mark.parametrize("incarnation", ["5", 5, 0, "", 99999999999])
def test_an_incarnation_is_accepted_and_ignored(emulator, incarnation):
    event_id = emulator.inject("Reboot")
    assert emulator.post({"DocumentIncarnation": incarnation, "StartRequests": [{"EventId": event_id}]}).status == 200
    assert emulator.statuses() == ["Started"]


def test_several_at_once_in_one_post(emulator):
    one, two = emulator.inject("Reboot"), emulator.inject("Freeze", ["web2"])
    assert emulator.approve(one, two.lower()).status == 200
    assert emulator.statuses() == ["Started", "Started"]


def test_a_byte_order_mark_is_tolerated(emulator):
    event_id = emulator.inject("Reboot")
    body = json.dumps({"StartRequests": [{"EventId": event_id}]}).encode("utf-8-sig")
    assert emulator.post(body).status == 200


@pytest.mark.parametrize(
    "body",
    [
        "",
        "nonsense",
        "{",
        "null",
        "[]",
        "{}",
        '{"StartRequests": null}',
        '{"StartRequests": {}}',
        '{"StartRequests": []}',
        '{"StartRequests": ["x"]}',
        '{"StartRequests": [{}]}',
        '{"StartRequests": [{"EventId": 5}]}',
        '{"StartRequests": [{"EventId": ""}]}',
        '{"DocumentIncarnation": [], "StartRequests": [{"EventId": "x"}]}',
        b"\xff\xfe",
        "[" * 100000,
    ],
)
def test_malformed_posts(emulator, body):
    reply = emulator.post(body)
    assert reply.status == 400
    assert "malformed" in reply.json["error"]
    (post,) = emulator.journal("post")
    assert post["status"] == 400 and "malformed" in post["error"] and post["requests"] == []


def test_unknown_events(emulator):
    event_id = emulator.inject("Reboot")
    reply = emulator.approve(UNKNOWN, event_id)
    assert reply.status == 400 and UNKNOWN in reply.json["error"]
    assert emulator.statuses() == ["Scheduled"]  # all of it is refused
    assert [request["result"] for request in emulator.journal("post")[0]["requests"]] == ["unknown", "refused"]


def test_unknown_events_may_be_fine(start):
    emulator = start(settings={"unknown_event_status": 200})
    event_id = emulator.inject("Reboot")
    assert emulator.approve(UNKNOWN, event_id).status == 200
    assert emulator.statuses() == ["Started"]
    assert [request["result"] for request in emulator.journal("post")[0]["requests"]] == ["unknown", "approved"]


def test_finished_and_foreign_events_are_unknown(emulator):
    gone = emulator.inject("Reboot", status="Started", tail=10)
    emulator.advance(10)
    assert emulator.approve(gone).status == 400
    assert emulator.approve(emulator.inject("Reboot", ["lone"])).status == 400


def test_versions_are_checked_for_posts_too(emulator):
    event_id = emulator.inject("Reboot")
    body = json.dumps({"StartRequests": [{"EventId": event_id}]})
    for query in (
        "",
        "?api-version=2020-06-01",
        "?api-version=2024-07-09",
        "?api-version=2020-07-01&api-version=2020-07-01",
    ):
        assert emulator.ask(EVENTS + query, method="POST", body=body).status in (400, 404)
    assert emulator.statuses() == ["Scheduled"]


# -- others on the host


def test_co_tenants_take_their_time(emulator):
    event_id = emulator.inject("Reboot", co_tenant_delay=120)
    emulator.approve(event_id)
    emulator.advance(119)
    assert emulator.statuses() == ["Scheduled"]
    emulator.advance(1)
    assert emulator.statuses() == ["Started"]


@pytest.mark.parametrize("delay", ["never", 5000])
def test_not_before_is_the_end_of_it(start, delay):
    emulator = start(scopes={"web": {"co_tenant_delay": delay}})
    emulator.approve(emulator.inject("Reboot", notice=900))
    emulator.advance(899)
    assert emulator.statuses() == ["Scheduled"]
    emulator.advance(1)
    assert emulator.statuses() == ["Started"]
    assert [entry["cause"] for entry in emulator.journal("started")] == ["not_before"]


def test_co_tenants_alone_start_nothing(emulator):
    event_id = emulator.inject("Reboot", co_tenant_delay="never")
    approve = "/events/" + event_id + "/approve"
    assert emulator.control("POST", approve, {"as": "co_tenant"})["status"] == "Scheduled"
    assert emulator.control("POST", approve, {"as": "co_tenant"})["status"] == "Scheduled"
    emulator.approve(event_id)
    assert emulator.statuses() == ["Started"]
    assert [entry["by"] for entry in emulator.journal("approved")] == ["co_tenant", "web1"]


def test_an_approval_from_outside_starts_it_without_any_post(emulator):
    event_id = emulator.inject("Reboot")
    assert emulator.control("POST", "/events/" + event_id + "/approve")["status"] == "Started"
    assert emulator.journal("post") == []
    assert [entry["by"] for entry in emulator.journal("approved")] == ["arm"]


# -- the record


def test_the_record_of_a_post(emulator):
    event_id = emulator.inject("Reboot", ["web2"])
    emulator.advance(7)
    emulator.approve(event_id, vm="web1", version="2019-08-01")
    (post,) = emulator.journal("post")
    assert post.pop("seq") and post.pop("wall")
    assert post == {
        "kind": "post",
        "virtual": "2026-03-02T08:00:07.000Z",
        "vm": "web1",
        "source": "127.0.0.1",
        "scope": "web",
        "api_version": "2019-08-01",
        "status": 200,
        "executed": True,
        "fault": "",
        "error": "",
        "requests": [{"event_id": event_id, "result": "approved", "own": False}],
    }


def test_the_order_of_the_record(emulator):
    emulator.approve(emulator.inject("Reboot", tail=10))
    emulator.advance(10)
    assert [entry["kind"] for entry in emulator.journal()] == [
        "scheduled",
        "approved",
        "started",
        "post",
        "clock",
        "gone",
    ] or [entry["kind"] for entry in emulator.journal()] == [
        "scheduled",
        "approved",
        "started",
        "post",
        "gone",
        "clock",
    ]
