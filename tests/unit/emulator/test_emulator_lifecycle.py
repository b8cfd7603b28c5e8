# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How events come, start and go, and what of it the document shows."""

import contextlib
import json
import random

import emulator_harness  # noqa: F401  pylint: disable=unused-import  # it knows where the emulator is
import pytest
from imds_emulator.documents import VERSIONS
from imds_emulator.problems import WrongMoment
from imds_emulator.scenario import Scenario
from imds_emulator.scenario_reader import read_event


def test_not_before_starts_it(emulator):
    emulator.inject("Reboot", notice=900, tail=600)
    emulator.advance(899.9)
    (before,) = emulator.events()
    emulator.advance(0.1)
    (after,) = emulator.events()
    assert (before["EventStatus"], before["NotBefore"]) == ("Scheduled", "Mon, 02 Mar 2026 08:15:00 GMT")
    assert (after["EventStatus"], after["NotBefore"]) == ("Started", "")
    assert before["EventId"] == after["EventId"]
    emulator.advance(600)
    assert emulator.events() == []


def test_every_visible_change_is_one_incarnation(emulator):
    seen = [emulator.document()["DocumentIncarnation"]]
    event_id = emulator.inject("Reboot", tail=600)
    seen.append(emulator.document()["DocumentIncarnation"])
    emulator.approve(event_id)
    emulator.approve(event_id)
    seen.append(emulator.document()["DocumentIncarnation"])
    emulator.advance(600)
    seen.append(emulator.document()["DocumentIncarnation"])
    emulator.advance(3600)
    seen.append(emulator.document()["DocumentIncarnation"])
    assert seen == [1, 2, 3, 4, 4]


def test_all_vms_of_a_scope_see_one_document_and_others_nothing(emulator):
    emulator.inject("Reboot", ["web2"])
    assert emulator.look("web1").body == emulator.look("web2").body
    assert emulator.document("lone") == {"DocumentIncarnation": 1, "Events": []}


@pytest.mark.parametrize(
    "event_type, notice, tail",
    [
        ("Freeze", 900, 600),
        ("Reboot", 900, 600),
        ("Redeploy", 600, 600),
        ("Preempt", 30, 60),
        ("Terminate", 300, 60),
        ("Hibernate", 900, 600),
    ],
)
def test_usual_timings(emulator, event_type, notice, tail):
    emulator.inject(event_type)
    emulator.advance(notice - 1)
    assert emulator.statuses() == ["Scheduled"]
    emulator.advance(1)
    assert emulator.statuses() == ["Started"]
    emulator.advance(tail - 1)
    assert emulator.statuses() == ["Started"]  # far longer than the duration
    emulator.advance(1)
    assert emulator.statuses() == []


def test_cancellation(emulator):
    event_id = emulator.inject("Reboot", cancel_after=480)
    emulator.advance(479)
    assert emulator.statuses() == ["Scheduled"]
    emulator.advance(1)
    assert emulator.statuses() == []
    event = emulator.control("GET", "/events/" + event_id)
    assert (event["status"], event["outcome"], event["times"]["started"]) == ("Gone", "cancelled", None)
    assert emulator.journal("started") == []


def test_what_has_started_is_not_cancelled(emulator):
    event_id = emulator.inject("Reboot", cancel_after=480, tail=3600)
    emulator.approve(event_id)
    emulator.advance(1000)
    assert emulator.statuses() == ["Started"]


@pytest.mark.parametrize("event_type", ["Reboot", "Redeploy"])
def test_hardware_failure_comes_without_notice(emulator, event_type):
    emulator.inject(event_type, ["web1", "web2"], status="Started")
    (event,) = emulator.events()
    assert (event["EventStatus"], event["EventType"], event["NotBefore"], event["Resources"]) == (
        "Started",
        event_type,
        "",
        ["web1", "web2"],
    )
    assert event["Description"] == "Virtual machine has encountered a failure."
    assert [entry["cause"] for entry in emulator.journal("started")] == ["no_notice"]
    assert emulator.journal("scheduled") == []


def test_user_events_that_a_scope_approves_by_itself(start):
    emulator = start(scopes={"web": {"automatically_approve": ["Reboot"]}})
    emulator.inject("Reboot", source="User")
    emulator.inject("Redeploy", source="User")
    emulator.inject("Reboot", source="Platform")
    assert emulator.statuses() == ["Started", "Scheduled", "Scheduled"]


def test_a_user_event_says_so(emulator):
    emulator.inject("Redeploy", source="User")
    (event,) = emulator.events()
    assert (event["EventSource"], event["Description"]) == (
        "User",
        "Virtual machine is going to be redeployed as requested by authorized user.",
    )


def test_an_event_that_never_ends_by_itself(emulator):
    event_id = emulator.inject("Freeze", status="Started", tail="never")
    emulator.advance(80000)
    assert emulator.statuses() == ["Started"]
    emulator.control("POST", "/events/" + event_id + "/complete")
    assert emulator.statuses() == []


def test_several_events_stand_in_one_document(emulator):
    emulator.inject("Freeze", ["web2"])
    emulator.inject("Reboot", ["web1"])
    assert [event["EventType"] for event in emulator.events()] == ["Freeze", "Reboot"]


def test_back_to_back(start):
    emulator = start(
        resources=["web1", "web2"],
        events=[
            {"name": "first", "type": "Reboot", "resources": [0], "at": 5, "notice": 60, "tail": 30},
            {"name": "second", "type": "Reboot", "resources": [1], "after": "first", "at": 2, "notice": 60, "tail": 30},
        ],
    )
    assert emulator.statuses() == []
    emulator.advance(5)
    assert emulator.events()[0]["Resources"] == ["web1"]
    emulator.advance(90)
    assert emulator.statuses() == []
    emulator.advance(2)
    assert emulator.events()[0]["Resources"] == ["web2"]


def test_a_jump_plays_everything_on_the_way(emulator):
    emulator.inject("Reboot", notice=900, tail=600)
    emulator.advance(10000)
    assert [(entry["kind"], entry["virtual"][11:19]) for entry in emulator.journal("scheduled", "started", "gone")] == [
        ("scheduled", "08:00:00"),
        ("started", "08:15:00"),
        ("gone", "08:25:00"),
    ]
    assert emulator.document()["DocumentIncarnation"] == 4


# -- Terminate: pending deletes are coupled


def test_equal_deletes_start_all_or_none(start):
    emulator = start(
        resources=["web1", "web2"],
        events=[
            {"name": "one", "type": "Terminate", "resources": [0], "at": 1},
            {"name": "two", "type": "Terminate", "resources": [1], "at": 1},
        ],
    )
    emulator.advance(1)
    one, two = emulator.events()
    assert one["NotBefore"] == two["NotBefore"]
    assert emulator.approve(two["EventId"], vm="web2").status == 200
    assert emulator.statuses() == ["Scheduled", "Scheduled"]
    before = emulator.document()["DocumentIncarnation"]
    assert emulator.approve(one["EventId"], vm="web1").status == 200
    assert emulator.statuses() == ["Started", "Started"]
    assert emulator.document()["DocumentIncarnation"] == before + 1  # together, in one


def test_a_later_delete_waits_for_the_earlier_one(emulator):
    first = emulator.inject("Terminate", ["web1"], notice=300)
    emulator.advance(10)
    second = emulator.inject("Terminate", ["web2"], notice=300)
    emulator.approve(second, vm="web2")
    assert emulator.statuses() == ["Scheduled", "Scheduled"]
    emulator.approve(first, vm="web1")
    assert emulator.statuses() == ["Started", "Started"]


def test_the_earlier_delete_waits_for_nobody(emulator):
    first = emulator.inject("Terminate", ["web1"], notice=300)
    emulator.advance(10)
    emulator.inject("Terminate", ["web2"], notice=300)
    emulator.approve(first, vm="web1")
    assert emulator.statuses() == ["Started", "Scheduled"]


@pytest.mark.parametrize("end", ["timeout", "cancel"])
def test_a_delete_is_released_when_the_earlier_one_is_out_of_the_way(emulator, end):
    first = emulator.inject("Terminate", ["web1"], notice=300, tail=3600)
    emulator.advance(100)
    second = emulator.inject("Terminate", ["web2"], notice=300, tail=3600)
    emulator.approve(second, vm="web2")
    if end == "timeout":
        emulator.advance(200)
        assert emulator.statuses() == ["Started", "Started"]
    else:
        emulator.control("POST", "/events/" + first + "/cancel")
        assert emulator.statuses() == ["Started"]


def test_other_types_are_not_coupled(emulator):
    emulator.inject("Terminate", ["web1"])
    event_id = emulator.inject("Reboot", ["web2"])
    emulator.approve(event_id)
    assert emulator.statuses() == ["Scheduled", "Started"]


# -- advice


@pytest.mark.parametrize("form, shown", [("empty", ""), ("date", "Mon, 02 Mar 2026 08:10:00 GMT"), ("absent", None)])
def test_advice(start, form, shown):
    emulator = start(settings={"preview_version": True})
    event_id = emulator.inject("SpotRebalanceRecommendation", not_before=form)
    (event,) = emulator.events(version="2024-07-09")
    assert (event["EventStatus"], event["EventType"], event.get("NotBefore")) == (
        "Advisory",
        "SpotRebalanceRecommendation",
        shown,
    )
    assert emulator.approve(event_id, version="2024-07-09").status == 200
    assert emulator.journal("post")[0]["requests"][0]["result"] == "advice"
    assert emulator.events(version="2024-07-09") == [event]  # nothing came of it
    emulator.advance(600)
    assert emulator.events(version="2024-07-09") == []


# -- moved by hand


def test_moves(emulator):
    event_id = emulator.inject("Reboot")
    assert emulator.control("POST", "/events/" + event_id + "/start")["status"] == "Started"
    assert emulator.control("POST", "/events/" + event_id.lower() + "/complete")["outcome"] == "completed"
    cancelled = emulator.inject("Reboot")
    assert emulator.control("POST", "/events/" + cancelled + "/cancel")["outcome"] == "cancelled"
    emulator.advance(10000)
    assert len(emulator.journal("gone")) == 2


@pytest.mark.parametrize(
    "begin, move",
    [
        ({}, "complete"),
        ({"status": "Started"}, "cancel"),
        ({"status": "Started"}, "start"),
        ({"at": 60}, "approve"),
        ({"at": 60}, "complete"),
    ],
)
def test_impossible_moves(emulator, begin, move):
    event_id = emulator.inject("Reboot", **begin)
    assert event_id in emulator.control("POST", "/events/" + event_id + "/" + move, status=409)["error"]


def test_an_event_can_be_started_before_it_is_shown(emulator):
    event_id = emulator.inject("Reboot", at=60)
    assert emulator.statuses() == []
    emulator.control("POST", "/events/" + event_id + "/start")
    assert emulator.statuses() == ["Started"]
    emulator.advance(60)
    assert emulator.statuses() == ["Started"]


# -- whatever happens


@pytest.mark.parametrize("seed", range(8))
def test_one_incarnation_is_one_content(start, seed):
    """Of anything that can happen, in any order: a document that changes has a new incarnation and a new ETag."""
    dice = random.Random(seed)
    world = start().service.world
    seen = {}  # ETag -> body
    before = None

    def inject():
        keys = {
            "type": dice.choice(["Freeze", "Reboot", "Terminate"]),
            "resources": dice.sample(["web1", "web2"], dice.choice([1, 2])),
        }
        keys.update(
            notice=dice.choice([5, 60]),
            tail=dice.choice([5, 60]),
            at=dice.choice([0, 7]),
            co_tenant_delay=dice.choice([0, 3, "never"]),
        )
        if dice.random() < 0.3:
            keys["cancel_after"] = dice.choice([2, 30])
        if dice.random() < 0.2:
            keys["status"] = "Started"
        world.load(Scenario(events=(read_event(keys, "", ""),)))

    def move():
        events = [event for event in world.events.values() if event.status != "Gone"]
        if events:
            event, act = (
                dice.choice(events),
                dice.choice([world.lifecycle.start, world.lifecycle.cancel, world.lifecycle.complete]),
            )
            with contextlib.suppress(WrongMoment):
                act(event)

    def approve():
        scope = world.scopes["web"]
        if scope.events:
            world.post(world.vms["web1"], [dice.choice(scope.events).id])

    for _step in range(150):
        dice.choice([inject, move, approve, lambda: world.timeline.advance(dice.choice([1, 4, 70]))])()
        scope = world.scopes["web"]
        body = scope.document(VERSIONS["2020-07-01"], "rfc1123", world.vms["web1"])
        document = json.loads(body.decode())
        assert seen.setdefault(scope.etag(VERSIONS["2020-07-01"]), body) == body
        if before is not None:
            assert document["DocumentIncarnation"] >= before["DocumentIncarnation"]
            if document["Events"] != before["Events"]:
                assert document["DocumentIncarnation"] > before["DocumentIncarnation"]
        for event in document["Events"]:
            assert (event["NotBefore"] == "") == (event["EventStatus"] == "Started")
        before = document
    assert len(seen) > 20
