# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One machine answers what no machine would. That is its failure alone: nothing raises, and the others go on.

The answers are the real machine program's, each with one or two places of it changed at random, others for each commit. MUTANTS in the
environment has more of them tried than usual; FIRST_MUTANT begins with another one, such as the one that a failure names.
"""

from __future__ import annotations

import copy
import json
import os
import random
from typing import Any

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import Answer as HttpAnswer
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import Transport
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import beside_mark
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils import _preflight
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import orders
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import confirmation
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.news import news
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.plain import to_plain
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.progress import awaited
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.recover_plan import Overrides, verdicts
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.result import end_lines, result
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.status import status_lines, unknown
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import answer_schema
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine.call import Call
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.between_entries import Answer
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.machine_call import MachineCallAction
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine import acting
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    WALL,
    document,
    event,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import OPTIONS, SAME

MUTANTS = int(os.environ.get("MUTANTS", "1000"))
FIRST = int(os.environ.get("FIRST_MUTANT") or int(os.environ.get("AZM_COMMIT", "0")[:7], 16))
LOOK = [{"do": "hello"}, {"do": "look", "wait": 0}]
HOSTS = {"web1": "vm1", "web2": "vm2", "web3": "vm3"}
BROKEN = "web1"
EVENT = "E-1"
LONGEST = 9000  # characters of a line that is printed: it may list several sentences of a machine's
BALANCED = {
    "type": "haproxy",
    "key": "haproxy server web1 on lb1",
    "load_balancers": ["lb1"],
    "backends": ["app"],
    "targets": [{"load_balancer": "lb1", "backend": "app"}],
    "server": "web1",
    "socket": "/run/haproxy.sock",
    "mode": "drain",
    "state": "drain",
    "wait_up": False,
    "interval": 1,
}
STEPS = [
    acting.step("nginx", "service", service="nginx"),
    acting.step("W3SVC", "service", elsewhere=True, service="W3SVC"),
    {**acting.step("lb", "haproxy", elsewhere=True), **BALANCED},
    acting.step("cleanup", "tasks", elsewhere=True, do="cleanup.yml", undo="cleanup.yml"),
]
READ = {name for names in answer_schema._POLL for name in names.split()}
STEPS = [dict(one, number=number, collections=(), places=(), delegates=()) for number, one in enumerate(STEPS, 1)]
FOUND = {
    "service nginx": {"ran": True},
    "service W3SVC": {"ran": True},
    BALANCED["key"]: {"servers": {"lb1/app": "UP 1/2"}},
}
OUT = {"service W3SVC": {"ran": False}, BALANCED["key"]: {"servers": {"lb1/app": "DRAIN"}}}


class Service(Transport):
    """A metadata service that answers whatever is asked. What is approved has started."""

    name, status = "", "Scheduled"

    def get(self, url, headers, timeout):
        if "scheduledevents" in url:
            shown = event(EVENT, self.status, ("vm1", "vm2")), event("E-2", resources=())  # the second can't be read
            return HttpAnswer(200, {}, document(4 if self.status == "Started" else 3, *shown))
        leaves = {"/name?": self.name.encode(), "/vmId?": b"id-" + self.name.encode()}
        return HttpAnswer(200, {}, next((text for leaf, text in leaves.items() if leaf in url), b"Regular"))

    def post(self, url, headers, body, timeout):
        self.status = "Started"
        return HttpAnswer(200, {}, b"")


class Machine(acting.Machine):
    """One with all that a machine can tell of."""

    def __init__(self, folder, name):
        super().__init__(folder, *STEPS)
        self.transport = Service(self.clock)
        self.transport.name = name
        self.world.initial_states = {"nginx": FOUND["service nginx"]}
        self.said = {"mode": "manage", "version": "1.0.0", "uptime": 1e9, "boot_id": "boot-1", "steps": [], "hooks": {}}
        self.said["shown"] = [{"id": EVENT, "waits": "it is held", "ends_by": "a release"}]
        self.is_watched = False

    def parts(self):
        hold = beside_mark.hold_in(
            json.dumps({"format": 1, "reason": "a release", "by": "ops", "until": None}).encode()
        )
        return (
            super()
            .parts()
            ._replace(
                held=lambda wall: hold if self.is_watched else None,
                watched=lambda steps: beside_mark.watched(self.said, self.moment(), steps) if self.is_watched else None,
            )
        )

    def told(self, requests, run="", number=0):
        """What came of a call, as text."""
        self.number = number - 1
        self.world.initial_states = {"nginx": {"ran": ("do", "nginx") not in self.world.journal}}
        return json.dumps(self.call(*requests, run=run, holder={"kind": "run", "controller": "ctl"}, seconds=10.0))


def came(said, requests):
    """What the action returns of what a machine has printed."""
    call = Call("python3", [], ("program", b""), {"requests": requests, "steps": STEPS})

    class Action:
        def _execute(self, line, data):
            return {"rc": 0, "stdout": call._marker + said, "stderr": ""}

    return MachineCallAction._sent(Action(), call, True)


def heard(said, requests, at):
    answer = came(said, requests)
    uptime = {key: answer[key] for key in ("uptime", "boot_id")}
    return dict(answer, ended=at, heard=None if answer["lost"] else dict(uptime, at=at))


def facts(host):
    given: dict[str, Any] = {"host": host, "is_linux": True, "scope": "s", "resource_name": "", "group": "", "steps": 2}
    return given | {
        "endpoint": ENDPOINT,
        "needs": 120.0,
        "options": {**OPTIONS, "margin": 30.0},
        "same": {**SAME, "rounds": 0},
    }


class Told:
    """A moment of a run: its record, and what the machines have answered by then."""

    def __init__(self, record, calls, said, at):
        self.record, self.calls, self.said, self.at = record, calls, said, at


def a_run(folder):
    """The moments of a run by which two machines are drained, and one approves."""
    machines = {host: Machine(folder / host, name) for host, name in HOSTS.items()}
    at, run = 5000.0, {"run": "r1", "job": "", "controller": "ctl", "check": False}
    record = run_record.begun([facts(host) for host in HOSTS], run, at, WALL)
    moments = []
    for _tick in range(14):
        calls = run_record.sent(record)
        said = {host: machines[host].told(call["requests"], "r1", call["number"]) for host, call in calls.items()}
        if said:
            moments.append(Told(copy.deepcopy(record), calls, said, at))
        for machine in machines.values():
            machine.clock.elapsed += 4.0
            machine.transport.status = max(one.transport.status for one in machines.values())  # Started, if any
        at += 4.0
        answers = {host: done_by_others(heard(said[host], calls[host]["requests"], at)) for host in said}
        run_record.move_on(record, answers, at, WALL + at - 5000.0)
    assert record.events[EVENT].approval.sent, record.problems
    return moments


def done_by_others(answer):
    """Whatever others are asked for is done at once."""
    key = (answer["elsewhere"] or {}).get("key")
    done = {key: {"state": "done", "note": "", "direction": answer["elsewhere"]["direction"]}} if key else {}
    found = OUT if any(one.get("state") == "prepared" for one in answer["answers"] or ()) else FOUND
    return {**answer, "before": {key: found[key] for key in answer["ask"]}, "outcomes": done}


def by_hand(folder):
    """What machines answer to a playbook of a person, in several states."""
    states = {}
    for state in ("bare", "prepared", "watched", "recovering", "unreadable"):
        (folder / state).mkdir()
        machine = states[state] = Machine(folder / state, "vm1")
        kind = "watcher" if state == "watched" else "run"
        run = "watcher" if state == "watched" else "r7"
        asked = {"do": "go", "to": "prepared", "left": 600.0, "lease": 120.0, "events": [EVENT], "before": FOUND}
        given = {"run": run, "holder": {"kind": kind, "run": run, "job": "", "controller": "ctl"}}
        if state == "watched":
            asked["note"] = {"outage": "o-1", "said": {EVENT: ["approved"]}}
        if state != "bare":
            machine.call(asked, **given)
        if state == "recovering":
            machine.call(dict(asked, to="recovered"), **given)
        if state == "unreadable":
            (machine.folder / "mark.json").write_text("{")
        machine.store.confirm_event(EVENT, "somebody", "2026-01-01T00:00:00Z")
        machine.store.suppress_events(["E-9"], WALL)
        machine.is_watched = state == "watched"
    return [machine.told(LOOK) for machine in states.values()]


@pytest.fixture(scope="module")
def moments(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    for host in HOSTS:
        (folder / host).mkdir()
    return a_run(folder)


@pytest.fixture(scope="module")
def told_by_hand(tmp_path_factory):
    return by_hand(tmp_path_factory.mktemp("by-hand"))


@pytest.fixture(scope="module")
def told_at_first(tmp_path_factory):
    """Of the preflight."""
    return Machine(tmp_path_factory.mktemp("ready"), "vm1").told([*LOOK, {"do": "ready"}])


# ---- mutants ----

VALUES = (
    *(
        None,
        True,
        False,
        "",
        "x",
        "x" * 5000,
        "\x1b[31mred\x00",
        "\ud800",
        "two\nlines",
        0,
        -1,
        7,
        0.5,
        10**30,
        -(10**30),
    ),
    *(1e308, -1e308, [], {}, [None], {"a": 1}, [[[[[[]]]]]], {"a": {"b": {"c": []}}}, ["x"] * 50, "2026-13-01", "half"),
    *(
        1e10,
        2**31 - 1,
        10**18,
        2.51636e11,
        -2.51636e11,
        "Fri, 31 Dec 9999 23:59:59 GMT",
        "9999-12-31T23:59:59Z",
        "E-1",
        "e-1",
    ),
    *(
        "prepared",
        "recovering",
        "done",
        "taken_back",
        "waiting",
        "drain",
        "watcher",
        "haproxy",
        "service",
        "undo",
        "boot-1",
    ),
)
NOT_JSON = (float("nan"), float("inf"), float("-inf"))


def places(value, found=()):
    """All places of a value: the containers and keys on the way to each."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inside:
        yield (*found, key)
        yield from places(one, (*found, key))


def mutant(said, chance):
    """Another text than a machine has said, and what was changed."""
    answer, changes = json.loads(said), []
    for _number in range(chance.choice((1, 1, 2))):
        # What is deep inside stands in many places, and a machine's whole answer in few.
        deep = chance.randint(1, 8)
        (*way, key) = chance.choice([place for place in places(answer) if len(place) <= deep])
        holder = answer
        for one in way:
            holder = holder[one]
        if chance.random() < 0.15:
            del holder[key]
            changes.append((*way, key, "is missing"))
        else:
            holder[key] = copy.deepcopy(chance.choice(VALUES if chance.random() < 0.9 else NOT_JSON))
            changes.append((*way, key, holder[key]))
    text = json.dumps(answer)
    if chance.random() < 0.1:
        text = chance.choice((text[: chance.randrange(len(text))], "[" * 100_000 + text, text.replace("}", "", 1), "7"))
        changes.append(("the text", len(text)))
    return text, changes


def each(seconds_of):
    """Try it with all mutants; a failure names the one that fails."""
    lost = 0
    for seed in range(FIRST, FIRST + MUTANTS // 3):
        chance = random.Random(seed)
        changes: list[Any] = []
        try:
            lost += seconds_of(chance, changes)
        except Exception as error:
            raise AssertionError(f"FIRST_MUTANT={seed} MUTANTS=3: {str(changes)[:500]}") from error
    return lost


def is_lost(answer):
    """Whether it was refused. What is printed of that is the machine's failure, in a line."""
    if answer["lost"]:
        printed([answer["lost"]])
    return bool(answer["lost"])


def printed(lines):
    """What a terminal gets is text."""
    for line in lines:
        assert line.isprintable() and len(line) < LONGEST, line


# ---- what real machines answer ----


def test_nothing_that_a_real_machine_says_is_refused_or_changed(moments, told_by_hand, told_at_first):
    said = [(moment.said[host], moment.calls[host]["requests"]) for moment in moments for host in moment.said]
    said += [(one, LOOK) for one in told_by_hand] + [(told_at_first, [*LOOK, {"do": "ready"}])]
    asked = {request["do"] for _text, requests in said for request in requests}
    assert asked == {"hello", "look", "go", "approve", "ready"}
    for text, requests in said:
        fitted = answer_schema.fitted(json.loads(text), {"requests": requests, "steps": STEPS})
        answer = json.loads(text)
        for one in answer["answers"]:
            for look in (one, one.get("look", {})):  # with more than anybody reads
                for key in look.keys() - READ if "incarnation" in look else ():
                    look.pop(key)
                for unusable in look.get("unusable_events", ()):
                    unusable.pop("raw")
        (answer["hold"] or {}).pop("until", None)
        assert fitted == answer


@pytest.mark.parametrize(
    "way, value, why",
    [
        (["mark", "number"], "7", "mark.number is no whole number from 0 to 2147483647"),
        (["mark", "number"], True, "mark.number is no whole number from 0 to 2147483647"),
        (["mark", "lease", "until"], float("nan"), "mark.lease.until is no number from 0 to 1e+10"),
        (["mark", "steps", 0, "before"], {"ran": "yes"}, "mark.steps[0].before.ran is neither true nor false"),
        (["mark", "steps", 0, "before"], {"x": True}, "mark.steps[0].before.ran is missing"),
        (["mark", "phase"], "gone", "mark.phase is none of preparing, prepared, recovering, half"),
        (["mark"], {"unreadable": "\x00"}, "mark.unreadable is empty"),
        (["answers", 1, "events", 0, "id"], "A\n", "answers[1].events[0].id has characters that can't be printed"),
        (["answers", 1, "events", 0, "type"], "x" * 1001, "answers[1].events[0].type has more than 1000 characters"),
        (["answers", 1, "events"], [None] * 10_001, "answers[1].events is no list of 0 to 10000 entries"),
        (["answers"], [{}], "answers has 1 entries for 2 requests"),
        (["watcher", "waits"], {EVENT: ["held"]}, "an entry of watcher.waits is no list of 2 to 2 entries"),
        (["elsewhere"], {"key": "other"}, "elsewhere.key is no step of the inventory and of its mark"),
        (["lost"], "\x00", "lost is empty"),
    ],
)
def test_what_does_not_fit_is_said(told_by_hand, way, value, why):
    answer = json.loads(told_by_hand[2])
    asked = {"direction": "do", "begun": True, "no_new_steps": False, "begins": 1.0, "left": 1.0}
    *above, key = way
    holder = answer
    for one in above:
        holder = holder[one]
    holder[key] = {**asked, **value} if way == ["elsewhere"] else value
    assert came(json.dumps(answer), LOOK)["lost"] == f"Its answer can't be used: {why}."


def test_what_would_fail_is_a_step_of_the_inventory(told_at_first):
    answer = json.loads(told_at_first)
    answer["answers"][2]["lacks"] = {"service other": "it is not there"}
    lost = came(json.dumps(answer), [*LOOK, {"do": "ready"}])["lost"]
    assert lost == "Its answer can't be used: answers[2].lacks has a step that is not in the inventory."


def test_more_than_is_known_and_long_sentences_are_no_failure(told_by_hand):
    answer = json.loads(told_by_hand[2])
    answer["new"] = answer["mark"]["new"] = answer["answers"][1]["events"][0]["new"] = [[[{"deep": 1}]]]
    answer["answers"][1]["msg"] = "\x1b[31m" + "x" * 10_000
    found = came(json.dumps(answer), LOOK)
    assert found["lost"] == "" and "new" not in {**found, **found["mark"], **found["answers"][1]["events"][0]}
    printed([found["answers"][1]["msg"]])


# ---- what a broken one answers ----


def test_a_run_goes_on_without_it(moments):
    telling = [moment for moment in moments if BROKEN in moment.said]

    def tried(chance, changes):
        moment = chance.choice(telling)
        text, found = mutant(moment.said[BROKEN], chance)
        changes += found
        at = moment.at + 4.0
        answers = {host: heard(said, moment.calls[host]["requests"], at) for host, said in moment.said.items()}
        broken = answers[BROKEN] = heard(text, moment.calls[BROKEN]["requests"], at)
        if broken["elsewhere"] or broken["ask"]:
            for one in orders.orders(broken, STEPS, {}):
                assert one["key"] in {step["key"] for step in STEPS}
        answer = Answer(broken, [])
        answer.own_file(STEPS, {}, True)
        answers[BROKEN] = answer.whole(STEPS, {}, True, None)
        record = copy.deepcopy(moment.record)
        for pause in (0.0, 4.0, 30.0, 200.0, 2000.0):
            number = len(record.happenings)
            run_record.move_on(record, answers if not pause else {}, at + pause, WALL + at + pause - 5000.0)
            run_record.sent(record)
            json.dumps(to_plain(record), allow_nan=False)
            printed([*news(record, number), *end_lines(record), *awaited(record)])
            result(record)
            if not pause:
                for host in moment.said:
                    machine = record.hosts[host]
                    assert machine.answered == at or host == BROKEN
                    assert bool(machine.lost) == (host == BROKEN and bool(broken["lost"]))
        return is_lost(broken)

    assert 0 < each(tried) < MUTANTS // 3


def test_a_person_is_shown_the_others(told_by_hand):
    def tried(chance, changes):
        said = chance.choice(told_by_hand)
        text, found = mutant(said, chance)
        changes += found
        broken = heard(text, LOOK, 5004.0)
        answers = {BROKEN: broken, "web2": heard(chance.choice(told_by_hand), LOOK, 5004.0)}
        machines = [Asked(host, True, "", answer) for host, answer in answers.items()]
        printed([*status_lines(machines, WALL), *unknown(machines)])
        for overrides in (Overrides(), Overrides(force=True, unmarked=True), Overrides(take="r7")):
            found = verdicts(machines, overrides)
            printed(verdict.words for verdict in found.values())
            if found[BROKEN].aside:
                assert broken["answers"][0]["vm_id"]
            assert found["web2"].verdict != "lost"
        by_playbook(machines, answers)
        return is_lost(broken)

    def by_playbook(machines, answers):
        stands = confirmation.begun(machines, EVENT, [], "somebody", check=False)
        for _stage in range(5):
            for host in stands["calls"]:
                confirmation.is_heard(stands, host, answers[host], 1)
            printed([*stands["problems"], *stands["show"]])
            if stands["stage"] == confirmation.OVER:
                return
            taken = {host: dict(answer, answers=[{}]) for host, answer in answers.items() if not answer["lost"]}
            given = taken if stands["stage"] == confirmation.RECORD else answers
            stands = confirmation.moved_on(stands, machines, {**answers, **given}, 5005.0)

    assert 0 < each(tried) < MUTANTS // 3


def test_a_preflight_goes_on_without_it(told_at_first):
    requests = [*LOOK, {"do": "ready"}]

    def tried(chance, changes):
        text, found = mutant(told_at_first, chance)
        changes += found
        at, run = 5000.0, {"run": "r1", "job": "", "controller": "ctl", "check": False}
        record = run_record.begun([facts(host) for host in HOSTS], run, at, WALL)
        run_record.sent(record)
        answers = {host: heard(text if host == BROKEN else told_at_first, requests, at) for host in ("web1", "web2")}
        run_record.move_on(record, answers, at, WALL)
        asked = {host: _preflight.Asked(STEPS, None) for host in HOSTS}
        for host, answer in answers.items():
            ready = next((one for one in answer["answers"] or () if "lacks" in one), None)
            asked[host] = _preflight.Asked(STEPS, ready)
        said = _preflight.warnings(record, asked, [], []) + _preflight.errors(record, asked, lambda name: True)
        printed([*said, *_preflight.table(record, asked)])
        return is_lost(answers[BROKEN])

    assert 0 < each(tried) < MUTANTS // 3
