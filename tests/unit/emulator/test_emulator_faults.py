# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers broken on purpose."""

import json
import socket

import pytest
from emulator_harness import EVENTS, LATEST, until

PATH = EVENTS + "?api-version=" + LATEST
GET = f"GET /vm/web1{PATH} HTTP/1.1\r\nHost: x\r\nMetadata: true\r\n\r\n".encode()


def raw(emulator, request=GET, timeout=60.0, after=b""):
    """Everything the emulator sends until it ends the connection; the exception that ended it, if any.

    :arg after: what has come before this timeout counts
    """
    received = b""
    with socket.create_connection(emulator.metadata, 60.0) as connection:
        connection.sendall(request)
        while True:
            if after in received:
                connection.settimeout(timeout)
            try:
                data = connection.recv(65536)
            except OSError as error:
                return received, error
            if not data:
                return received, None
            received += data


def post_request(event_id):
    body = json.dumps({"StartRequests": [{"EventId": event_id}]})
    return f"POST /vm/web1{PATH} HTTP/1.1\r\nHost: x\r\nMetadata: true\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


@pytest.mark.parametrize("status", [401, 404, 408, 410, 500, 503])
def test_statuses(emulator, status):
    emulator.fault("status", status=status, count=1)
    reply = emulator.look()
    assert reply.status == status and "error" in reply.json
    assert emulator.look().status == 200


def test_a_status_on_a_post_executes_nothing(emulator):
    event_id = emulator.inject("Reboot")
    emulator.fault("status", status=503, method="POST", count=1)
    assert emulator.look().status == 200
    assert emulator.approve(event_id).status == 503
    assert emulator.statuses() == ["Scheduled"]
    (post,) = emulator.journal("post")
    assert (post["executed"], post["fault"], post["status"]) == (False, "status", 503)
    assert post["requests"] == [{"event_id": event_id, "result": "not_executed", "own": None}]
    assert emulator.approve(event_id).status == 200


def test_throttling_with_retry_after(emulator):
    emulator.fault("status", status=429, retry_after=7)
    reply = emulator.look()
    assert (reply.status, reply.headers["retry-after"], reply.body) == (429, "7", b"Throttle Result: Too Many Requests")


def test_reset(emulator):
    emulator.fault("reset", count=1)
    received, error = raw(emulator)
    assert received == b"" and isinstance(error, ConnectionResetError)


@pytest.mark.parametrize("kind, executed, status", [("reset", False, "Scheduled"), ("lost_answer", True, "Started")])
def test_both_ways_to_lose_a_post(emulator, kind, executed, status):
    event_id = emulator.inject("Reboot")
    emulator.fault(kind, method="POST", count=1)
    received, error = raw(emulator, post_request(event_id))
    assert received == b"" and isinstance(error, ConnectionResetError)
    assert emulator.statuses() == [status]
    (post,) = emulator.journal("post")
    assert (post["executed"], post["status"], post["fault"]) == (executed, None, kind)
    assert post["requests"][0]["event_id"] == event_id


def test_hang(emulator):
    emulator.fault("hang", count=1)
    received, error = raw(emulator, timeout=0.3)
    assert received == b"" and isinstance(error, socket.timeout)
    assert emulator.look().status == 200


def test_delay(emulator):
    emulator.fault("delay", delay=60, count=1)
    received, error = raw(emulator, timeout=0.1)
    assert isinstance(error, socket.timeout)
    emulator.fault("delay", delay=0.01)
    assert emulator.look().status == 200


def test_a_delayed_post_is_executed_at_once(emulator):
    event_id = emulator.inject("Reboot")
    emulator.fault("delay", delay=60, method="POST", count=1)
    raw(emulator, post_request(event_id), timeout=0.1)
    until(lambda: emulator.statuses() == ["Started"])


def test_an_empty_body(emulator):
    emulator.fault("empty", count=1)
    reply = emulator.look()
    assert (reply.status, reply.body) == (200, b"")


@pytest.mark.parametrize("keys, length", [({}, None), ({"bytes": 3}, 3), ({"bytes": 0}, 0), ({"bytes": 100000}, -1)])
def test_truncated(emulator, keys, length):
    emulator.inject("Reboot")
    whole = emulator.look().body
    emulator.fault("truncated", count=1, **keys)
    received, error = raw(emulator)
    head, _blank, body = received.partition(b"\r\n\r\n")
    assert error is None
    assert f"Content-Length: {len(whole)}".encode() in head
    assert body == whole[: len(whole) // 2 if length is None else length]


def test_trickle(emulator):
    emulator.fault("trickle", interval=0.001, count=1)
    reply = emulator.look()
    assert reply.json == {"DocumentIncarnation": 1, "Events": []}


def test_a_trickle_is_slow(emulator):
    emulator.fault("trickle", interval=60, count=1)
    received, error = raw(emulator, timeout=0.3, after=b"\r\n\r\n{")
    assert isinstance(error, socket.timeout)
    assert received.endswith(b"\r\n\r\n{")


@pytest.mark.parametrize("events, version", [(True, LATEST), (False, LATEST), (True, "2017-08-01")])
def test_control_characters(emulator, events, version):
    if events:
        emulator.inject("Reboot")
    emulator.fault("control_characters", count=1)
    reply = emulator.look(version=version)
    assert b"\x01" in reply.body and reply.headers["content-length"] == str(len(reply.body))
    with pytest.raises(ValueError):
        _value = reply.json


def test_a_web_page(emulator):
    emulator.fault("html", count=1)
    reply = emulator.look()
    assert (reply.status, reply.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert reply.body.startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize("keys", [{"kind": "html"}, {"kind": "redirect"}, {"kind": "body"}, {"kind": "hang"}])
def test_somebody_elses_answers_execute_nothing(emulator, keys):
    event_id = emulator.inject("Reboot")
    emulator.fault(method="POST", count=1, **keys)
    raw(emulator, post_request(event_id), timeout=0.2)
    (post,) = until(lambda: emulator.journal("post"))
    assert emulator.statuses() == ["Scheduled"]
    assert (post["executed"], post["fault"], post["api_version"]) == (False, keys["kind"], LATEST)


@pytest.mark.parametrize("kind", ["empty", "truncated", "control_characters"])
def test_broken_answers_execute_a_post(emulator, kind):
    event_id = emulator.inject("Reboot")
    emulator.fault(kind, method="POST", count=1)
    assert emulator.approve(event_id).status == 200
    assert emulator.statuses() == ["Started"]
    assert emulator.journal("post")[0]["executed"] is True


def test_a_redirect(emulator):
    emulator.fault("redirect", status=307, location="http://127.0.0.1:1/", count=1)
    reply = emulator.look()
    assert (reply.status, reply.headers["location"]) == (307, "http://127.0.0.1:1/")


@pytest.mark.parametrize(
    "body",
    ["null", "{}", '{"DocumentIncarnation": "1", "Events": []}', '{"DocumentIncarnation": 1, "Events": {}}', "{"],
)
def test_documents_that_are_none(emulator, body):
    emulator.fault("body", body=body)
    reply = emulator.look()
    assert (reply.status, reply.body.decode()) == (200, body)


# -- which requests, and how many


def test_only_some_vms(emulator):
    emulator.fault("status", status=500, vm="WEB2")
    emulator.fault("status", status=503, vm=["lone", "web2"])
    assert [emulator.look(vm).status for vm in ("web1", "web2", "lone")] == [200, 500, 503]


def test_counts_and_skips(emulator):
    fault_id = emulator.fault("status", status=500, skip=1, count=2)
    assert [emulator.look().status for _number in range(5)] == [200, 500, 500, 200, 200]
    noted = emulator.journal("fault")
    assert [(entry["fault_id"], entry["vm"], entry["method"]) for entry in noted] == [(fault_id, "web1", "GET")] * 2
    assert emulator.control("GET", "/faults") == {"faults": []}


def test_a_time_limit(emulator):
    emulator.fault("status", status=410, seconds=70)
    emulator.advance(69)
    assert emulator.look().status == 410
    emulator.advance(1)
    assert emulator.look().status == 200


def test_paths(emulator):
    emulator.fault("status", status=500, path="instance")
    assert emulator.look().status == 200
    assert emulator.ask("/metadata/instance?api-version=2021-02-01").status == 500
    emulator.fault("status", status=503, path="any")
    assert emulator.ask("/metadata/versions").status == 503


def test_faults_end(emulator):
    one = emulator.fault("status", status=500)
    emulator.fault("status", status=503)
    assert [fault["kind"] for fault in emulator.control("GET", "/faults")["faults"]] == ["status", "status"]
    emulator.control("DELETE", "/faults/" + one)
    assert emulator.look().status == 503
    emulator.control("DELETE", "/faults")
    assert emulator.look().status == 200
    assert "f99" in emulator.control("DELETE", "/faults/f99", status=404)["error"]


def test_faults_of_a_scenario_come_at_their_time(start):
    emulator = start(faults=[{"at": 10, "kind": "status", "status": 500, "seconds": 20}])
    assert emulator.look().status == 200
    emulator.advance(10)
    assert emulator.look().status == 500
    emulator.advance(20)
    assert emulator.look().status == 200


@pytest.mark.parametrize(
    "body, place",
    [
        ({}, "kind"),
        ({"kind": "nonsense"}, "kind"),
        ({"kind": "status"}, "status"),
        ({"kind": "status", "status": 99}, "status"),
        ({"kind": "status", "status": "500"}, "status"),
        ({"kind": "reset", "status": 500}, "status"),
        ({"kind": "hang", "vm": "nobody"}, "vm"),
        ({"kind": "hang", "count": 0}, "count"),
        ({"kind": "hang", "method": "PUT"}, "method"),
        ({"kind": "delay"}, "delay"),
        ({"kind": "hang", "path": "/x"}, "path"),
        ({"kind": "hang", "count": True}, "count"),
        ({"kind": "trickle", "interval": 0}, "interval"),
    ],
)
def test_bad_faults(emulator, body, place):
    assert emulator.control("POST", "/faults", body, status=400)["error"].startswith(place + ":")
