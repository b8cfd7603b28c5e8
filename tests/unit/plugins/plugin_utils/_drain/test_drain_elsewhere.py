# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that others do for a machine: one look's result in, what came of the step out."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import elsewhere
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan

HOST = Host(
    "web1", "linux", {"all": ["web1", "lb1", "lb2"], "lb": ["lb1", "lb2"]}, lambda name: "linux", lambda path: path
)
BALANCERS = {"type": "haproxy", "load_balancers": ["lb"]}


def hand(
    raw,
    direction="do",
    left=60.0,
    before=None,
    begun=True,
    attempts=(),
    by="r1",
    since="12:00",
    no_new_steps=False,
    begins=30.0,
    age=0.0,
):
    plan = make_plan([raw], HOST)
    assert not plan["errors"]
    key = plan["steps"][0]["key"]
    asked = {
        "key": key,
        "direction": direction,
        "begun": begun,
        "no_new_steps": no_new_steps,
        "left": left,
        "begins": begins,
    }
    step = {"key": key, "before": before, "by": by, "tries": 1, "limit": left}
    mark = {"since": since, "holder": {"run": "r2"}, "steps": [step]}
    return elsewhere.at_hand(elsewhere.aged({"elsewhere": asked, "mark": mark}, age), plan["steps"], attempts)


def shown(*states, balancer="lb1", **more):
    after = [{"status": status, "scur": str(sessions)} for status, sessions in states]
    return {"state_after": after, "__drain_target": {"load_balancer": balancer}, "changed": True, **more}


def looked(*rounds):
    return {"results": list(rounds), "changed": True}


OUT = ["out", "sessions"]


def test_another_run_goes_on_with_what_may_be_done_once_more():
    assert hand(BALANCERS, begun=False)["repeatable"]
    assert not hand({"type": "command", "do": "suspend", "delegate_to": "lb1"}, begun=False)["repeatable"]


def test_its_sessions_are_waited_for_until_the_last_look_that_there_is_time_for():
    busy = looked(shown(("DRAIN", 2)))
    assert elsewhere.seen(hand(BALANCERS), OUT, busy)["state"] == "pending"
    over = elsewhere.seen(hand(BALANCERS, left=2.0), OUT, busy)
    assert over == {"state": "failed", "note": "server web1 still has 2 sessions", "direction": "do"}
    going_on = elsewhere.seen(hand(dict(BALANCERS, at_limit="continue"), left=2.0), OUT, busy)
    assert going_on == {"state": "done", "note": "went on although server web1 still had 2 sessions", "direction": "do"}


COMMAND = {"type": "command", "do": "app drain", "undo": "app resume", "delegate_to": "lb1"}


@pytest.mark.parametrize(
    "result, state",
    [
        ({"ansible_job_id": "j1.1", "finished": 0, "started": 1}, "pending"),
        ({"ansible_job_id": "j1.1", "finished": False}, "pending"),
        ({"ansible_job_id": "j1.1", "finished": 1, "rc": 0}, "done"),
        ({"ansible_job_id": "j1.1", "finished": True, "rc": 3, "failed": True, "cmd": ["app"]}, "failed"),
        ({}, "done"),
    ],
)
def test_a_job_is_pending_until_it_has_ended(result, state):
    assert elsewhere.seen(hand(COMMAND, begun=False), [], result)["state"] == state


def test_what_was_marked_as_begun_in_an_answer_that_was_lost_is_begun_once():
    heard = hand(COMMAND)["attempt"]
    assert hand(COMMAND, begun=False, by="r2")["begun"]
    assert not hand(COMMAND, begun=False, by="r2", attempts=[heard])["begun"]
    assert hand(COMMAND, begun=False, by="r2", attempts=[heard], since="13:00")["begun"]  # in another outage
    assert hand(COMMAND, "undo", begun=False, by="r2", attempts=[heard])["begun"]
    assert not hand(COMMAND, begun=False, by="r2", no_new_steps=True)["begun"]
    assert hand(COMMAND, begun=True, by="r2", no_new_steps=True)["begun"]


def test_what_another_run_has_begun_or_has_no_time_left_is_not_begun():
    assert not hand(COMMAND, begun=False, by="r1")["begun"]
    assert not hand(COMMAND, begun=False, by="r2", left=0.4)["begun"]


@pytest.mark.parametrize(
    "more, late",
    [({"begins": 0.0}, True), ({"begins": 0.1}, False), ({"begins": 0.0, "begun": False, "by": "r1"}, False)],
)
def test_what_was_not_begun_before_the_time_was_used_up_is_not_begun_and_what_runs_goes_on(more, late):
    assert elsewhere.too_late(hand(COMMAND, **more)) == late
    assert not elsewhere.too_late(hand(COMMAND, direction="undo", **more))


def test_a_secret_step_keeps_its_words_back():
    secret = dict(COMMAND, no_log=True)
    found = elsewhere.seen(hand(secret), [], {"failed": True, "rc": 3, "cmd": ["x"], "stderr": "geheim"})
    assert found["note"] == "it failed with 3; its words are kept back (no_log)"
    url = "http://127.0.0.1/status"
    asks = {"type": "http", "no_log": True, "do": {"url": url, "until": {"contains": "geheim"}}, "delegate_to": "lb1"}
    found = elsewhere.seen(hand(asks, left=0.0), ["until"], {"status": 200, "content": "no"})
    assert found["state"] == "failed" and "geheim" not in found["note"]
    found = elsewhere.seen(hand(asks), ["until"], {"status": 200, "content": "geheim"})
    assert found == {"state": "done", "note": "", "direction": "do"}


def test_the_case_before_is_what_its_type_makes_of_the_answer():
    step = hand(BALANCERS)["step"]
    rounds = looked({"servers": [{"backend": "www", "status": "UP"}], "__drain_target": {"load_balancer": "lb1"}})
    assert elsewhere.initial_state(step, rounds) == {"initial": {"servers": {"lb1/www": "UP"}}}
    refused = looked({"failed": True, "msg": "no server web1", "__drain_target": {"load_balancer": "lb1"}})
    assert "no server web1" in elsewhere.initial_state(step, refused)["failed"]


def test_a_windows_service_that_is_not_there_is_no_service_that_does_not_run():
    step = {"type": "service", "service": "Shp"}
    assert elsewhere.initial_state(step, {"services": [], "exists": False}) == {
        "failed": "this machine has no service Shp"
    }
    assert elsewhere.initial_state(step, {"services": [{"state": "stopped"}]}) == {"initial": {"ran": False}}


def test_what_has_to_wait_says_why():
    waits = elsewhere.waits(hand(COMMAND), "not now")
    assert waits == {"state": "pending", "note": "not now", "direction": "do", "left": hand(COMMAND)["left"]}


def test_what_begins_now_has_all_of_its_time_and_what_went_on_has_the_rest():
    """The run may have waited for another machine's answer since this one's."""
    begun, goes_on = (hand(BALANCERS, left=60.0, begun=begun, age=20.0, attempts=["12:00 "]) for begun in (True, False))
    assert (begun["left"], begun["late"], begun["begins"]) == (60.0, 20.0, 10.0)
    assert (goes_on["left"], goes_on["late"]) == (40.0, 0.0)
    drains = looked(shown(("DRAIN", 3)))
    assert elsewhere.seen(begun, OUT, drains)["late"] == 20.0
    assert "late" not in elsewhere.seen(goes_on, OUT, drains)
    assert "late" not in elsewhere.waits(begun, "it may not begin yet")
