# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What others do for a machine as the rounds of one task: what is ordered, and what came of it."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import elsewhere, orders
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan

HOST = Host("web1", "linux", {"all": ["web1", "lb1", "lb2"]}, lambda name: "linux", lambda path: path)
RAW = {"type": "haproxy", "load_balancers": ["lb1", "lb2"], "backends": ["www"], "become": True}
KEY = "haproxy server web1 on lb1, lb2"
UP = {"servers": {"lb1/www": "UP", "lb2/www": "UP"}}


def plan(**more):
    made = make_plan([dict(RAW, **more)], HOST)
    assert not made["errors"]
    return made["steps"]


def answer(direction="", ask=(), before=None, left=60.0, number=7, begun=True, no_new_steps=False):
    asked = (
        {"key": KEY, "direction": direction, "begun": begun, "no_new_steps": no_new_steps, "left": left, "begins": left}
        if direction
        else None
    )
    entry = {"key": KEY, "before": before, "by": "r1", "tries": 1, "limit": left}
    mark = {"since": "12:00", "holder": {"run": "r1"}, "steps": [entry]}
    return {"number": number, "ask": list(ask), "elsewhere": asked, "mark": mark}


def came(ordered, *results):
    """What the rounds of these orders returned."""
    return [dict(one, __drain_target=order) for order, one in zip(ordered, results, strict=True)]


def shown(status, sessions=0):
    return {"state_after": [{"status": status, "scur": str(sessions)}], "changed": True}


def test_nobody_is_asked_for_anything():
    assert orders.orders(answer(), plan()) == []
    assert orders.done(answer(), plan(), []) == {"before": {}, "outcomes": {}, "jobs": {}}


def test_each_load_balancer_is_asked_for_the_case_before():
    first, second = orders.orders(answer(ask=[KEY]), plan())
    assert first == {
        "place": "lb1",
        "load_balancer": "lb1",
        "backend": "www",
        "become": True,
        "use": "cloudops.azure_maintenance.haproxy_status",
        "options": {"server": "web1", "socket": "/run/haproxy/admin.sock", "backend": "www"},
        "key": KEY,
        "part": "before",
        "number": 7,
    }
    assert second["load_balancer"] == "lb2"


def test_the_case_before_is_handed_on_or_why_there_is_none():
    asked = answer(ask=[KEY])
    ordered = orders.orders(asked, plan())
    status = {"servers": [{"backend": "www", "status": "UP"}]}
    assert orders.done(asked, plan(), came(ordered, status, status))["before"] == {KEY: UP}
    refused = {"failed": False, "went_wrong": {"failed": True, "msg": "no such socket"}}
    found = orders.done(asked, plan(), came(ordered, status, refused))
    assert found["before"] == {} and found["outcomes"][KEY]["state"] == "failed"
    assert "lb2" in found["outcomes"][KEY]["note"] and "no such socket" in found["outcomes"][KEY]["note"]


@pytest.mark.parametrize(
    "direction, more, state",
    [("do", {}, "drain"), ("do", {"mode": "maint"}, "disabled"), ("undo", {}, "enabled")],
)
def test_the_server_is_set_on_each(direction, more, state):
    first, _second = orders.orders(answer(direction, before=UP), plan(**more))
    assert (first["use"], first["part"]) == ("community.general.haproxy", "step")
    assert first["options"] == {
        "host": "web1",
        "state": state,
        "fail_on_not_found": True,
        "socket": "/run/haproxy/admin.sock",
        "backend": "www",
    }


@pytest.mark.parametrize("direction", ["do", "undo"])
def test_what_nobody_of_this_run_has_gone_about_is_not_begun_where_nothing_new_may_be(direction):
    marked = answer(
        direction, begun=False, no_new_steps=True
    )  # by a call whose answer was lost, or by a run that is gone
    assert orders.orders(marked, plan()) == []
    assert orders.orders(answer(direction, begun=False), plan())
    known = orders.done(marked, plan(), came(orders.orders(answer(direction), plan()), shown("MAINT"), shown("MAINT")))
    assert orders.orders(marked, plan(), known["jobs"])


def test_without_a_backend_all_of_them_are_meant():
    (first, _second) = orders.orders(answer("do"), plan(backends=[]))
    assert "backend" not in first["options"] and first["options"]["fail_on_not_found"] is False


def test_what_an_administrator_had_taken_out_is_let_be():
    before = {"servers": {"lb1/www": "MAINT", "lb2/www": "UP"}}
    assert [order["load_balancer"] for order in orders.orders(answer("do", before=before), plan())] == ["lb2"]


@pytest.mark.parametrize(
    "results, state, note",
    [
        ((shown("DRAIN"), shown("DRAIN")), "done", ""),
        ((shown("DRAIN"), shown("DRAIN", 2)), "pending", "server web1 still has 2 sessions"),
        ((shown("DRAIN"), shown("UP")), "failed", "lb2: HAProxy shows web1 as UP"),
        (
            (shown("DRAIN"), {"went_wrong": {"unreachable": True, "msg": "no route"}}),
            "failed",
            "lb2 unreachable: no route",
        ),
        ((shown("DRAIN"), {"failed": True, "msg": "a template is broken"}), "failed", "a template is broken"),
        ((shown("DRAIN"), {"unreachable": True, "msg": "no such host"}), "failed", "lb2 unreachable: no such host"),
    ],
)
def test_what_came_of_it(results, state, note):
    asked = answer("do", before=UP)
    found = orders.done(asked, plan(), came(orders.orders(asked, plan()), *results))
    outcome = found["outcomes"][KEY]
    assert (outcome["state"], outcome["direction"], found["before"]) == (state, "do", {})
    assert note in outcome["note"]


def test_what_came_of_an_earlier_call_says_nothing():
    ordered = orders.orders(answer("do", before=UP, number=6), plan())
    later = answer("do", before=UP)
    assert orders.done(later, plan(), came(ordered, shown("DRAIN"), shown("DRAIN")))["outcomes"] == {}


COMMAND = {
    "type": "command",
    "name": "x",
    "do": "suspend",
    "delegate_to": "lb1",
    "become": False,
    "environment": {"A": "geheim"},
}


def commanded(raw=None):
    """The plan with one step, and the answer that asks for it."""
    steps = make_plan([raw or COMMAND], HOST)["steps"]
    asked = answer("do")
    asked["elsewhere"]["key"] = asked["mark"]["steps"][0]["key"] = steps[0]["key"]
    return steps, asked


def test_any_other_step_has_one_round_without_its_options():
    steps, asked = commanded()
    (order,) = orders.orders(asked, steps)
    assert order == {"place": "lb1", "become": False, "key": steps[0]["key"], "part": "step", "number": 7}


def test_the_users_own_tasks_are_no_round():
    steps, asked = commanded({"type": "tasks", "do": "/own.yml"})
    assert orders.orders(asked, steps) == []


def test_what_a_round_has_judged_is_handed_on_and_its_job_kept():
    steps, asked = commanded()
    pending = {"state": "pending", "note": "", "direction": "do"}
    found = orders.done(asked, steps, came(orders.orders(asked, steps), {"outcome": pending, "job": "j1"}))
    attempt = f"12:00 {steps[0]['key']} do 1"
    assert found == {"before": {}, "outcomes": {steps[0]["key"]: pending}, "jobs": {attempt: "j1"}}


def test_a_round_that_did_not_begin_is_gone_about_all_the_same():
    steps, asked = commanded()
    found = orders.done(asked, steps, came(orders.orders(asked, steps), {"failed": True, "msg": "no such connection"}))
    assert found["outcomes"][steps[0]["key"]]["state"] == "failed" and list(found["jobs"].values()) == [None]


@pytest.mark.parametrize("kind, more", [("service", {"name": "Shop"}), ("iis", {"sites": ["Shop"]})])
def test_a_case_that_can_not_be_read_is_the_steps_own_failure(kind, more):
    steps = make_plan([{"type": kind, **more}], HOST._replace(system="windows"))["steps"]
    asked = answer(ask=[steps[0]["key"]])
    (order,) = orders.orders(asked, steps)
    assert order["place"] == "" and order["part"] == "before"
    found = orders.done(asked, steps, [{"__drain_target": order, "services": 1, "site": 1}])
    assert "can't be read" in found["outcomes"][steps[0]["key"]]["note"]


def test_what_others_did_and_what_came_of_own_tasks_come_together():
    steps, asked = commanded()
    pending = {"state": "pending", "note": "", "direction": "do"}
    results = came(orders.orders(asked, steps), {"outcome": pending, "job": "j1"})
    own = {"outcomes": {"own": {"state": "done"}}, "jobs": {"own 1": "ran"}}
    found = orders.with_others(asked, steps, results, own, ())
    assert found["outcomes"] == {steps[0]["key"]: pending, "own": {"state": "done"}} and found["mark"] == asked["mark"]
    assert list(found["jobs"].values()) == ["j1", "ran"]
    assert "outcomes" not in orders.with_others(asked, steps, [], {}, ())


def test_what_this_run_has_begun_before_is_judged_by_the_time_that_is_left():
    asked = answer("do", begun=False, left=20.0)
    asked["mark"]["steps"][0]["limit"] = 60.0
    ordered = orders.orders(asked, plan())
    results = came(ordered, shown("DRAIN", 3), shown("DRAIN", 3))
    attempt = elsewhere.at_hand(asked, plan())["attempt"]
    outcomes = orders.done(asked, plan(), results, {attempt: None})["outcomes"].values()
    assert [(one["state"], one["left"], "late" in one) for one in outcomes] == [("pending", 20.0, False)]
