# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scopes: enabled by the first request, disabled by silence, one incarnation each."""

import queue
import socket
import threading

import pytest
from emulator_harness import until

DAY = 86400


def test_the_first_request_enables_a_scope(start):
    emulator = start(scopes={"web": {"enabled": False, "initial_incarnation": 7}})
    assert emulator.control("GET", "/state")["scopes"]["web"]["enabled"] is False
    assert emulator.document("web2") == {"DocumentIncarnation": 7, "Events": []}
    scopes = emulator.control("GET", "/state")["scopes"]
    assert scopes["web"]["enabled"] is True
    assert [(entry["scope"], entry["enabled"]) for entry in emulator.journal("scope")] == [("web", True)]


@pytest.mark.parametrize(
    "path",
    [
        "/metadata/versions",
        "/metadata/instance?api-version=2021-02-01",
        "/metadata/scheduledevents?api-version=nonsense",
    ],
)
def test_other_requests_enable_nothing(start, path):
    emulator = start(scopes={"web": {"enabled": False}})
    emulator.ask(path)
    assert emulator.control("GET", "/state")["scopes"]["web"]["enabled"] is False


def test_a_day_of_silence_disables_a_scope_and_resets_its_incarnation(emulator):
    emulator.approve(emulator.inject("Reboot", tail=10))
    emulator.advance(10)
    assert emulator.document()["DocumentIncarnation"] == 4
    etag = emulator.look().headers["etag"]
    emulator.advance(DAY - 1)
    assert emulator.control("GET", "/state")["scopes"]["web"]["enabled"] is True
    emulator.advance(1)
    scopes = emulator.control("GET", "/state")["scopes"]
    assert (scopes["web"]["enabled"], scopes["web"]["incarnation"]) == (False, 1)
    assert [(entry["scope"], entry["enabled"]) for entry in emulator.journal("scope")] == [
        ("lone", False),
        ("web", False),
    ]
    assert emulator.document() == {"DocumentIncarnation": 1, "Events": []}
    assert emulator.look(**{"If-None-Match": etag}).status == 200


def test_one_vm_that_asks_is_enough(emulator):
    for _hours in range(5):
        emulator.advance(DAY / 2)
        emulator.look("web2")
    scopes = emulator.control("GET", "/state")["scopes"]
    assert scopes["web"]["enabled"] is True
    assert scopes["lone"]["enabled"] is False  # nobody asked as lone


def test_the_limit_is_an_option(start):
    emulator = start(settings={"disable_after": 60})
    emulator.advance(60)
    assert emulator.control("GET", "/state")["scopes"]["web"]["enabled"] is False
    emulator = start(settings={"disable_after": 0})
    emulator.advance(30 * DAY)
    assert emulator.control("GET", "/state")["scopes"]["web"]["enabled"] is True


def test_equal_incarnations_before_and_after_a_reset_have_different_etags(start):
    emulator = start(settings={"disable_after": 60})
    before = emulator.look().headers["etag"]
    emulator.advance(60)
    after = emulator.look()
    assert after.json["DocumentIncarnation"] == 1 and after.headers["etag"] != before


def test_nothing_is_held_back_where_nobody_asks(start):
    emulator = start(scopes={"web": {"enabled": False}})
    event_id = emulator.inject("Reboot", source="User", tail=600)
    event = emulator.control("GET", "/events/" + event_id)
    assert (event["status"], event["times"]["scheduled"]) == ("Started", None)
    assert [entry["cause"] for entry in emulator.journal("started")] == ["disabled"]
    assert emulator.statuses() == ["Started"]  # whoever asks now sees it


def test_events_appear_some_time_after_the_enabling(start):
    emulator = start(scopes={"web": {"enabled": False, "events_delay": 300}})
    assert emulator.document()["Events"] == []
    event_id = emulator.inject("Reboot")
    assert emulator.document() == {"DocumentIncarnation": 1, "Events": []}
    assert emulator.approve(event_id).status == 400
    emulator.advance(300)
    document = emulator.document()
    assert (document["DocumentIncarnation"], len(document["Events"])) == (2, 1)


def test_the_enabling_answer_takes_its_time(start):
    emulator = start(speed=1000, scopes={"web": {"enabled": False, "first_call_delay": 120}})
    begin = emulator.control("GET", "/clock")["elapsed"]
    assert emulator.look().status == 200
    enabled = emulator.control("GET", "/clock")["elapsed"]
    assert enabled - begin >= 120


def test_with_the_clock_standing_still_the_enabling_answer_comes_when_it_is_moved(start):
    emulator = start(speed=0, scopes={"web": {"enabled": False, "first_call_delay": 120}})
    answers = queue.Queue()
    asking = threading.Thread(target=lambda: answers.put(emulator.look()))
    asking.start()
    until(lambda: emulator.control("GET", "/state")["scopes"]["web"]["enabled"])
    emulator.advance(119)
    assert asking.is_alive() and answers.empty()
    emulator.advance(1)
    assert answers.get(timeout=60).status == 200
    asking.join(60)


def test_an_enabling_answer_that_nobody_waits_for_any_more_harms_nothing(start):
    emulator = start(speed=0, scopes={"web": {"enabled": False, "first_call_delay": 120}})
    with socket.create_connection(emulator.metadata, 10) as asking:
        asking.sendall(
            b"GET /vm/web1/metadata/scheduledevents?api-version=2020-07-01 HTTP/1.1\r\nMetadata: true\r\n\r\n"
        )
        until(lambda: emulator.control("GET", "/state")["scopes"]["web"]["enabled"])
    emulator.advance(120)
    assert emulator.look().status == 200


def test_others_of_the_scope_wait_for_the_same_moment(start):
    world = start(scopes={"web": {"enabled": False, "first_call_delay": 120}}).service.world
    scope = world.scopes["web"]
    assert world.enabling.asked(scope) == 120
    world.timeline.advance(50)
    assert world.enabling.asked(scope) == 70
    world.timeline.advance(100)
    assert world.enabling.asked(scope) == 0


def test_steps_and_initial_values(start):
    emulator = start(scopes={"web": {"initial_incarnation": 0, "incarnation_step": 3}})
    assert emulator.document()["DocumentIncarnation"] == 0
    emulator.inject("Reboot")
    assert emulator.document()["DocumentIncarnation"] == 3
    assert emulator.document("lone")["DocumentIncarnation"] == 1


def test_gpu_sets_with_one_fault_domain_show_an_event_to_its_own_vm_only(start):
    emulator = start(scopes={"web": {"single_fault_domain_gpu": True}})
    event_id = emulator.inject("Redeploy", ["web2"])
    assert emulator.events("web1") == []
    assert len(emulator.events("WEB2")) == 1
    assert emulator.approve(event_id, vm="web1").status == 400
    assert emulator.approve(event_id, vm="web2").status == 200
