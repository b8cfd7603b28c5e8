# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program: every call gets its answer, whatever is wrong with it or with the machine."""

import json
import os
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    PENDING,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    another_run,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    document,
    look,
    own_name,
)

PROGRAM = "ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.process"
ENVIRONMENT = dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path))
KEYS = {
    "lost",
    "answers",
    "mark",
    "yes",
    "put_back",
    "hold",
    "watcher",
    "boot_id",
    "disk",
    "uptime",
    "took",
    "number",
    "fenced",
    "ask",
    "elsewhere",
}


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "marks", step("one"))


def run(text, *arguments):
    """The real program's answer, and all that it wrote."""
    output = subprocess.check_output(
        [sys.executable, "-m", PROGRAM, *arguments], input=text.encode("utf-8"), env=ENVIRONMENT
    ).decode("ascii")
    (line,) = [line for line in output.splitlines() if line.startswith("answer:")]
    return json.loads(line[len("answer:") :]), output


def test_an_empty_call_says_how_the_machine_is(machine):
    answer = machine.call()
    assert set(answer) == KEYS
    assert answer == {
        "lost": "",
        "answers": [],
        "mark": None,
        "yes": [],
        "put_back": [],
        "hold": None,
        "watcher": None,
        "boot_id": "boot-1",
        "disk": "",
        "uptime": 5000.0,
        "took": 0.0,
        "number": 1,
        "fenced": "",
        "ask": [],
        "elsewhere": None,
    }


def test_asking_leaves_no_trace(machine):
    machine.call()
    assert not machine.folder.exists()


def test_requests_are_answered_in_their_order_and_one_that_cant_be_does_not_stop_the_others(machine):
    machine.transport.expect(look(200, document(4)), own_name())
    go = {"do": "go", "to": "prepared", "left": 60.0, "events": []}
    answer = machine.call({"do": "dance"}, go, {"do": "go"}, {"do": "look", "wait": 0})
    unknown, prepared, broken, looked = answer["answers"]
    assert "does not know the request 'dance'" in unknown["problem"]
    assert prepared["state"] == "prepared"
    assert broken == {"problem": "'to'"}
    assert looked["incarnation"] == 4
    assert answer["mark"]["phase"] == "prepared"
    machine.transport.finish()


def test_a_call_that_stays_waits_for_a_step_once_all_else_is_answered(machine):
    go = {"do": "go", "to": "prepared", "left": 60.0, "events": [], "stay": True}
    machine.world.results["do", "one"] = [Progress(PENDING)] * 20 + [Progress(DONE)]
    machine.call(dict(go, stay=False))
    machine.transport.expect(look(200, document(4)), own_name())
    answer = machine.call(go, {"do": "look", "wait": 0})
    went, looked = answer["answers"]
    assert went["state"] == answer["mark"]["phase"] == "prepared"
    assert 0.5 < looked["age"] <= answer["took"] < 3.0, "the document came before the step was waited for"


def test_it_does_not_stay_longer_than_a_call_may_take(machine):
    go = {"do": "go", "to": "prepared", "left": 60.0, "events": [], "stay": True}
    machine.world.results["do", "one"] = [Progress(PENDING)]
    answer = machine.call(go, seconds=2.0)
    assert answer["answers"][0]["state"] == "preparing"
    assert answer["took"] == pytest.approx(1.5, abs=0.1)


def test_what_others_must_do_stands_at_the_top_too(tmp_path):
    machine = Machine(tmp_path, step("one", "tasks", elsewhere=True))
    answer = machine.call({"do": "go", "to": "prepared", "left": 60.0})
    assert answer["elsewhere"] == answer["answers"][0]["elsewhere"]
    assert answer["elsewhere"]["key"] == "tasks one"


def test_who_takes_it_off_must_be_allowed_to(machine):
    machine.go()
    machine.call({"do": "yes", "event": "E7", "by": "me"})
    answer = machine.call({"do": "take_off"}, **another_run())
    assert "owned by run run-1" in answer["answers"][0]["problem"]
    assert machine.mark()
    answer = machine.call({"do": "take_off", "take": "run-1", "forced": True}, **another_run())
    assert (answer["answers"], answer["mark"], answer["yes"]) == ([{}], None, [])
    assert [path.name for path in machine.folder.iterdir()] == ["lock"]


def test_it_is_not_taken_off_before_what_was_begun_has_ended(machine):
    machine.go()
    parts = machine.parts()
    machine.parts = lambda: parts._replace(end_jobs=lambda: False)
    answer = machine.call({"do": "take_off"})
    assert "has not ended yet: run this again" in answer["answers"][0]["problem"]
    assert machine.mark()


def test_a_mark_that_is_let_go_stays_and_whoever_comes_need_not_wait(machine):
    machine.go()
    answer = machine.call({"do": "release"}, {"do": "look", "wait": 0})
    assert answer["answers"][0] == {}
    mark = machine.mark()
    assert mark["phase"] == "prepared" and mark["lease"]["until"] == mark["lease"]["uptime"]
    taken = {"do": "go", "to": "prepared", "left": 60.0, "events": ["E2"], "lease": 120.0, "take": "run-1"}
    answer = machine.call(taken, **another_run())
    assert answer["answers"][0]["state"] == "prepared"
    lease = machine.mark()["lease"]
    assert lease["until"] - lease["uptime"] == 120


def test_nobody_lets_go_of_what_is_another_run_s(machine):
    machine.go()
    before = machine.mark()
    answer = machine.call({"do": "release"}, **another_run())
    assert "owned by run run-1" in answer["answers"][0]["problem"]
    assert machine.mark() == before


def test_whoever_is_nobody_changes_no_mark(machine):
    machine.go()
    before = machine.mark()
    answer = machine.call({"do": "yes", "event": "E1", "by": "me"}, run="", number=0)
    assert answer["mark"] == before == machine.mark()
    assert answer["fenced"] == ""


def test_as_a_process_it_answers_on_a_line_of_its_own(tmp_path):
    call = {
        "options": {"run": "r", "number": 3, "folder": str(tmp_path)},
        "requests": [{"do": "yes", "event": "Ä", "by": "ö"}],
    }
    answer, output = run(json.dumps(call), "answer:")
    assert output.startswith("\nanswer:")
    assert (answer["lost"], answer["yes"], answer["number"]) == ("", ["Ä"], 3)
    assert answer["boot_id"]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"requests": []}', '{"options": {}}'])
def test_a_call_that_is_none_gets_an_answer_too(text):
    answer, _output = run(text, "answer:")
    assert set(answer) == KEYS
    assert answer["lost"].startswith("The machine program failed: ")
    assert answer["answers"] is None


def test_what_is_printed_on_the_way_does_not_come_between(tmp_path):
    """A step's command, and whatever a library says."""
    go = tmp_path / "go"
    text = f"echo answer:{{}}; until [ -e {go} ] || [ ! -e {tmp_path} ]; do sleep 0.1; done"
    one = step("x", environment={}, ok_codes=[0], no_log=False, do={"argv": ["sh", "-c", text]})
    call = {
        "options": {"run": "r", "number": 1, "folder": str(tmp_path)},
        "requests": [{"do": "go", "to": "prepared", "left": 60.0}, {"do": "go", "to": "recovered", "left": 60.0}],
        "steps": [one],
    }
    try:
        answer, output = run(
            json.dumps(call), "answer:"
        )  # and it does not wait until the command has ended, else it never came
    finally:
        go.touch()
    assert output.count("answer:") == 1
    assert answer["answers"][0]["state"] == "preparing"


def test_a_look_imports_nothing_of_steps_and_a_step_nothing_of_the_network(tmp_path):
    """Most of what a call costs is Python's own start."""
    code = (
        "import io, json, sys\n"
        "sys.stdin = io.TextIOWrapper(io.BytesIO(sys.argv[1].encode()))\n"
        f"from {PROGRAM} import main\n"
        "call = sys.argv.pop(1)\n"
        "main()\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
    )

    def modules(*requests, **more):
        call = dict({"options": {"run": "r", "number": 1, "folder": str(tmp_path)}, "requests": requests}, **more)
        output = subprocess.check_output(
            [sys.executable, "-S", "-c", code, json.dumps(call)], stderr=subprocess.STDOUT, env=ENVIRONMENT
        )
        return {name.replace(PROGRAM.rpartition(".")[0], "_machine") for name in output.decode("ascii").split()}

    # no address that could be asked: the option is refused
    looked = modules({"do": "look", "wait": 0}, options={"folder": str(tmp_path), "endpoint": "ftp://x"})
    assert "_machine.imds_requests" in looked
    assert not {"_machine.outage", "_machine.jobs", "subprocess"} & looked
    went = modules({"do": "go", "to": "prepared", "left": 60.0}, steps=[step("one", do={"argv": ["true"]})])
    assert {"_machine.outage", "_machine.step_runners"} <= went
    assert {"_machine.imds_requests", "http.client", "ssl", "urllib.parse", "difflib"} & went == set()
    assert os.name == "nt" or "subprocess" not in went, "jobs of Windows are begun by it"


def test_what_a_person_has_said_on_the_machine_is_in_every_answer(machine):
    machine.call({"do": "yes", "event": "E-1", "by": "me"}, run="")
    answer = machine.call({"do": "put_back", "events": ["e-1", "E-2"]}, run="")
    assert (answer["answers"], answer["put_back"], answer["yes"]) == ([{}], ["E-1", "E-2"], []), "an older yes is over"
    assert machine.call()["put_back"] == ["E-1", "E-2"]
    machine.call({"do": "yes", "event": "E-1", "by": "me"}, run="")
    assert machine.call()["yes"] == ["E-1"], "and a later one counts"


def test_a_call_that_was_sent_before_a_person_put_the_machine_back_prepares_nothing_for_that_event(machine):
    go = {"do": "go", "to": "prepared", "events": ["e-1"], "left": 600.0}
    machine.call({"do": "put_back", "events": ["E-1"]}, run="")
    answer = machine.call(go)
    assert (answer["answers"][0]["state"], answer["mark"]) == ("refused", None)
    assert "despite event e-1" in answer["answers"][0]["why"]
    assert machine.call(dict(go, events=["E-2"]))["answers"][0]["state"] == "prepared", "another event is one"


def test_what_a_person_has_put_back_does_not_join_the_mark_of_another_event(machine):
    go = {"do": "go", "to": "prepared", "left": 600.0}
    machine.call({"do": "put_back", "events": ["E-1"]}, run="")
    machine.call(dict(go, events=["E-2"]))
    answer = machine.call(dict(go, events=["e-1", "E-2", "E-3"]))
    assert (answer["answers"][0]["state"], answer["mark"]["events"]) == ("prepared", ["E-2", "E-3"])
    answer = machine.call(dict(go, events=["e-1"]))
    assert (answer["answers"][0]["state"], answer["mark"]["events"], answer["fenced"]) == (
        "refused",
        ["E-2", "E-3"],
        "",
    )
    assert "despite event e-1" in answer["answers"][0]["why"]
    answer = machine.call(dict(go, events=["e-1"], no_new_steps=True))
    assert (answer["answers"][0]["state"], answer["mark"]["events"]) == ("prepared", ["E-2", "E-3"]), (
        "it begins nothing"
    )
    machine.call({"do": "yes", "event": "E-1", "by": "me"}, run="")
    assert machine.call(dict(go, events=["E-1"]))["mark"]["events"] == ["E-2", "E-3", "E-1"], "a yes ends that"


def test_what_a_mark_names_already_is_gone_on_with(machine):
    go = {"do": "go", "to": "prepared", "left": 600.0, "events": ["E-1"]}
    machine.call(go)
    machine.call({"do": "put_back", "events": ["E-1"]}, run="")
    assert machine.call(go)["answers"][0]["state"] == "prepared", "whoever puts it back takes the mark"


def test_a_yes_to_it_ends_that_a_person_put_the_machine_back(machine):
    machine.call({"do": "put_back", "events": ["E-1"]}, run="")
    machine.call({"do": "yes", "event": "E-1", "by": "me"}, run="")
    answer = machine.call({"do": "go", "to": "prepared", "events": ["E-1"], "left": 600.0})
    assert answer["answers"][0]["state"] == "prepared"


def test_the_mark_of_another_vm_is_put_aside(tmp_path):
    machine = Machine(tmp_path, step("one"))
    machine.call({"do": "go", "to": "prepared", "left": 60.0, "events": ["A"]}, vm_id="vm-a")
    machine.call({"do": "yes", "event": "A", "by": "me"})
    for vm_id in ("VM-A", ""):
        answer = machine.call({"do": "put_aside", "vm_id": vm_id}, **another_run())
        assert "not that of another VM" in answer["answers"][0]["problem"] and answer["mark"]
    answer = machine.call({"do": "put_aside", "vm_id": "vm-b"}, **another_run())
    assert (answer["answers"], answer["mark"], answer["yes"]) == ([{}], None, [])
    assert (machine.folder / "aside" / "mark.json").exists()
    answer = machine.call({"do": "put_aside", "vm_id": "vm-b"}, **another_run())
    assert "not that of another VM" in answer["answers"][0]["problem"]
