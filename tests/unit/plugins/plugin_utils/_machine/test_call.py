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
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.ticking import look

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


AGES = {"began": 3.0, "since": 3.0, "asked": 2.0, "age": 1.0}
LOOK = {**look(), **AGES}
APPROVAL = {
    "approved": [],
    "already": [],
    "unanswered": [],
    "not_approved": [],
    "failure": None,
    "msg": "",
    "look": LOOK,
}


def answered(took, answers=(), **more):
    nothing = dict(mark=None, yes=[], boot_id="b", uptime=1.0, number=1, fenced="", ask=[], elsewhere=None, lost="")
    return dict(nothing, put_back=[], hold=None, watcher=None, took=took, answers=list(answers), **more)


def came(answer, *does, seconds, wall=0.0):
    """What the action returns of an answer to these requests."""
    return calls.result(answer, {"requests": [{"do": do} for do in does], "steps": []}, seconds, wall)


def ages(look):
    return {key: look[key] for key in AGES}


def test_a_look_has_aged_on_its_way():
    found = came(answered(4.0, [LOOK, APPROVAL, {}]), "look", "approve", "release", seconds=5.5)["answers"]
    assert ages(found[0]) == ages(found[1]["look"]) == {"began": 4.5, "since": 4.5, "asked": 3.5, "age": 2.5}
    assert found[2] == {}


def test_what_a_call_took_is_measured_here():
    """Else its looks, which have aged on their way, would seem to be from before the call."""
    assert came(answered(4.0), seconds=5.5)["took"] == 5.5
    assert came(answered(4.0), seconds=2.0)["took"] == 4.0


def test_a_clock_that_went_wrong_makes_no_look_younger():
    assert ages(came(answered(4.0, [LOOK]), "look", seconds=2.0)["answers"][0]) == AGES


@pytest.mark.parametrize("wall, ahead", [(1000.0, 0.0), (998.0, 0.0), (1003.5, 3.5), (990.0, -5.0)])
def test_a_clock_is_ahead_by_what_the_call_does_not_explain(wall, ahead):
    ready = {"mark": "", "lacks": {}, "wall": wall}
    found = came(answered(4.0, [ready]), "ready", seconds=5.0, wall=1000.0)["answers"]
    assert found == [{"mark": "", "ahead": ahead, "lacks": {}}]


def test_all_keys_are_always_there():
    found = came({"lost": "The machine program failed: OSError"}, "look", seconds=1.0)
    assert found.pop("lost") == "The machine program failed: OSError"
    assert set(found) >= set(answered(0)) - {"lost"} and set(found.values()) == {None}


def test_what_is_no_answer_of_a_machine_is_its_failure():
    found = came(answered(4.0, [LOOK], uptime="long"), "look", seconds=1.0)
    assert found.pop("lost") == "Its answer can't be used: uptime is no number from 0 to 1e+10."
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    "said, why",
    [
        ('{"lost": "' + "x" * 2_000_000 + '"}', "it has more than 2000000 characters"),
        ("[" * 200_000, "it is nested too deeply"),
    ],
)
def test_what_would_hurt_the_controller_is_not_decoded(said, why):
    call = made()
    found = call.answer(f"azure_maintenance {marker(call)}{said}")
    assert found == {"lost": f"Its answer can't be used: {why}."}


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
    assert came(answered(1.0), seconds=15.0)["age"] == 14.0
    assert came(answered(15.0, age=2.5), seconds=15.0)["age"] == 2.5
