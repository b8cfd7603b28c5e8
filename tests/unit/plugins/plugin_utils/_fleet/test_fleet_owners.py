# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose machine it is, as a run, a playbook and the machine's watcher see it: the same."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import OURS
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Identity
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.snapshot import own_mark
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked, inspected
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.machine_state import Said
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.marks import view_of, whose
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.state import NEWS
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import Story
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases, shown_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    mark,
    put,
    rules,
    started,
)

STEP = {"key": "nginx", "type": "service", "words": "", "unwords": "", "state": "failed", "note": "", "seconds": 0.0}


def asks(*runs):
    return cases("marks.json", lambda case: case["asker"]["run"] in runs)


def given(case):
    """The mark as a machine's answer has it."""
    if "unreadable" in case or case["mark"] is None:
        return {"unreadable": case["unreadable"]} if "unreadable" in case else None
    return dict(case["mark"], steps=[dict(step, seconds=0.0) for step in case["mark"]["steps"]])


@pytest.mark.parametrize("case", asks("r1"))
def test_a_run(case):
    record = Run("web1").record
    machine, moment = record.hosts["web1"], case["moment"]
    machine.said, machine.mark_since = Said(at=5.0, mark=given(case), **moment), 0.0
    put(machine, who__vm_id=case["asker"]["vm_id"], given__endpoint=case["asker"]["endpoint"])
    record.at = 5.0
    assert whose(record, machine) == case["expect"]["owner"]
    assert shown_of(view_of(record, machine), case["expect"]) == case["expect"]


@pytest.mark.parametrize("case", asks(""))
def test_a_playbook(case):
    hello = {"resource_name": "vm1", "vm_id": case["asker"]["vm_id"]}
    answer = {"answers": [hello, {"events": []}], "mark": given(case), **case["moment"]}
    found = inspected([Asked("web1", True, "", answer, case["asker"]["endpoint"])])
    assert shown_of(found.view("web1"), case["expect"]) == case["expect"]


@pytest.mark.parametrize("case", asks("watcher"))
def test_its_watcher(case):
    vm_id, moment = case["asker"]["vm_id"], case["moment"]
    found = own_mark(
        Story()
        .facts()
        ._replace(
            mark=case["mark"],
            unreadable=case.get("unreadable", ""),
            identity=None if vm_id is None else Identity("vm1", vm_id),
            moment=Moment(0.0, moment["uptime"], moment["boot_id"]),
            endpoint=case["asker"]["endpoint"],
        )
    )
    wanted = case["expect"] if case["expect"]["owner"] == OURS else {"owner": case["expect"]["owner"]}
    assert shown_of(found, wanted) == wanted


# ---- a machine that was cloned while it was out of service ----


def cloned(run="r0", kind="run", **options):
    found = Run("web1", **options)
    found["web1"].vm_id = "vm-b"
    found["web1"].mark = dict(mark(run, ["A"], kind=kind, until=0.0), vm_id="vm-a")
    return found


@pytest.mark.parametrize("kind", ["run", "watcher", "drain"])
def test_a_copied_mark_is_put_aside_and_nothing_is_undone(kind):
    run = cloned(kind=kind, wait_timeout=0.0)
    run.to_end()
    assert (run["web1"].mark, run.goes("web1"), run.problems) == (None, [], [])
    (happening,) = [one for one in run.record.happenings if one.what not in NEWS]
    assert happening.what == "moved aside" and "the VM that it was copied from" in happening.text


def test_the_copy_is_prepared_as_any_machine():
    run = cloned(kind="watcher")
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert run["web1"].mark["vm_id"] == "vm-b" and run["web1"].mark["holder"]["run"] == "r1"


def test_check_mode_leaves_it():
    run = cloned(check=True)
    run.to_end()
    assert run["web1"].mark is not None
    assert any("the VM that it was copied from" in problem for problem in run.problems)


def test_one_that_could_not_be_put_aside_is_a_problem():
    run = cloned(wait_timeout=0.0)
    run["web1"].put_aside = lambda request, call, at: {"problem": "/var is full"}
    run.to_end()
    assert any("could not be moved aside (/var is full)" in problem for problem in run.problems)


def test_marks_of_a_run_bear_the_vm_they_were_made_on():
    run = Run("web1")
    run["web1"].vm_id = "vm-b"
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    assert run.record.todo.calls["web1"]["vm_id"] == "vm-b"


# ---- what failed ----


def test_a_new_run_tries_again_what_failed_in_another_process():
    """A person has begun it. A watcher that is restarted goes by its mark, as the vectors show."""
    run = Run("web1")
    run["web1"].mark = dict(mark("r0", ["A"], phase="half", until=0.0))
    run["web1"].mark["steps"] = [STEP]
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.sent("A"))
    assert run["web1"].mark["holder"]["run"] == "r1"


@pytest.mark.parametrize(
    "state, words", [("failed", "could not be prepared"), ("not_taken_back", "could not be recovered")]
)
def test_what_its_watcher_could_not_do(state, words):
    run = Run("web1", policy=rules("prepare_and_approve"))
    run["web1"].watcher = {"mode": "manage", "version": "1", "endpoint": "", "alive": True, "lacks": []}
    run["web1"].mark = mark("watcher", ["A"], kind="watcher", phase="half")
    run["web1"].mark["steps"] = [dict(STEP, state=state)]
    run.show(event("A", ["vm1"]))
    run.tick(3)
    assert f"{words} by its watcher" in run.event("A").against.hold


# ---- an event that was gone, and comes back ----


@pytest.mark.parametrize("again", ["Started", "Scheduled first"])
def test_what_was_prepared_before_it_was_gone_counts_no_more(again):
    run = Run("web1", policy=rules("prepare"), rounds=2)
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: run.prepared("web1"))
    run.show()
    run.until(lambda: run["web1"].mark is None)
    run["web1"].fails = "nginx did not stop"
    if again != "Started":
        run.show(event("A", ["vm1"], not_before=run.at + 20.0))
        run.tick()
    run.show(started(event("A", ["vm1"])))
    run.until(lambda: run.event("A").started is not None)
    run.tick(2)
    assert any("reached web1 unprepared" in problem for problem in run.problems), run.problems
