# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook status shows."""

from __future__ import annotations

import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.status import (
    duration,
    status_lines,
    unknown,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import (
    DENIED,
    LOST,
    UNREADABLE,
    answer,
    event,
    machine,
    mark,
    step,
    watcher,
)

TEN_PAST = 1767226200.0  # ten minutes after the marks were made


def lines(*machines):
    return status_lines(machines, TEN_PAST)


def test_machines_stand_in_columns_and_their_events_below():
    seen = (event("A-1"), event("B-2", affects_self=False, notice=None))
    said = lines(
        machine("web1", answer(*seen)),
        machine("db", answer(name="prod-db-01", mark=mark("A-1"))),
    )
    assert said[:4] == [
        "web1  vm1: 2 events          no mark",
        "        Reboot Scheduled, in 300 s (soon), Platform, affects this machine, id A-1",
        "        Reboot Scheduled, no time given, Platform, affects vm1, vm2, id B-2",
        "db    prod-db-01: no events  PREPARED, its owner may be alive",
    ]


@pytest.mark.parametrize("alive", [True, False])
def test_why_a_watcher_does_not_approve_an_event_and_what_ends_that(alive):
    waits = {"A-1": ["approvals are on hold (ann: a freeze)", "azure-maintenance release"]}
    said = lines(machine(said={**answer(event("A-1")), "watcher": watcher(alive, waits=waits)}))
    assert (
        said[2:]
        == [
            "          not approved by its watcher: approvals are on hold (ann: a freeze)",
            "          what ends it: azure-maintenance release",
        ]
        * alive
    ), "what one that is down had said counts no more"


def test_a_mark_says_who_for_what_since_when_and_how_far():
    steps = [
        step("service nginx"),
        step("command flush", "begun"),
        step("haproxy lb1", "failed", note="no such server"),
        step("http app", "waiting"),
    ]
    said = lines(machine(mark=mark("A-1", "B-2", phase="half", steps=steps), yes=["A-1"]))
    assert said == [
        "web1  vm1: no events  HALF, its owner may be alive",
        "        mark: half for A-1, B-2, by run r7 (job 12) on ctl1, since 2026-01-01T00:00:00Z (10 min ago)",
        "        owner: last renewed 40 s ago; without a renewal it counts as alive for another 80 s",
        "        done: service nginx",
        "        under way: command flush",
        "        FAILED: haproxy lb1 (no such server)",
        "        not started: http app",
        "        confirmed by a person: A-1",
    ]


@pytest.mark.parametrize(
    "changes, is_said",
    [
        ({}, True),
        ({"phase": "preparing"}, True),
        ({"phase": "recovering"}, False),
        ({"kind": "drain"}, False),  # it approves nothing
    ],
)
def test_what_is_not_verified_before_an_approval_is_said_below_the_mark(changes, is_said):
    flush, late = (
        dict(step(key, state), not_verified=True) for key, state in (("flush\n", "done"), ("late", "waiting"))
    )
    said = lines(machine(mark=mark("A-1", steps=[step("service nginx"), flush, late], **changes)))
    assert [line.strip() for line in said if "not verified" in line] == ["not verified: flush"] * is_said


@pytest.mark.parametrize(
    "changes, short, life",
    [
        (
            {"uptime": 400.0},
            "PREPARED, its owner has EXPIRED",
            "EXPIRED, last renewed 5 min ago: maintain or recover takes",
        ),
        ({"boot_id": "b2", "uptime": 5.0}, "PREPARED, its owner has EXPIRED", "the machine has been rebooted since"),
        ({"uptime": None}, "PREPARED, its owner may be alive", "last renewed 2026-01-01T00:01:00Z"),
        ({"mark": mark(kind="drain")}, "PREPARED by role drain", "recovered by role drain's entry point recover"),
        (
            {"mark": mark("A-1", kind="drain", phase="half")},
            "HALF, its owner has EXPIRED",
            "EXPIRED, last renewed 40 s",
        ),
        (
            {"mark": mark("A-1", kind="drain", phase="recovering")},
            "RECOVERING, its owner may be alive",
            "last renewed 40 s ago; without a renewal it counts as alive",
        ),
    ],
)
def test_whether_a_mark_s_holder_lives(changes, short, life):
    first, _mark, holder, *_rest = lines(machine(**{"mark": mark("A-1"), **changes}))
    assert first.endswith(f"  {short}")
    assert life in holder


def test_marks_that_can_not_be_read_are_named_with_the_reason():
    assert lines(machine(mark=UNREADABLE)) == [
        "web1  vm1: no events  MARK CAN'T BE READ",
        "        mark: /m/mark.json can't be understood: it is no JSON",
    ]


def test_one_that_can_not_look_still_shows_its_mark():
    said = lines(machine(mark=mark(phase="recovering"), **DENIED))
    assert said[:3] == [
        "web1  vm1: CANNOT POLL  RECOVERING, its owner may be alive",
        "        why: HTTP 403.",
        "        mark: recovering for no event, by run r7 (job 12) on ctl1, since 2026-01-01T00:00:00Z (10 min ago)",
    ]


def test_machines_that_were_not_reached_are_named_at_the_end_too():
    said = lines(machine("web1", LOST), machine("web2"), Asked("web3", True, "vm3", {}))
    assert said == [
        "web1  NOT REACHED: no route to host",
        "web2  vm1: no events  no mark",
        "web3  NOT REACHED: the task that was to ask it failed (see above)",
        "Not reached, so nothing is known of their events and marks: web1, web3.",
    ]
    assert lines() == ["There is no host."]


def test_what_can_not_be_read_of_a_document_is_shown():
    unusable = {"position": 2, "id": "", "reason": "it has no EventId", "raw": "{}"}
    assert lines(machine(name="", unusable=[unusable])) == [
        "web1  (name in Azure not known): no events  no mark",
        "        CAN'T BE READ: entry 2 of its document: it has no EventId",
    ]


def test_text_of_a_mark_stays_in_its_line():
    found = mark("A\n1", run="r7\x1b[2J", steps=[step("command a\nb", "failed", note="c\td")])
    found["since"] = "some\ntime"
    assert lines(machine(mark=found))[1:] == [
        "        mark: prepared for A 1, by run r7 [2J (job 12) on ctl1, since some time",
        "        owner: last renewed 40 s ago; without a renewal it counts as alive for another 80 s",
        "        FAILED: command a b (c d)",
    ]


@pytest.mark.parametrize(
    "seconds, words", [(-5, "0 s"), (119.4, "119 s"), (120, "2 min"), (7200, "2 h"), (172800, "2 d")]
)
def test_durations_for_people(seconds, words):
    assert duration(seconds) == words


def blind(host, seconds):
    reason = f"No connection. Asked {seconds} times in {seconds}.5 s."
    return machine(host, {"answers": [{"events": [], "failure": {"kind": "unreachable"}, "msg": reason}]})


def test_why_several_machines_can_not_look_is_said_once_with_their_number():
    said = lines(blind("web1", 5), blind("web2", 6), machine("web3", answer(event("A-1"))))
    assert len([line for line in said if "No connection" in line]) == 1
    assert said[-1] == "CANNOT POLL, 2 machines (web1, web2): No connection. Asked 5 times in 5.5 s."
    assert sum("CANNOT POLL" in line for line in said) == 3


def test_why_one_can_not_stands_below_it():
    said = lines(blind("web1", 5), machine("web3", answer(event("A-1"))))
    assert said[1].endswith("why: No connection. Asked 5 times in 5.5 s.")


def test_what_is_not_known_is_for_monitors():
    assert unknown([machine("web3", answer(event("A-1")))]) == []
    found = unknown([blind("web1", 5), blind("web2", 5), machine("web3", LOST), machine("web4", mark=UNREADABLE)])
    assert found == [
        "not reached: web3 of 4",
        "can't poll: 2 machines (web1, web2) of 4",
        "mark can't be read: web4 of 4",
    ]


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_the_age_of_a_mark_does_not_depend_on_the_controllers_time_zone(zone, monkeypatch):
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(TEN_PAST - 600))
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        said = lines(machine(mark=dict(mark("A-1"), since=since)))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "(10 min ago)" in "\n".join(said)


def placed(host, scope="", **hello):
    said = answer(name=host)
    first, *others = said["answers"]
    return Asked(host, True, "", {**said, "answers": [{**first, **hello}, *others]}, scope=scope)


def test_scopes_are_shown_and_what_contradicts_them_while_there_is_no_event():
    said = lines(
        placed("web1", "web", zone="1", fault_domain="0"),
        placed("web2", "web", zone="2"),
        placed("db1", placement_group="g-1", fault_domain="0"),
        placed("db2", placement_group="g-1", fault_domain="1"),
        placed("app1", "app", placement_group="g-2"),
        placed("app2", "app", placement_group="g-3"),
        placed("lone"),
    )
    assert [line for line in said if line.startswith(("scope", "CHECK"))] == [
        "scope web by the inventory: web1 (zone 1), web2 (zone 2)",
        "scope placement group g-1 by Azure: db1 (fault domain 0), db2 (fault domain 1)",
        "scope app by the inventory: app1, app2",
        "CHECK: The machines of scope 'web' are in several zones (web1 in zone 1, web2 in zone 2), which those of an availability set never "
        "are: see azure_maintenance_scope.",
        "CHECK: The machines of scope 'app' (app1, app2) are in several placement groups, so they may not be one scope: see "
        "azure_maintenance_scope.",
    ]
