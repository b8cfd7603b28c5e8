# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows machines are polled and called as Linux ones are. A call may have to start PowerShell, and all of their steps are done by others."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Machine,
    Run,
    event,
    put,
    rules,
)


def of_both(first, second, **options):
    """A run over web1 and web2, and web3, which is drained for long."""
    run = Run(Machine("web1", is_linux=first), Machine("web2", is_linux=second), "web3", **options).is_proven().tick()
    run["web3"].seconds = 100.0
    return run


@pytest.mark.parametrize("first, second", [(False, True), (True, False)])
def test_the_first_of_the_inventory_waits_for_a_change_and_approves_whatever_its_system(first, second):
    run = of_both(first, second)
    assert list(run.record.todo.calls) == ["web1"]
    run.show(event("A", ["vm3"]))
    run.until(run.sent)
    assert run.approvals() == ["web1"]


@pytest.mark.parametrize("first, second", [(False, True), (True, False)])
def test_beside_a_linux_machine_it_is_polled_as_often(first, second):
    run = of_both(first, second, policy=rules("prepare"))
    run.show(event("A", ["vm3"]))
    run.until(lambda: run.prepared("web3"))
    began = run.at
    run.until(lambda: run.at > began + 60)
    polls = [len([at for at, _request in run[host].asked if at > began]) for host in ("web1", "web2")]
    assert polls[0] == polls[1] > 8


def test_the_mark_and_the_approval_are_two_calls():
    run = Run(Machine("web1", is_linux=False)).tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    assert [[request["do"] for at, request in run["web1"].asked if at == when] for when in _moments(run)][-1] == [
        "approve"
    ]


def _moments(run):
    return sorted({at for at, _request in run["web1"].asked})


# ---- how long a call may take ----


def limit(hung):
    run = Run(Machine("web1", is_linux=False))
    put(run.record.hosts["web1"], in_vain__hung=hung)
    run_record.move_on(run.record, {}, 1.0)
    return run.record.todo.calls["web1"]["seconds"]


def test_a_call_has_the_time_to_start_powershell():
    assert [limit(hung) for hung in range(4)] == [20.0, 30.0, 50.0, 50.0]


# ---- rests ----


def rest(*states, before=None):
    """Seconds until the next call of one that is being prepared, where others have said this of its step."""
    run = Run(Machine("web1", is_linux=False)).tick()
    run["web1"].seconds = 100.0
    run.show(event("A", ["vm1"]))
    run.until(lambda: run["web1"].mark)
    run.tick()
    record = run.record
    outcomes = {str(number): {"state": one} for number, one in enumerate(states)}
    put(record.hosts["web1"], elsewhere__outcomes=outcomes, elsewhere__before=before or {})
    run_record.move_on(record, {}, run.at)
    return record.todo.seconds


def test_what_others_have_done_is_noted_at_once():
    assert rest("done") == rest("failed") == rest(before={"W3SVC": {"ran": True}}) == 0.0


def test_what_lasts_is_looked_at_every_second():
    assert rest("pending") == rest() == 1.0


# ---- how old what a machine says is ----


def called():
    run = Run(Machine("web1", is_linux=False)).tick()
    run.show(event("A", ["vm1"], not_before=900.0))
    run_record.sent(run.record)
    return run


def test_a_mark_is_as_old_as_the_machine_says():
    run = called()
    said = {
        "lost": "",
        "answers": [run["web1"].document(run.at)],
        "mark": None,
        "boot_id": "boot-1",
        "ended": run.at + 1,
    }
    run_record.move_on(run.record, {"web1": dict(said, age=30.0)}, run.at + 1)
    assert run.record.hosts["web1"].said.at == run.at - 29.0


def test_a_look_is_as_old_as_the_machine_says():
    """Its notice counts from when the document came, and so do two looks that show that an event is gone."""
    run = called()
    look = dict(run["web1"].document(run.at), age=6.0, began=8.0)
    look["events"][0]["notice"] = 500.0
    said = {"lost": "", "answers": [look], "mark": None, "boot_id": "boot-1", "ended": run.at + 10.0}
    run_record.move_on(run.record, {"web1": said}, run.at + 10.0)
    assert run.event().tracked.deadline == run.at + 4.0 + 500.0 and run.event().shown == run.at + 4.0


# ---- under its event ----


def test_an_event_that_is_scheduled_again_names_its_machines():
    run = Run(Machine("web1", is_linux=False)).tick()
    run.show(event("A", ["vm1"]))
    run.until(run.sent)
    run.show(dict(event("A", ["vm1"], "Started"), starts=None))
    run.tick(5)
    run.show(event("A", ["vm1"], not_before=5000.0))
    run.tick(3)
    assert any("See whether its machines are in service: web1." in problem for problem in run.problems)
