# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the recap says of each machine that an event named."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.recap import became
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Run,
    event,
    mark,
    rules,
    started,
)


def after(*hosts, of=("vm1",), fails="", stuck="", unprepared=False, **options):
    """What became of the machines of a run over these hosts, in which one event came and went."""
    run = Run(*hosts, event_timeout=600.0, recover_timeout=60.0, **options)
    run["web1"].fails, run["web1"].stuck = fails, stuck
    run.tick()
    run.show((started if unprepared else dict)(event("A", of)))
    run.until(lambda: "A" in run.record.events)
    if not unprepared:
        run.tick(20)
    run.show()
    run.to_end()
    return became(run.record)


def test_one_that_was_prepared_and_recovered_has_changed():
    found = after("web1", "web2")
    assert found == {"web1": {"words": ["Reboot A: prepared, recovered"], "changed": True, "failed": False}}


def test_one_that_could_not_be_prepared_has_failed_and_the_others_have_not():
    found = after("web1", "web2", "web3", of=("vm1", "vm2"), fails="the service does not stop")
    assert found["web1"]["failed"] and "the service does not stop" in found["web1"]["words"][0]
    assert not found["web2"]["failed"] and "web3" not in found


def test_one_that_its_event_reached_unprepared_has_failed():
    found = after("web1", "web2", unprepared=True)
    assert found["web1"]["failed"] and not found["web1"]["changed"]


def test_one_for_which_the_policy_does_nothing_is_ok():
    found = after("web1", "web2", policy=rules("ignore"))
    assert found == {"web1": {"words": ["Reboot A: nothing was done"], "changed": False, "failed": False}}


def test_one_that_could_not_be_recovered_has_failed():
    found = after("web1", "web2", stuck="the service does not start")
    words = ["Reboot A: not recovered: the service does not start"]
    assert found == {"web1": {"words": words, "changed": True, "failed": True}}


def test_one_whose_steps_were_undone_has_changed_and_failed():
    run = Run("web1", event_timeout=600.0)
    run.tick()
    run.show(event("A", ["vm1"], not_before=2000.0))
    run.until(run.marked)
    run["web1"].fails = "the service does not stop"
    run.until(lambda: run.record.events["A"].recovered)
    assert became(run.record)["web1"]["changed"] and became(run.record)["web1"]["failed"]


def test_one_that_a_run_handles_that_lives_is_ok_and_listed():
    run = Run("web1", "web2")
    run["web1"].mark = mark("another", ["A"], phase="prepared", until=1000.0)
    run.show(event("A", ["vm1"], not_before=2000.0))
    run.tick(3)
    run["web1"].mark = mark("another", ["A"], phase="prepared", until=1100.0)  # it renews it
    run.tick(3)
    (found,) = became(run.record).values()
    assert not found["changed"] and not found["failed"] and "handled by run another" in found["words"][-1]


def test_one_that_its_watcher_handles_is_ok_and_listed():
    run = Run("web1", "web2")
    run["web1"].watcher = {"mode": "manage", "version": "0.2.0", "alive": True, "lacks": [], "prepares": True}
    run["web1"].mark = mark("watcher", ["A"], kind="watcher", phase="prepared")
    run.show(event("A", ["vm1"], not_before=2000.0))
    run.tick(3)
    (found,) = became(run.record).values()
    assert not found["changed"] and not found["failed"] and "handled by " in found["words"][-1]
    run["web1"].mark = None
    run.tick()
    assert became(run.record)["web1"]["words"][-1] == "handled by its watcher"


def test_one_that_stays_out_of_service_has_failed():
    run = Run("web1", "web2", recover_timeout=60.0)
    run["web1"].mark, run["web1"].stuck = mark("another", ["B"], phase="prepared", until=0.0), "it does not start"
    run.to_end()
    found = became(run.record)
    assert found["web1"]["failed"] and "not recovered: it does not start" in found["web1"]["words"][0]
    assert "web2" not in found


def test_one_that_could_not_be_asked_has_failed_and_the_others_have_not():
    run = Run("web1", "web2")
    run["web2"].down = "the connection was refused"
    run.to_end()
    found = became(run.record)
    assert found["web2"]["failed"] and found["web2"]["words"] == ["web2 could not be asked: the connection was refused"]
    assert "web1" not in found
