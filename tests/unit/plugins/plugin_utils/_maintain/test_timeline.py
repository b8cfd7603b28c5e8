# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person reads of a run."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.timeline import (
    plan_lines,
    status_lines,
    timeline,
)


def entry(**more):
    data = {
        "id": "A1",
        "type": "Reboot",
        "status": "Scheduled",
        "source": "Platform",
        "resources": ["vm1", "other"],
        "affected": ["web1"],
        "not_before": "Mon, 19 Sep 2022 18:29:47 GMT",
        "notice": 900.0,
        "budget": 840.0,
        "verdict": "prepare_and_approve",
        "rule": "Anything else",
        "why": "rule 4 matches every event",
        "approvers": ["web3", "web1"],
        "shown": 0.0,
        "planned": 0.5,
        "started": None,
        "gone": None,
        "outcome": "",
        "prepared": {},
        "recovered": {},
        "approval": {"sent": False, "by": "", "at": None, "confirmed": False, "tried": [], "problem": ""},
    }
    data.update(more)
    return data


def record(*entries):
    return {"clock": {"mono": 0.0, "wall": 86400.0}, "events": {one["id"]: one for one in entries}}


def test_a_whole_timeline_in_order_of_time():
    whole = entry(
        prepared={"web1": {"ok": True, "at": 10.0, "seconds": 9.25, "message": ""}},
        approval={"sent": True, "by": "web3", "at": 11.0, "confirmed": True, "tried": ["web3"], "problem": ""},
        started=11.5,
        gone=300.0,
        outcome="completed",
        recovered={
            "web1": {"ok": True, "at": 310.0, "seconds": 4.0, "reverted": False, "rebooted": True, "message": ""}
        },
    )
    assert timeline(record(whole)) == [
        "Reboot A1 (Platform) affects vm1, other (web1)",
        "  1970-01-02T00:00:00Z  shown      not before Mon, 19 Sep 2022 18:29:47 GMT, 900 s notice",
        "  1970-01-02T00:00:00Z  planned    prepare, then approve, within 840 s, approver web3, then web1 "
        "[policy: Anything else; rule 4 matches every event]",
        "  1970-01-02T00:00:10Z  prepared   web1 in 9.2 s",
        "  1970-01-02T00:00:11Z  approved   by web3, confirmed",
        "  1970-01-02T00:00:11Z  started    11.5 s after it was shown",
        "  1970-01-02T00:05:00Z  gone       completed",
        "  1970-01-02T00:05:10Z  recovered  web1 in 4.0 s, it had rebooted",
    ]


def test_failures_stand_out_and_say_why():
    failed = entry(
        prepared={"web1": {"ok": False, "at": 10.0, "seconds": 9.0, "message": "nginx did not stop"}},
        started=900.0,
        recovered={
            "web1": {"ok": False, "at": 20.0, "seconds": 1.0, "reverted": True, "rebooted": None, "message": "no route"}
        },
    )
    lines = timeline(record(failed))
    assert "  1970-01-02T00:00:10Z  FAILED     web1 in 9.0 s: nginx did not stop" in lines
    assert "  1970-01-02T00:00:20Z  NOT BACK   web1 in 1.0 s: no route" in lines
    assert "  1970-01-02T00:15:00Z  started    900.0 s after it was shown (not by our approval)" in lines


def test_what_was_undone_is_not_called_recovered():
    undone = entry(
        recovered={"web1": {"ok": True, "at": 20.0, "seconds": 1.0, "reverted": True, "rebooted": False, "message": ""}}
    )
    assert timeline(record(undone))[-1] == "  1970-01-02T00:00:20Z  reverted   web1 in 1.0 s, without a reboot"


def test_events_are_in_the_order_they_were_shown():
    lines = timeline(record(entry(id="LATE", shown=5.0, planned=5.0), entry(id="EARLY")))
    assert [line.split()[1] for line in lines if not line.startswith(" ")] == ["EARLY", "LATE"]


def test_a_run_without_events():
    assert timeline(record()) == ["No event was shown."]
    assert plan_lines(record(entry(gone=5.0))) == ["No event is shown: there is nothing to do."]


def test_the_plan_says_what_and_why():
    others = entry(
        id="B2",
        affected=[],
        verdict="not_ours",
        why="none of its machines is in this run",
        source="",
        notice=None,
        not_before="",
    )
    assert plan_lines(record(entry(), others)) == [
        "Reboot A1 (Platform) affects vm1, other (web1): prepare, then approve, within 840 s, approver web3, then web1 "
        "[policy: Anything else; rule 4 matches every event]",
        (
            "Reboot B2 (source unknown) affects vm1, other (none of ours): leave alone [policy: Anything else; none of "
            "its machines is in this run]"
        ),
    ]
    assert "  1970-01-02T00:00:00Z  shown      not before (no time), no notice" in timeline(record(others))


def test_status_of_every_machine():
    seen = {
        "id": "A1",
        "type": "Reboot",
        "status": "Scheduled",
        "resources": ["vm1", "vm2"],
        "notice": 12,
        "not_before": "soon",
        "source": "User",
        "affects_self": True,
    }
    assert status_lines(
        {
            "web1": {
                "events": [seen, dict(seen, id="B2", affects_self=False, notice=None, source="")],
                "resource_name": "vm1",
            },
            "lone": {"events": [], "resource_name": None},
            "w": {"events": [], "failure": {"kind": "denied"}, "msg": "HTTP 403.\nMore."},
            "x": {"failed": True, "msg": ""},
            "gone": {"unreachable": True, "msg": "ssh: connect to host gone port 22: Connection refused"},
        }
    )[:3] == [
        "web1  vm1: 2 events",
        "        Reboot Scheduled, in 12 s (soon), User, affects this machine, id A1",
        "        Reboot Scheduled, no time given, source unknown, affects vm1, vm2, id B2",
    ]


def test_status_of_machines_that_can_not_look():
    lines = status_lines(
        {
            "w": {"events": [], "failure": {"kind": "denied"}, "msg": "HTTP 403.\nMore."},
            "x": {"failed": True, "msg": ""},
            "y": {"unreachable": True, "msg": "ssh: connect to host gone port 22: Connection refused"},
            "z": {"events": [], "resource_name": ""},
        }
    )
    assert lines[:2] == ["w  CANNOT LOOK: HTTP 403.", "x  CANNOT LOOK: no reason was given"]
    assert lines[2].startswith("y  NOT REACHED: Nothing listens at that address")
    assert lines[3] == "z  (VM's name not known): no events"
    unusable = {"position": 2, "id": "", "reason": "it has no EventId", "raw": {}}
    assert status_lines({"web1": {"events": [], "resource_name": "vm1", "unusable_events": [unusable]}}) == [
        "web1  vm1: no events",
        "        CAN'T BE READ: entry 2 of its document: it has no EventId",
    ]
    assert status_lines({}) == ["There is no host."]
