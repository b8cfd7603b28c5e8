# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One call: what is sent, the answer among noise, how old its looks are, and check mode."""

from __future__ import annotations

import datetime
import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import call as calls
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine.bundle import Program

PROGRAM = Program("abc", b"CONTENT")


def made(**options):
    return calls.Call("/usr/bin/python3", ["~/.ansible/tmp"], PROGRAM, {"options": options})


def test_nothing_of_the_call_is_in_the_shells_line():
    call = made(secret="hush'hush")
    for with_program in (False, True):
        line, data = call.sent(with_program)
        start, rest = data[: int(line.rpartition("(")[2].rstrip(")'"))], data.split(b")\n")[-1]
        assert line.startswith("/usr/bin/python3 -I -S -B -c '") and "hush" not in line and "abc" not in line
        assert start.endswith(b"'))\n") and b"'abc', 7, " + str(with_program).encode() in start
        assert rest == (b"CONTENT" if with_program else b"") + b'{"options": {"secret": "hush\'hush"}}'


def test_any_letters_and_dates_can_be_sent():
    call = calls.Call("python3", ["/home/j\u00fcrgen"], PROGRAM, {"body": {"since": datetime.date(2026, 1, 2)}})
    _line, data = call.sent(False)
    assert b"'/home/j\\xfcrgen'" in data and data.endswith(b'{"body": {"since": "2026-01-02"}}')


def marker(call):
    return call.sent(False)[1].split(b"'azure_maintenance ")[1].split(b"'")[0].decode()


@pytest.mark.parametrize(
    "before, after",
    [("", "\n"), ("Welcome!\n{}\n", "\n"), ("no line end", "{}"), ("azure_maintenance 00 {}\n", '\n{"lost": "x"}\n')],
)
def test_the_answer_is_found_among_noise(before, after):
    call = made()
    answer = {"lost": "", "answers": [{"why": "a\nb {"}]}
    assert call.answer(f"{before}azure_maintenance {marker(call)}{json.dumps(answer)}{after}") == answer


@pytest.mark.parametrize("said", ["", "{}", '{"lost": ""}', "MARKER", "MARKER{", 'MARKER{"lost": ""', "MARKER[]"])
def test_what_is_no_answer(said):
    call = made()
    assert call.answer(said.replace("MARKER", f"azure_maintenance {marker(call)}")) is None


def test_the_answer_of_another_call_is_none():
    assert made().answer(f"azure_maintenance {marker(made())}{{}}") is None


def answered(**more):
    nothing = dict(mark=None, yes=[], boot_id="b", uptime=1.0, number=1, fenced="", ask=[], elsewhere=None, lost="")
    return dict(nothing, **more)


def test_a_look_has_aged_on_its_way():
    answers = [{"age": 1.0, "began": 3.0}, {"approved": [], "look": {"age": 0.0, "began": 0.5}}, {"look": None}, {}]
    found = calls.result(answered(took=4.0, answers=answers), 5.5, 0.0)["answers"]
    assert found == [
        {"age": 2.5, "began": 4.5},
        {"approved": [], "look": {"age": 1.5, "began": 2.0}},
        {"look": None},
        {},
    ]


def test_what_a_call_took_is_measured_here():
    """Else its looks, which have aged on their way, would seem to be from before the call."""
    assert calls.result(answered(took=4.0, answers=[]), 5.5, 0.0)["took"] == 5.5
    assert calls.result(answered(took=4.0, answers=[]), 2.0, 0.0)["took"] == 4.0


def test_a_clock_that_went_wrong_makes_no_look_younger():
    found = calls.result(answered(took=4.0, answers=[{"age": 1.0, "began": 3.0}]), 2.0, 0.0)["answers"]
    assert found == [{"age": 1.0, "began": 3.0}]


@pytest.mark.parametrize("wall, ahead", [(1000.0, 0.0), (998.0, 0.0), (1003.5, 3.5), (990.0, -5.0)])
def test_a_clock_is_ahead_by_what_the_call_does_not_explain(wall, ahead):
    found = calls.result(answered(took=4.0, answers=[{"wall": wall, "lacks": {}}]), 5.0, 1000.0)["answers"]
    assert found == [{"ahead": ahead, "lacks": {}}]


def test_all_keys_are_always_there():
    found = calls.result({"lost": "The machine program failed: OSError"}, 1.0, 0.0)
    assert found.pop("lost") == "The machine program failed: OSError"
    assert set(found) >= set(answered(took=0, answers=[])) - {"lost"} and set(found.values()) == {None}


def test_a_call_has_ten_seconds_and_a_waiting_one_fifteen_more_than_it_waits():
    assert calls.limit([{"do": "hello"}, {"do": "look", "wait": 0}]) == 10
    assert calls.limit([{"do": "look", "wait": 60}, {"do": "look"}]) == 75
    assert calls.limit([]) == 10
    assert calls.limit([], 30.0) == 30 and calls.limit([{"do": "look", "wait": 60}], 30.0) == 90


def test_check_mode_refuses_what_changes_something():
    requests = [{"do": name} for name in ("go", "look", "yes", "no_yes", "hello", "take_off")]
    requests.append({"do": "approve", "ids": ["a", "b"]})
    assert calls.harmless([{"do": "ready"}]) == [{"do": "ready"}]
    assert [request["do"] for request in calls.harmless(requests)] == ["look", "hello"]
    found = calls.with_refusals([{"n": 1}, {"n": 2}], requests)
    why = "check mode: nothing is changed"
    assert found[0] == {"state": "refused", "why": why, "ask": [], "elsewhere": None, "steps": []}
    assert found[1:6] == [{"n": 1}, {"problem": why}, {"problem": why}, {"n": 2}, {"problem": why}]
    assert found[6]["not_approved"] == [{"id": id_, "reason": "check_mode", "message": why} for id_ in ("a", "b")]
    assert found[6]["approved"] == [] and found[6]["failure"] is None


def test_an_approval_that_was_decided_too_long_ago_is_a_look_instead():
    """The run was stopped when its marks said prepared, the machines were recovered, and it goes on."""
    requests = [{"do": "hello"}, {"do": "approve", "ids": ["a", "b"], "decided": 100.0}]
    assert calls.timely(requests, 110.0) == requests
    sent = calls.timely(requests, 110.1)
    assert sent == [{"do": "hello"}, {"do": "look", "wait": 0}]
    greeted, approved = calls.as_asked([{"n": 1}, {"events": []}], requests, sent)
    assert greeted == {"n": 1} and approved["look"] == {"events": []} and approved["approved"] == []
    assert [one["id"] for one in approved["not_approved"]] == ["a", "b"] and approved["failure"] is None
    assert "decided more than 10 s ago" in approved["not_approved"][0]["message"]
    assert calls.as_asked([{"n": 1}, {"n": 2}], requests, requests) == [{"n": 1}, {"n": 2}]


def test_what_was_long_on_its_way_is_old_when_it_comes():
    """The run was stopped after the machine had answered, and before that was read."""
    assert calls.result(answered(took=1.0, answers=[]), 15.0, 0.0)["age"] == 14.0
    assert calls.result(dict(answered(took=15.0, answers=[]), age=2.5), 15.0, 0.0)["age"] == 2.5
