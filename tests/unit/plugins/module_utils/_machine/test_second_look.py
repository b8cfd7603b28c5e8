# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What was done is looked at once more before an event is approved: what somebody has put back is done again."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.sequence import DONE
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import Machine, step
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    document,
    event,
    look,
    own_name,
    sent,
)

LB = {"load_balancers": ["lb1"], "backends": [], "server": "web1", "targets": [{"load_balancer": "lb1", "backend": ""}]}
UP, DRAINED = {"servers": {"lb1/web": "UP"}}, {"servers": {"lb1/web": "DRAIN"}}
AGAIN = "step 1 (nginx): service nginx runs again"


@pytest.fixture
def machine(tmp_path):
    """A machine that is prepared: its service is stopped, its command was run, and then connections were waited for."""
    steps = step("nginx", "service", service="nginx"), step("flush"), step("wait", "connections")
    made = Machine(tmp_path / "marks", *steps)
    made.world.initial_states = {"nginx": {"ran": True}}
    answer = made.go()
    assert (answer["state"], answer["stands"]) == ("prepared", "stands")  # what was done in this call is not looked at
    made.world.initial_states = {"nginx": {"ran": False}}
    del made.world.journal[:]
    return made


def test_what_stands_is_left_alone(machine):
    answer = machine.go()
    assert (answer["state"], answer["stands"], answer["back"], answer["unseen"]) == ("prepared", "stands", [], "")
    assert machine.world.journal == []


def test_what_was_put_back_is_done_again_and_what_waits_after_it_waits_once_more(machine):
    machine.world.initial_states = {"nginx": {"ran": True}}
    answer = machine.go()
    assert machine.world.journal == [("do", "nginx"), ("do", "wait")]
    assert (answer["state"], answer["stands"], answer["back"]) == ("prepared", "stands", [AGAIN])


def test_it_is_undone_once_when_the_machine_is_recovered(machine):
    machine.world.initial_states = {"nginx": {"ran": True}}
    machine.go()
    del machine.world.journal[:]
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [("undo", "wait"), ("undo", "flush"), ("undo", "nginx")]


def test_where_no_time_is_left_the_machine_counts_as_prepared_no_more(machine):
    machine.world.initial_states = {"nginx": {"ran": True}}
    answer = machine.go(left=0.0, no_new_steps=True)
    assert answer["state"] == "failed" and "step 1 (nginx)" in answer["why"]
    assert (machine.world.journal, machine.mark()["phase"]) == ([], "half")


def test_who_approves_nothing_as_role_drain_by_itself_has_nothing_looked_at(machine):
    machine.world.initial_states = {"nginx": {"ran": True}}
    assert machine.go(looks=False)["stands"] == "unknown"
    assert machine.states()["nginx"] == DONE


def test_a_machine_whose_mark_was_removed_is_not_prepared_anew_by_a_look(machine):
    machine.go("recovered")
    del machine.world.journal[:]
    assert machine.go(only_marked=True)["state"] == "refused"
    assert (machine.world.journal, machine.mark()) == ([], None)


def test_what_a_start_of_the_machine_has_put_back_is_done_again_by_its_own_rule(machine):
    machine.world.initial_states, machine.boot_id = {"nginx": {"ran": True}}, "boot-2"
    assert machine.go()["stands"] == "unknown"
    assert machine.world.journal == []


def test_what_can_not_be_looked_at_is_not_known(machine):
    machine.world.initial_states = {"nginx": "systemctl did not say"}
    answer = machine.go()
    assert (answer["state"], answer["stands"]) == ("prepared", "unknown")
    assert answer["unseen"] == "step 1 (nginx) could not be looked at: systemctl did not say"


def test_where_nothing_can_be_looked_at_that_is_said(tmp_path):
    machine = Machine(tmp_path / "marks", step("drain"))
    assert [machine.go()["stands"] for _call in range(2)] == ["nothing", "nothing"]


def test_what_was_left_as_it_was_is_not_looked_at(tmp_path):
    machine = Machine(tmp_path / "marks", step("nginx", "service", service="nginx"))
    machine.world.initial_states = {"nginx": {"ran": False}}
    machine.go()
    machine.world.initial_states = {"nginx": {"ran": True}}
    assert machine.go()["stands"] == "nothing"


def test_others_are_asked_for_what_they_did(tmp_path):
    machine = Machine(tmp_path / "marks", step("lb", "haproxy", elsewhere=True, **LB))
    machine.go(before={"haproxy lb": UP})
    assert machine.go(outcomes={"haproxy lb": {"state": "done"}})["stands"] == "stands"  # they have just looked
    answer = machine.go()
    assert (answer["state"], answer["stands"], answer["ask"]) == ("prepared", "unknown", ["haproxy lb"])
    assert machine.go(before={"haproxy lb": DRAINED})["stands"] == "stands"
    answer = machine.go(outcomes={"haproxy lb": {"state": "failed", "note": "lb1: no answer"}})
    assert (answer["stands"], answer["unseen"]) == ("unknown", "step 1 (lb) could not be looked at: lb1: no answer")
    answer = machine.go(before={"haproxy lb": UP})
    assert answer["back"] == ["step 1 (lb): lb1 shows web1 of backend web as UP"]
    assert answer["elsewhere"]["begun"] is True


def test_the_mark_says_which_steps_nobody_looks_at_once_more(machine):
    verified = {entry["key"]: "not_verified" not in entry for entry in machine.mark()["steps"]}
    assert verified == {"service nginx": True, "command flush": False, "connections wait": False}


CHECK = {"check": {"argv": ["ctl"]}, "no_log": False}
IN_SERVICE, OUT = {"rc": 3, "words": "exit code 3"}, {"rc": 0, "words": "exit code 0"}


@pytest.fixture
def checked(tmp_path):
    """A machine that is prepared by a command with a check."""
    made = Machine(tmp_path / "marks", step("flush", **CHECK), step("wait", "connections"))
    assert made.go()["state"] == "prepared"
    del made.world.journal[:]
    return made


@pytest.mark.parametrize(
    "found, done, stands, back, unseen",
    [
        (OUT, [], "stands", [], ""),
        (
            IN_SERVICE,
            [("do", "flush"), ("do", "wait")],
            "stands",
            ["step 1 (flush): its check ended with exit code 3"],
            "",
        ),
        ("it hung", [], "unknown", [], "step 1 (flush) could not be looked at: it hung"),
    ],
)
def test_a_command_is_looked_at_by_its_check(checked, found, done, stands, back, unseen):
    checked.world.initial_states = {"flush": found}
    answer = checked.go()
    assert checked.world.journal == done
    assert (answer["state"], answer["stands"], answer["back"], answer["unseen"]) == ("prepared", stands, back, unseen)
    assert "not_verified" not in checked.mark()["steps"][0]


def test_others_run_the_check_of_a_command_that_they_have_run_and_not_before(tmp_path):
    machine = Machine(tmp_path / "marks", step("flush", elsewhere=True, **CHECK))
    assert machine.go()["elsewhere"]["begun"] is True, "no initial state is asked for"
    machine.go(outcomes={"command flush": {"state": "done"}})
    assert machine.go()["ask"] == ["command flush"]
    assert machine.go(before={"command flush": OUT})["stands"] == "stands"
    assert machine.go(before={"command flush": IN_SERVICE})["elsewhere"]["begun"] is True


@pytest.mark.parametrize("ran", [False, True])
def test_the_approver_looks_at_itself_in_the_call_by_which_it_approves(machine, ran):
    machine.world.initial_states = {"nginx": {"ran": ran}}
    looked = look(200, document(1, event("E1"))), own_name()
    machine.transport.expect(*([] if ran else [*looked, sent("E1")]), *looked)
    approve = {"do": "approve", "ids": ["E1"], "own": ["E1"], "prepared": ["web1"], "allow_unknown": []}
    answer = machine.call(approve)["answers"][0]
    machine.transport.finish()
    assert answer["approved"] == ["E1"] * (not ran)
    assert [one["message"] for one in answer["not_approved"]] == [f"This machine is in service: {AGAIN}"] * ran
