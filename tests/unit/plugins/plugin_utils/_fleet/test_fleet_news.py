# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says while it goes on: every happening once, a problem when it has lasted, nothing while nothing happens."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.news import LASTS, news
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.keeping import Keeping
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Machine,
    event,
    mark,
    rules,
    started,
)


class Said(Keeping):
    """A run that keeps what it says."""

    def __init__(self, *machines, **options):
        super().__init__(news, *machines, **options)

    def words(self):
        return [line.split()[1] for line in self.kept]

    def found(self, *parts):
        return [line for line in self.kept if all(part in line for part in parts)]


def test_where_nobody_sees_anything_the_wait_says_so():
    run = Said()
    for machine in run.machines.values():
        machine.blind, machine.nameless = "Connection refused.", True
    run.tick(10)
    assert run.words() == ["waits", "problem"]
    assert "no machine could see its events so far; web1 polls" in run.kept[0]
    assert "3 machines (web1, web2, web3) can't see their scheduled events" in run.kept[1]


def test_a_whole_run():
    run = Said()
    run.tick(5)
    assert run.words() == ["waits"] and "web1 polls for new events, until 1970-01-01T00:50:00Z" in run.kept[0]
    reboot = event("A", ["vm1"], not_before=2000)
    run.show(reboot)
    run.until(run.sent)
    run.show(started(reboot))
    run.until(lambda: run.event().started is not None)
    run.show()
    run.to_end()
    assert run.words() == ["waits", "shown", "planned", "prepared", "approved", "started", "gone", "recovered"]
    assert run.found("shown", "Reboot A (Platform) affects vm1 (web1): not before")
    assert run.found("planned", "prepare, then approve", "(Reboot A)")
    assert run.found("prepared", "web1 in", "(Reboot A)") and run.found("approved", "by web2 (Reboot A)")


def test_that_no_machine_can_approve_is_said_early():
    run = Said("web1", policy=rules("approve"))
    run["web1"].watcher = {"mode": "manage", "version": "0.2.0", "alive": True, "lacks": []}
    run["web1"].mark = mark("watcher", ["B"], kind="watcher")
    run.tick()
    run.show(event("A", ["vm1"]))
    run.until(lambda: "A" in run.record.events)
    seen = run.at
    run.until(lambda: run.found("problem", "could not be approved: no machine that was shown it can be asked"))
    assert run.at - seen <= 16
    run["web1"].mark = None
    run.until(run.sent)


def test_a_problem_is_said_when_it_has_lasted_and_when_it_is_over():
    run = Said("web1", "web2")
    run.tick()
    run["web2"].down = "no route to host"
    run.show(event("A", ["vm1"], not_before=2000), to=["web1"])
    run.until(lambda: run.found("problem", "web2 has not answered"))
    since = run.record.since["machine web2: asked"]
    assert LASTS <= run.at - since < LASTS + 20
    run["web2"].down = ""
    run.until(lambda: run.found("solved", "web2 has not answered"), most=30)
    assert len(run.found("problem", "web2")) == len(run.found("solved", "web2")) == 1


def test_a_problem_that_is_over_at_once_is_not_said():
    run = Said("web1", "web2")
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000))
    run.tick()
    run["web2"].down = "no route to host"
    run.tick(3)
    run["web2"].down = ""
    run.tick(10)
    assert not run.found("problem")


def test_what_is_under_way_is_no_problem_however_long_it_takes():
    run = Said()
    run["web1"].seconds = 5 * LASTS
    run.tick()
    reboot = event("A", ["vm1"], not_before=2000)
    run.show(reboot)
    run.until(run.sent, seconds=LASTS + 5)
    run.show(started(reboot))
    run.until(lambda: run.event().started is not None)
    run.show()
    run.until(lambda: run.record.finished, seconds=LASTS + 5)
    assert run.found("recovered", "web1") and not run.found("problem") + run.found("solved")


def test_what_is_not_going_to_be_approved_is_a_problem():
    run = Said()
    run.tick()
    run.show(event("A", ["vm1", "vm9"], not_before=2000))
    run.until(lambda: run.found("problem", "it also affects vm9"), most=30)


def test_what_stays_a_problem_is_said_at_once():
    run = Said()
    run.tick()
    run.show(started(event("A", ["vm1"])))
    run.tick()
    assert run.found("problem", "reached web1 unprepared")


def test_notes_are_said_once():
    run = Said(Machine("web1", steps=0), "web2")
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000))
    run.tick(5)
    assert len(run.found("note", "No step of drain_steps is for web1")) == 1


def test_approvals_that_are_refused_are_said_once_for_each_answer():
    run = Said()
    for machine in run.machines.values():
        machine.service_refuses = "the service answered 410"
    run.tick()
    run.show(event("A", ["vm1"], not_before=300))
    run.until(lambda: run.at > 200)
    tried = run.found("tried", "to approve Reboot A, by web", "the service answered 410")
    assert 2 <= len(tried) < run.event().approval.tries.times


def test_what_came_from_anywhere_is_one_printable_line():
    run = Said()
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000, type="Re\x1b[31mboot\nfatal: "))
    run.tick(3)
    assert run.kept and all(line.isprintable() for line in run.kept)
    assert all(line.isprintable() for line in run.result["timeline"])


def test_a_run_that_waits_again_says_so():
    run = Said(rounds=2)
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000))
    run.until(run.sent)
    run.show()
    run.until(lambda: run.record.rounds_done == 1)
    run.tick(2)
    assert run.words().count("waits") == 2
