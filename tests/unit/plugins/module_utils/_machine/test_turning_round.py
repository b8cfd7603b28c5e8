# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Another outage begins where the recovery from one is: what that has under way is stopped, and the machine is prepared anew."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.local_runner import GRACE
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    FAILED,
    PENDING,
    Progress,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    Machine,
    hook,
    step,
)

STILL_AT_IT = [Progress(PENDING)]
HOOKS = [("do", "10-app"), ("do", "20-more")]
ALL = [*HOOKS, ("do", "nginx"), ("do", "drain")]


@pytest.fixture
def machine(tmp_path):
    hooks = [hook("10-app"), hook("20-more"), hook("10-back", "recover"), hook("20-last", "recover")]
    return Machine(tmp_path / "marks", *hooks, step("nginx", "service"), step("drain"))


def recovering(machine, slow):
    """It is being put back, and one step or hook takes its time."""
    machine.go(note={"outage": "o1"})
    machine.world.results["undo", slow] = STILL_AT_IT
    assert machine.go("recovered")["state"] == "recovering"
    machine.world.results.clear()
    del machine.world.journal[:]


def turn(machine, **more):
    return machine.go(
        **dict({"replace_outage": True, "events": ["E2"], "note": {"outage": "o2"}, "left": 20.0}, **more)
    )


def test_a_recover_hook_is_stopped_and_all_is_done_anew(machine):
    recovering(machine, "10-back")
    assert turn(machine)["state"] == "prepared"
    assert machine.world.journal == [("stop", "10-back"), *ALL]
    mark = machine.mark()
    assert (mark["phase"], mark["events"], mark["note"]) == ("prepared", ["E1", "E2"], {"outage": "o2"})
    del machine.world.journal[:]
    assert machine.go("recovered")["state"] == "recovered"
    assert machine.world.journal == [("undo", name) for name in ("drain", "nginx", "10-back", "20-last")]


def test_without_that_word_its_end_is_waited_for(machine):
    recovering(machine, "10-back")
    assert turn(machine, replace_outage=False)["state"] == "preparing"
    assert machine.world.journal == []


def test_a_step_that_is_being_taken_back_is_stopped_and_what_is_still_done_stays_done(machine):
    recovering(machine, "drain")
    assert turn(machine)["state"] == "prepared"
    assert machine.world.journal == [("stop", "drain"), *HOOKS, ("do", "drain")]


def test_all_hooks_are_begun_side_by_side_where_that_is_wanted(machine):
    recovering(machine, "10-back")
    machine.world.results["do", "10-app"] = machine.world.results["do", "20-more"] = STILL_AT_IT
    assert turn(machine, parallel=True)["state"] == "preparing"
    assert machine.world.journal == [("stop", "10-back"), *HOOKS]


def test_until_what_is_stopped_has_ended_nothing_is_begun_and_the_mark_says_recovering(machine):
    recovering(machine, "10-back")
    machine.world.ending = [Progress(PENDING)] * 20
    assert turn(machine)["state"] == "preparing"
    mark = machine.mark()
    assert (mark["phase"], mark["events"], mark["note"]) == ("recovering", ["E1"], {"outage": "o1"})
    assert [did for did in machine.world.journal if did[0] != "stop"] == []
    while turn(machine)["state"] == "preparing":
        assert len(machine.world.journal) < 20
    assert machine.mark()["note"] == {"outage": "o2"}
    assert machine.world.journal[-4:] == ALL


def test_one_that_can_not_be_ended_holds_it_up_for_a_few_seconds(machine):
    recovering(machine, "10-back")
    machine.world.ending = STILL_AT_IT * 10**6
    began = machine.clock.now()
    while turn(machine)["state"] == "preparing":
        machine.clock.sleep(0.2)
    assert GRACE < machine.clock.now() - began < GRACE + 2
    assert machine.mark()["phase"] == "prepared"


def test_what_the_recovery_was_stopping_is_stopped_and_done_anew(machine):
    machine.world.results["do", "drain"] = STILL_AT_IT
    machine.go()
    machine.world.results.clear()
    machine.world.ending = [Progress(PENDING)] * 60
    assert machine.go("recovered")["state"] == "recovering"
    machine.world.ending = []
    del machine.world.journal[:]
    while turn(machine)["state"] == "preparing":
        assert len(machine.world.journal) < 20
    assert [did for did in machine.world.journal if did[0] != "stop"] == [*HOOKS, ("do", "drain")]


def test_a_preparation_that_fails_then_is_a_failed_preparation_and_all_of_it_is_taken_back(machine):
    recovering(machine, "nginx")
    machine.world.results["do", "10-app"] = [Progress(FAILED, "exit code 1")]
    assert turn(machine)["state"] == "failed"
    assert machine.mark()["phase"] == "half"
    states = machine.states()
    assert (states["10-app"], states["nginx"], states["drain"]) == ("failed", "begun", "waiting")
    assert machine.go("recovered")["state"] == "recovered"
    assert [did for did in machine.world.journal if did[0] == "undo"] == [
        ("undo", "nginx"),
        ("undo", "10-back"),
        ("undo", "20-last"),
    ]


def test_what_failed_for_the_outage_before_is_done_anew_too(machine):
    machine.world.results["do", "nginx"] = [Progress(FAILED, "no")]
    assert machine.go()["state"] == "failed"
    machine.world.results.clear()
    machine.world.results["undo", "nginx"] = STILL_AT_IT
    assert machine.go("recovered")["state"] == "recovering"
    machine.world.results.clear()
    del machine.world.journal[:]
    assert turn(machine)["state"] == "prepared"
    assert machine.world.journal == [("stop", "nginx"), *ALL]


def test_after_half_a_recovery_there_is_nothing_to_stop(machine):
    machine.go()
    machine.world.results["undo", "10-back"] = [Progress(FAILED, "exit code 1")]
    assert machine.go("recovered")["state"] == "half"
    machine.world.results.clear()
    del machine.world.journal[:]
    assert turn(machine, parallel=True)["state"] == "prepared"
    assert machine.world.journal == ALL
    assert machine.go("recovered")["state"] == "recovered"
    assert ("undo", "10-back") in machine.world.journal


@pytest.mark.parametrize("phase", ["preparing", "prepared"])
def test_an_outage_that_is_there_goes_on(machine, phase):
    """As when the watcher is killed before it has seen that the other one has begun."""
    recovering(machine, "10-back")
    if phase == "preparing":
        machine.world.results["do", "nginx"] = STILL_AT_IT
    turn(machine)
    begun = list(machine.world.journal)
    assert turn(machine)["state"] == phase
    assert machine.mark()["phase"] == phase and machine.world.journal == begun


def test_where_the_case_before_can_not_be_learned_the_mark_stays_one_of_a_recovery(machine):
    recovering(machine, "10-back")
    machine.steps.append(step("more"))
    machine.world.initial_states["more"] = "no answer"
    answer = turn(machine)
    assert (answer["state"], "no answer" in answer["why"]) == ("failed", True)
    assert (machine.mark()["phase"], machine.mark()["note"]) == ("recovering", {"outage": "o1"})
    assert machine.world.journal == [("stop", "10-back")]


def test_after_a_restart_of_the_machine_what_the_boot_has_started_is_done_again(machine):
    recovering(machine, "drain")
    machine.boot_id = "boot-2"
    assert turn(machine, redo_after_reboot=True)["state"] == "prepared"
    assert machine.world.journal == [("stop", "drain"), *ALL]


def test_what_is_no_longer_there_is_not_missed(machine):
    recovering(machine, "20-last")
    machine.steps = [one for one in machine.steps if one["name"] in ("10-app", "10-back", "drain")]
    assert turn(machine)["state"] == "prepared"
    assert machine.world.journal == [("do", "10-app"), ("do", "drain")]
    machine.world.jobs = {name: [Progress(DONE)] for name in machine.world.jobs}
    assert machine.go("recovered")["state"] == "recovered"
