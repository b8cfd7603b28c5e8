# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run begins, as people read it."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._preflight import Asked, table
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    put,
)


def step(does, undoes="", type="service", number=1):
    return {"does": does, "undoes": undoes, "type": type, "number": number, "name": does or undoes}


def lines(run, **steps):
    run.tick()
    return table(run.record, {host: Asked(steps.get(host, ()), None) for host in run.record.hosts})


def test_a_machine_that_its_watcher_prepares_has_steps():
    run = Run("web1")
    run["web1"].watcher = {"mode": "manage", "version": "0.2.0", "alive": True, "lacks": [], "prepares": True}
    assert "its watcher's  no mark" in lines(run)[0]


def test_every_machine_has_its_line():
    run = Run("web1", "web2", Machine("db1", scope="db"), Machine("old1", scope="old"), "web3")
    run.show(event("A", ["vm1"]), to=["web1", "web2"])
    run["old1"].down = NO_ROUTE
    run["web3"].blind = "denied"
    run["web2"].mark = mark("r0", ["A"])
    assert lines(run, web1=[step("stop a")], db1=[step("stop a"), step("stop b")])[:5] == [
        "web1  vm1               watches scope web               1 event           1 step    no mark",
        "web2  vm2               watched by web1                 1 event           NO STEPS  HAS A MARK",
        "db1   vmdb1             watches itself                  no event          2 steps   no mark",
        "old1  (name not known)  NOT REACHED, watched by nobody  events not known  NO STEPS  mark not known",
        "web3  vm3               BLIND, watched by web1          events not known  NO STEPS  no mark",
    ]


def test_a_mark_that_can_not_be_read_need_not_be_there():
    """As where the run has not become root, and the folder is root's."""
    run = Run("web1")
    run.tick()
    put(run.record.hosts["web1"], said__mark={"unreadable": "/m/mark.json can't be read: Permission denied"})
    assert table(run.record, {"web1": Asked((), None)})[0].endswith("MARK NOT READABLE")


def test_one_that_is_another_host_takes_no_part():
    run = Run("web1", "web2")
    run["web1"].vm_id = run["web2"].vm_id = "same"
    assert "TAKES NO PART" in lines(run)[1]


def test_the_same_steps_are_said_once():
    run = Run("web1", "web2", "web3", "web11")
    same = {host: [step(f"drain server {host} on lb1"), step("stop nginx")] for host in ("web1", "web2", "web11")}
    assert lines(run, **same, web3=[step("run web3.sh for web3"), step("", "run the tasks of after.yml")])[4:] == [
        "steps of web1, web2, web11: drain server HOST on lb1; then stop nginx",
        "steps of web3: run web3.sh for web3; then afterwards run the tasks of after.yml",
    ]


def test_what_is_not_verified_before_an_approval_is_said_once_for_all_machines_that_do_it():
    run = Run("web1", "web2", "db1", "app1")
    same = {
        host: [step("stop nginx"), step(f"flush {host}", type="command", number=2), step("wait", "", "connections", 3)]
        for host in ("web1", "web2")
    }
    db1 = [step("run a.yml", type="tasks"), step("", "run b.yml", type="tasks"), step("drain", type="haproxy")]
    assert lines(run, **same, db1=db1, app1=[step("stop app")])[-2:] == [
        "not verified before an approval, web1, web2: step 2 (flush HOST), step 3 (wait)",
        "not verified before an approval, db1: step 1 (run a.yml)",
    ]
