# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine program is asked for, in all its parts; and what people read."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.transitions import RECOVERED, Try
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import (
    Approve,
    Go,
    Say,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import (
    steps_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import Story

E1 = {"id": "E1", "in": 900}


def go_of(acts):
    found = [act for act in acts if isinstance(act, Go)]
    assert len(found) == 1, acts
    return found[0]


def said(acts, happened):
    found = [act for act in acts if isinstance(act, Say) and act.happened == happened]
    assert len(found) == 1, acts
    return found[0]


def test_a_preparation_has_what_is_left_until_not_before():
    story = Story()
    go = go_of(story.tick({"at": 100.0, "document": [E1]}))
    assert (go.left, go.kinds, go.parallel, go.redo_after_reboot, go.no_new_steps) == (
        800.0,
        ("reboot",),
        False,
        False,
        False,
    )
    assert go.note == {
        "outage": "20260101T000140Z",
        "types": {"E1": "Reboot"},
        "started": [],
        "over": {},
        "approved": [],
        "notices": {"E1": 800.0},
        "said": {"E1": ["scheduled"]},
    }


def test_of_two_events_the_nearer_sets_the_time_and_both_types_the_steps():
    story = Story()
    go = go_of(story.tick({"at": 0, "document": [E1, {"id": "E2", "in": 30, "type": "Preempt"}]}))
    assert (go.left, go.events, go.kinds, go.parallel) == (30.0, ("E2", "E1"), ("preempt", "reboot"), True)


def test_what_runs_when_the_event_has_started_has_its_own_limit():
    story = Story({"limits": 1200.0})
    story.tick({"at": 0, "document": [E1]})
    go = go_of(story.tick({"mark": "preparing", "document": [dict(E1, status="Started")]}))
    assert (go.left, go.no_new_steps, go.note["started"]) == (1200.0, True, ["E1"])


def test_a_mark_that_can_not_be_read_is_not_called_a_state_that_can_not_be_written():
    story = Story()
    message = said(
        story.tick({"at": 0, "unreadable": "mark.json can't be understood: it is no JSON"}), "degraded"
    ).message
    assert "mark can't be read" in message and "write" not in message and "azure-maintenance recover --force" in message
    assert "replaced" in said(story.tick({"unreadable": ""}), "healthy").message


def test_what_can_not_be_read_is_said_with_what_follows_from_it():
    story, blank = Story(), {"broken": "number 2 of its Resources is blank", "id": "E7"}
    found = said(story.tick({"at": 0, "document": [E1, blank]}), "event_unreadable")
    assert found.message.startswith(
        "Entry 1 of the document (id E7) can't be read: number 2 of its Resources is blank. "
    )
    assert found.details == {"id": "E7", "position": 1, "reason": "number 2 of its Resources is blank"}
    assert story.handling.unreadable == [found.message]
    lost = {"broken": "it has no EventId"}
    story.tick({"at": 601, "document": [E1, lost]})
    story.tick({"mark": "prepared"})
    blocked = said(story.tick({"document": [lost]}), "recovery_blocked")
    assert (
        "out of service: Reboot E1 is not in the document any more, but entry 1 of the document (without an id)"
        in blocked.message
    )
    assert "azure-maintenance recover --force" in blocked.message
    assert story.handling.unreadable[1:] == [blocked.message]
    assert go_of(story.tick({"put_back": ["E1"]})).to == RECOVERED and len(story.handling.unreadable) == 1


def test_of_many_that_can_not_be_read_a_few_are_named():
    story = Story()
    acts = story.tick(
        {"at": 0, "document": [{"broken": "it has no Resources", "id": f"E{number}"} for number in range(9)]}
    )
    assert len(acts) == 5 and story.handling.unreadable[5:] == ["4 more entries of the document can't be read."]


def test_the_types_of_an_outage_are_known_after_a_reboot():
    story = Story()
    story.tick({"at": 0, "document": [dict(E1, type="Redeploy")]})
    story.tick({"mark": "prepared"})
    story.tick({"at": 60, "gap": True, "restart": "machine", "document": []})
    assert go_of(story.tick({"at": 65})).kinds == ("redeploy",)


def test_an_approval_stands_in_the_mark_before_it_is_sent():
    story = Story()
    story.tick({"at": 0, "document": [E1]})
    acts = story.tick({"mark": "prepared"})
    assert go_of(acts).note["approved"] == ["E1"] and not [act for act in acts if isinstance(act, Approve)]
    assert story.tick({}) == [Approve(("E1",), ("E1",))]


def test_an_outage_keeps_its_name_and_the_next_has_another():
    story = Story()
    first = go_of(story.tick({"at": 0, "document": [E1]})).note["outage"]
    assert go_of(story.tick({"at": 1, "mark": "prepared"})).note["outage"] == first
    story.tick({"at": 10, "document": [dict(E1, status="Started")]})
    story.tick({"at": 30, "document": []})
    assert go_of(story.tick({"at": 35})).note["outage"] == first
    acts = story.tick(
        {"at": 36, "mark": None, "answer": ["recovered", "recovered", ""], "document": [dict(E1, id="E2")]}
    )
    assert said(acts, "recovered").outage == first
    assert go_of(acts).note["outage"] != first


@pytest.mark.parametrize(
    "event, words",
    [
        (
            {"in": None},
            "Reboot E1 of this machine may start at any moment, as it names no time: the machine is prepared,",
        ),
        (
            {"in": None, "type": "SpotRebalanceRecommendation"},
            "SpotRebalanceRecommendation E1 of this machine is advice, and names no time: the machine is prepared, until the advice has disappeared",
        ),
        (
            {"in": None, "status": "Canceled"},
            "Reboot E1 of this machine has the status 'Canceled': it is only reported.",
        ),
    ],
)
def test_no_report_invents_a_time(event, words):
    said_of = said(Story({"policy": "prepare"}).tick({"at": 0, "document": [dict(E1, **event)]}), "scheduled")
    assert said_of.message.startswith(words)


def test_a_report_says_what_will_be_done_and_why_not_now():
    story = Story({"policy": "prepare"})
    say = said(story.tick({"at": 0, "document": [E1]}), "scheduled")
    assert say.message == (
        "Reboot E1 of this machine may start in 900 s: the machine is prepared, and the event starts by itself (policy: rule 1); "
        "not approved yet: the policy says prepare."
    )
    assert (say.event.event_id, say.notice, say.details) == ("E1", 900.0, {"do": "prepare", "rule": "rule 1"})


def test_whoever_asks_learns_what_an_event_waits_for():
    story = Story()
    story.tick({"at": 0, "document": [E1], "hold": {"by": "root"}})
    assert story.handling.decisions["E1"].waits == "approvals are on hold (root: a freeze)"
    story.tick({"hold": None})
    assert story.handling.decisions["E1"].waits == "the machine is not prepared yet"


def test_text_of_the_wire_comes_into_one_line_of_a_report():
    story = Story()
    story.tick({"at": 0, "document": [E1]})
    story.tick({"mark": "preparing"})
    why = "line one\nline two\x1b[31m"
    acts = story.tick({"mark": {"phase": "half", "steps": ["failed"]}, "answer": ["prepared", "failed", why]})
    assert "line one line two [31m" in said(acts, "prepare_failed").message


@pytest.mark.parametrize("times, seconds", [(1, 30), (2, 60), (3, 120), (6, 600), (20, 600)])
def test_what_was_tried_in_vain_rests_longer_each_time(times, seconds):
    tried = Try(RECOVERED, 100.0, times)
    assert tried.rests(RECOVERED, 100 + seconds - 0.1) and not tried.rests(RECOVERED, 100.0 + seconds)
    assert not tried.rests("prepared", 100.0)


def test_nothing_is_said_of_a_hold_that_was_copied():
    story = Story()
    acts = story.tick({"at": 0, "hold": {"vm_id": "id-of-another"}})
    assert [act.happened for act in acts if isinstance(act, Say)] == ["clone_detected"]


def step(key, kind="service"):
    return {"key": key, "name": key.rpartition("/")[2], "type": kind}


def test_of_several_types_all_steps_are_done_each_once_hooks_by_name_first():
    general = (step("prepare.d/20-b", "prepare_hook"), step("nginx"), step("app"))
    steps = {"": general, "reboot": (step("prepare.d/reboot/10-a", "prepare_hook"), *general)}
    assert [one["key"] for one in steps_of(steps, ("freeze", "reboot"))] == [
        "prepare.d/reboot/10-a",
        "prepare.d/20-b",
        "nginx",
        "app",
    ]
    assert steps_of(steps, ("freeze",)) == general
    assert steps_of(steps, ()) == general
    assert steps_of({}, ("freeze",)) == ()


def test_a_watcher_that_has_just_begun_waits_after_no_event_that_never_was():
    story, others = Story({"cooldown": 120.0}, alone_since=None), {"id": "E9", "in": 900, "on": ["vm2"]}
    seen = []
    for tick in (
        {"at": 0, "document": [dict(E1, **{"in": 5000})]},
        {"at": 8, "restart": "watcher"},
        {"at": 130, "gap": True, "document": [dict(E1, **{"in": 4870})]},
        {"at": 135, "document": [dict(E1, **{"in": 4865}), others]},
        {"at": 140, "document": [dict(E1, **{"in": 4860})]},
        {"at": 145},
    ):
        story.tick(tick)
        seen.append([reason.code for reason in story.handling.decisions["E1"].reasons][:1])
    assert seen == [["first_polls"]] * 3 + [["comes_first"]] + [["cooldown"]] * 2
