# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``haproxy``."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.haproxy import TYPE
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
    ours,
)


def shown(*statuses, sessions="0", balancer="lb1", **more):
    """What the module returns for one load balancer."""
    state = [{"status": status, "scur": sessions, "weight": "1"} for status in statuses]
    return dict({"state_after": state, "__drain_target": {"load_balancer": balancer, "backend": ""}}, **more)


def judge(about, *results, **options):
    return judged("haproxy", about, {"results": list(results)}, load_balancers=["lb"], **options)


def test_every_load_balancer_is_asked_for_every_backend():
    step, _words = completed("haproxy", load_balancers=["lb", "lb1"], backends=["www", "api"])
    assert step["server"] == "web1" and step["load_balancers"] == ["lb1", "lb2"]
    assert step["targets"] == [
        {"load_balancer": "lb1", "backend": "www"},
        {"load_balancer": "lb1", "backend": "api"},
        {"load_balancer": "lb2", "backend": "www"},
        {"load_balancer": "lb2", "backend": "api"},
    ]
    step, _words = completed("haproxy", load_balancers=["lb1"], server="s1")
    assert step["targets"] == [{"load_balancer": "lb1", "backend": ""}] and step["server"] == "s1"


def test_its_words_and_what_the_module_is_asked_to_set():
    step, words = completed("haproxy", load_balancers=["lb"])
    where = "server web1 on lb1, lb2"
    does, undoes = "drain " + where + " and wait for its sessions to end", "make ready " + where
    assert words == (where, does, undoes + " and wait until it is up") and step["state"] == "drain"
    step, words = completed("haproxy", load_balancers=["lb"], mode="maint", wait_up=False)
    assert words.does.startswith("put in maintenance server web1") and words.undoes == undoes
    assert step["state"] == "disabled"


@pytest.mark.parametrize(
    "names, words",
    [
        (["lb7"], "names 'lb7', which is neither a host nor a group"),
        (["empty"], "names no host"),
        ([], "names no host"),
    ],
)
def test_load_balancers_that_are_none(names, words):
    with pytest.raises(StepError, match="load_balancers " + words):
        completed("haproxy", load_balancers=names)


@pytest.mark.parametrize("about", ["known", "out"])
def test_a_server_that_nobody_knows(about):
    found = judge(about, shown("DRAIN"), shown(balancer="lb2"))
    assert found.problem == "lb2: no backend of HAProxy has a server named web1"
    assert judge(about, shown("DRAIN"), dict(shown(), state_after=None)).problem
    assert not judge(about, shown("DRAIN"), shown("MAINT")).problem


@pytest.mark.parametrize("status", ["UP", "UP 1/3", "no check"])
def test_a_server_that_did_not_leave(status):
    found = judge("out", shown("DRAIN"), shown("DRAIN", status, balancer="lb2", output=["Permission", "denied\n"]))
    assert found.problem == (
        "lb2: HAProxy shows web1 as DRAIN, " + status + "; it said: Permission denied"
        " (the stats socket has to be of level admin)"
    )
    assert "it said: nothing" in judge("out", shown("UP")).problem
    assert not judge("known", shown(status)).problem


def test_sessions_are_waited_for():
    assert judge("sessions", shown("DRAIN")) == (True, "", "")
    found = judge("sessions", shown("DRAIN", "DRAIN", sessions="2"), shown("DRAIN", sessions="1"))
    assert found == (False, "server web1 still has 5 sessions", "")
    found = judge("sessions", shown("DRAIN", sessions="2"), at_limit="continue")
    assert found == (False, "", "went on although server web1 still had 2 sessions")


def test_a_load_balancer_that_shows_neither_status_nor_sessions_says_nothing():
    nothing = dict(shown(), state_after=[{}])
    assert "HAProxy shows web1 as unknown" in judge("out", nothing).problem
    assert "does not show how many sessions server web1 has" in judge("sessions", nothing).problem
    assert not judge("up", nothing).done


def test_a_round_of_the_wait_is_judged_by_itself():
    options = {"load_balancers": ["lb1"]}
    assert not judged("haproxy", "sessions", shown("DRAIN", sessions="2"), **options).done
    assert judged("haproxy", "up", shown("UP", "no check"), **options).done


def test_a_server_is_up_when_its_checks_have_passed():
    assert judge("up", shown("UP", "no check")) == (True, "", "")
    found = judge("up", shown("UP"), shown("UP", "UP 1/3", balancer="lb2"))
    assert found == (False, "lb2: HAProxy shows web1 as UP, UP 1/3, not as UP", "")


@pytest.mark.parametrize("about", ["sessions", "up"])
def test_a_look_that_failed_is_not_repeated(about):
    failed = {"failed": True, "msg": "No such file", "state_after": [{"status": "DOWN", "scur": "3"}]}
    assert judged("haproxy", about, failed, load_balancers=["lb1"]) == (True, "", "")


def test_where_an_answer_came_from():
    step, _words = completed("haproxy", load_balancers=["lb"], socket="/run/h.sock")
    assert TYPE.place(step, shown(balancer="lb2")) == ("lb2", "socket /run/h.sock")
    assert TYPE.place(step, {"msg": "x"}) == ()


def test_where_an_administrator_had_taken_the_server_out_it_is_not_ours():
    before = {"lb1/www": "UP", "lb1/api": "MAINT", "lb2/www": "DOWN", "lb2/api": "DRAIN"}
    left = ours("haproxy", {"servers": before}, load_balancers=["lb"])
    assert left["targets"] == [
        {"load_balancer": "lb1", "backend": "www"},
        {"load_balancer": "lb2", "backend": "www", "was_down": True},
    ]
    assert ours("haproxy", {"servers": {"lb1/www": "MAINT (via x/y)"}}, load_balancers=["lb1"]) is None


def test_a_machines_mark_names_no_load_balancer_and_no_backend_of_its_own():
    """The controller would connect to whatever host it names, and send the become password there."""
    forged = {"attacker/www": "UP", "lb1/www; shutdown sessions server www/web2": "UP", "lb1/": "UP", "lb1/www": "UP"}
    assert ours("haproxy", {"servers": forged}, load_balancers=["lb1"])["targets"] == [
        {"load_balancer": "lb1", "backend": "www"}
    ]
    assert ours("haproxy", {"servers": forged}, load_balancers=["lb1"], backends=["api"]) is None


def test_a_server_that_was_down_before_need_not_come_up():
    was_down = {"load_balancer": "lb2", "was_down": True}
    found = judge("up", shown("UP"), shown("DOWN", __drain_target=was_down))
    assert found == (True, "", "lb2: HAProxy shows web1 as DOWN, as it was down before")
