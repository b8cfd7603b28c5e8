# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control API: what it tells, what it refuses."""

import threading

import pytest
from emulator_harness import exchange

GUID = "0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11"


def test_state(emulator):
    event_id = emulator.inject("Reboot")
    emulator.look()
    emulator.approve(event_id)
    state = emulator.control("GET", "/state")
    assert state["clock"]["virtual"] == "2026-03-02T08:00:00.000Z" and state["clock"]["speed"] == 0
    assert state["scopes"]["web"] == {"enabled": True, "incarnation": 3, "vms": ["web1", "web2"]}
    assert [event["id"] for event in state["events"]] == [event_id]
    assert (state["requests"]["total"], state["requests"]["get"], state["requests"]["post"]) == (2, 1, 1)
    assert "vms" not in state
    assert [vm["name"] for vm in emulator.control("GET", "/state?vms=true")["vms"]] == ["web1", "web2", "lone"]


def test_an_event_as_json(emulator):
    event_id = emulator.inject("Reboot", ["WEB2"], name="mine", notice=60, tail=30, duration=-1)
    emulator.advance(5)
    emulator.approve(event_id)
    event = emulator.control("GET", "/events/mine")
    for moment in event["approvals"] + [event["times"]["scheduled"], event["times"]["started"]]:
        assert moment.pop("wall") > 1e9
    assert event == {
        "id": event_id,
        "name": "mine",
        "scope": "web",
        "type": "Reboot",
        "status": "Started",
        "outcome": "",
        "resources": ["web2"],
        "source": "Platform",
        "description": "Host server is undergoing maintenance.",
        "duration": -1,
        "notice": 60,
        "tail": 30,
        "not_before": "2026-03-02T08:01:00.000Z",
        "not_before_shown": "",
        "approved": True,
        "co_tenants_approved": True,
        "approvals": [{"by": "web1", "virtual": "2026-03-02T08:00:05.000Z"}],
        "times": {
            "scheduled": {"virtual": "2026-03-02T08:00:00.000Z"},
            "started": {"virtual": "2026-03-02T08:00:05.000Z"},
            "gone": None,
        },
    }
    assert emulator.control("GET", "/events")["events"][0]["id"] == event_id


def test_counts_of_a_vm(emulator):
    emulator.look()
    emulator.post("nonsense")
    vm = emulator.control("GET", "/vms/WEB1")
    assert vm["requests"] == {
        "get": 1,
        "post": 1,
        "throttled": 0,
        "not_modified": 0,
        "last": "2026-03-02T08:00:00.000Z",
    }
    assert len(emulator.control("GET", "/vms")["vms"]) == 3


def test_vms_can_come_later(emulator):
    assert emulator.control("POST", "/vms", {"name": "web3", "scope": "web", "address": "127.0.0.1"})["addresses"] == [
        "127.0.0.1"
    ]
    emulator.inject("Reboot", ["web1", "web3"])
    assert len(emulator.events("web3")) == 1
    emulator.control("POST", "/vms", {"name": "other"})
    assert emulator.document("other")["DocumentIncarnation"] == 1


def test_a_scenario_can_be_loaded_by_name(emulator):
    loaded = emulator.control("POST", "/scenario", {"scenario": "terminate", "resources": ["web1", "web2"]})
    assert [event["name"] for event in loaded["events"]] == ["terminate1", "terminate2"]
    assert emulator.events() == []
    emulator.advance(5)
    assert [event["Resources"] for event in emulator.events()] == [["web1"], ["web2"]]


def test_a_scenario_can_be_loaded_whole(emulator):
    emulator.control(
        "POST",
        "/scenario",
        {
            "settings": {"not_before_format": "iso8601"},
            "vms": [{"name": "db1", "scope": "db"}],
            "events": [{"type": "Freeze", "resources": ["db1"], "at": 10}],
            "faults": [{"kind": "status", "status": 500, "vm": "web2"}],
        },
    )
    emulator.advance(10)
    assert emulator.events("db1")[0]["NotBefore"] == "2026-03-02T08:15:10Z"
    assert emulator.look("web2").status == 500


def test_a_bad_scenario_changes_nothing(emulator):
    before = emulator.control("GET", "/state?vms=true")
    error = emulator.control(
        "POST",
        "/scenario",
        {
            "settings": {"rate_limit": 1},
            "vms": [{"name": "db1"}],
            "events": [{"type": "Freeze", "resources": ["db1", "web1"]}],
        },
        status=400,
    )["error"]
    assert error.startswith("events[0].resources[1]:") and "one scope" in error
    after = emulator.control("GET", "/state?vms=true")
    assert after["events"] == [] and after["vms"] == before["vms"]


def test_reset(emulator):
    emulator.inject("Reboot")
    emulator.inject("Reboot", at=60)
    emulator.fault("status", status=500, vm="web2")
    assert emulator.document()["DocumentIncarnation"] == 2
    seq = emulator.control("GET", "/state")["journal_seq"]
    emulator.control("POST", "/reset")
    assert emulator.document() == {"DocumentIncarnation": 3, "Events": []}
    emulator.advance(3600)
    state = emulator.control("GET", "/state")
    assert state["events"] == [] and state["faults"] == [] and state["requests"]["total"] == 1
    assert emulator.journal("scheduled", "started", "gone") == []
    assert state["journal_seq"] > seq  # numbers go on


def test_clock(emulator):
    emulator.inject("Reboot", notice=100, tail=50)
    assert emulator.control("POST", "/clock", {"next": True})["elapsed"] == 100
    assert emulator.statuses() == ["Started"]
    assert emulator.control("POST", "/clock", {"next": True})["elapsed"] == 150
    assert emulator.control("POST", "/clock", {"speed": 2.5})["speed"] == 2.5
    assert emulator.control("POST", "/clock", {"pause": True})["speed"] == 0
    assert emulator.control("GET", "/clock")["speed"] == 0
    assert [entry["speed"] for entry in emulator.journal("clock")] == [0, 0, 2.5, 0]


def test_a_running_clock_starts_events_by_itself(start):
    emulator = start(speed=1000)
    emulator.inject("Reboot", notice=100, tail="never")
    seq = emulator.control("GET", "/state")["journal_seq"]
    answer = emulator.control("GET", "/journal?kind=started&wait=10&since=" + str(seq))
    assert [entry["cause"] for entry in answer["entries"]] == ["not_before"]


# -- the journal


def test_filters(emulator):
    one, two = emulator.inject("Reboot", ["web1"]), emulator.inject("Freeze", ["lone"])
    emulator.approve(one)
    emulator.approve(two, vm="lone")
    assert len(emulator.control("GET", "/journal?kind=post,started")["entries"]) == 4
    assert {entry["kind"] for entry in emulator.control("GET", "/journal?event_id=" + one.lower())["entries"]} == {
        "scheduled",
        "approved",
        "started",
        "post",
    }
    assert all("lone" in str(entry) for entry in emulator.control("GET", "/journal?vm=LONE")["entries"])


def test_pages(emulator):
    for _number in range(5):
        emulator.inject("Freeze")
    first = emulator.control("GET", "/journal?limit=3")
    second = emulator.control("GET", "/journal?limit=3&since=" + str(first["next"]))
    assert [entry["seq"] for entry in first["entries"] + second["entries"]] == [1, 2, 3, 4, 5]
    assert emulator.control("GET", "/journal?since=" + str(second["next"])) == {"entries": [], "next": 5}


def test_waiting_for_an_entry(emulator):
    answers = []
    waiter = threading.Thread(target=lambda: answers.append(emulator.control("GET", "/journal?kind=post&wait=10")))
    waiter.start()
    emulator.inject("Freeze")  # not what is waited for
    emulator.post("nonsense")
    waiter.join(60)
    assert [entry["kind"] for entry in answers[0]["entries"]] == ["post"]


def test_waiting_in_vain(emulator):
    assert emulator.control("GET", "/journal?kind=post&wait=0.05") == {"entries": [], "next": 0}
    assert emulator.service.world.journal.listeners == []


def test_requests_only_on_demand(start, emulator):
    emulator.look()
    assert emulator.journal("request") == []
    emulator = start(options={"log_requests": True})
    emulator.look()
    (entry,) = emulator.journal("request")
    assert (entry["vm"], entry["method"], entry["status"]) == ("web1", "GET", 200)


# -- bad input


@pytest.mark.parametrize(
    "method, path, body, place",
    [
        ("POST", "/events", {}, "type"),
        ("POST", "/events", {"type": "Reboot"}, "resources"),
        ("POST", "/events", {"type": "Reboot", "resources": []}, "resources"),
        ("POST", "/events", {"type": "Reboot", "resources": ["nobody"]}, "resources[0]"),
        ("POST", "/events", {"type": "Reboot", "resources": [0]}, "resources[0]"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1", "WEB1"]}, "resources[1]"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1", "lone"]}, "resources[1]"),
        ("POST", "/events", {"type": 5}, "type"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1"], "notcie": 5}, "notcie"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1"], "notice": -1}, "notice"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1"], "notice": "5"}, "notice"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1"], "id": "5"}, "id"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1"], "duration": 1.5}, "duration"),
        ("POST", "/events", {"type": "Reboot", "resources": ["web1"], "after": "x"}, "after"),
        ("POST", "/vms", {"name": "WEB1"}, "name"),
        ("POST", "/vms", {"name": "a b"}, "name"),
        ("POST", "/vms", {"name": "x", "address": "here"}, "address"),
        ("POST", "/scenario", {"scenario": "reboot", "resources": ["web1"], "speed": 5}, "speed"),
        ("POST", "/scenario", {"settings": {"start": "2026-03-02T08:00:00Z"}}, "settings.start"),
        ("POST", "/scenario", {"events": [{"type": "Reboot", "resources": ["web1"], "after": "x"}]}, "events[0].after"),
        ("POST", "/clock", {"speed": -1}, "speed"),
        ("POST", "/clock", {"advance": "x"}, "advance"),
        ("POST", "/clock", {"next": 1}, "next"),
        ("GET", "/journal?since=x", None, "since"),
        ("GET", "/journal?wait=-1", None, "wait"),
        ("GET", "/journal?kinds=post", None, "kinds"),
    ],
)
def test_bad_input_names_its_place(emulator, method, path, body, place):
    error = emulator.control(method, path, body, status=400)["error"]
    assert error.startswith(place + ":"), error


@pytest.mark.parametrize("body", ["", "nonsense", "[]", "5", "[" * 100000])
def test_bodies_that_are_no_mapping(emulator, body):
    reply = exchange(emulator.control_address, "POST", "/events", {}, body)
    assert reply.status == 400 and "error" in reply.json


@pytest.mark.parametrize(
    "path",
    [
        "/nothing",
        "/events/nothing",
        "/vms/nothing",
        "/events/x/y/z",
        "/metadata/scheduledevents?api-version=2020-07-01",
        "/vm/web1/metadata/versions",
    ],
)
def test_unknown_paths(emulator, path):
    assert "error" in emulator.control("GET", path, status=404)


def test_unknown_events_while_there_are_others(emulator):
    emulator.inject("Reboot")
    emulator.inject("Reboot", name="mine")
    for path in ("/events/nothing/start", "/events//start"):
        assert "there is no event" in emulator.control("POST", path, status=404)["error"]


def test_unknown_scenarios(emulator):
    assert (
        "hardware_failure_reboot" in emulator.control("POST", "/scenario", {"scenario": "nothing"}, status=404)["error"]
    )


def test_ids_are_not_used_twice(emulator):
    emulator.inject("Reboot", id=GUID)
    body = {"type": "Reboot", "resources": ["web1"], "id": GUID.lower()}
    assert emulator.control("POST", "/events", body, status=400)["error"].startswith("id:")


@pytest.mark.parametrize(
    "method, path, allowed", [("DELETE", "/state", "GET"), ("PUT", "/events", "GET, POST"), ("GET", "/reset", "POST")]
)
def test_other_verbs(emulator, method, path, allowed):
    reply = exchange(emulator.control_address, method, path)
    assert (reply.status, reply.headers["allow"]) == (405, allowed)


# -- the page, and whom it serves


def test_the_page_needs_nothing_from_elsewhere(emulator):
    reply = exchange(emulator.control_address, "GET", "/")
    page = reply.body.decode()
    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in reply.headers["content-security-policy"]
    assert "http://" not in page and "https://" not in page and "src=" not in page
    assert "innerHTML" not in page  # texts of scenarios stay texts


@pytest.mark.parametrize(
    "headers", [{"Host": "rebound.example"}, {"Origin": "http://elsewhere.example"}, {"Origin": "null"}]
)
def test_web_pages_elsewhere_can_not_steer_it(emulator, headers):
    assert emulator.control("POST", "/reset", {}, status=400, headers=headers)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8081"])
def test_its_own_page_can(emulator, host):
    assert emulator.control("POST", "/reset", {}, headers={"Host": host, "Origin": "http://" + host}) == {}
