# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a person should know before a run waits: of machines that have answered once, and of what more they were asked."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils import _preflight as sentences
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._preflight import Asked
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    NO_ROUTE,
    Machine,
    Run,
    event,
    mark,
    put,
)

READY = {"mark": "", "lacks": {}, "ahead": 0.0}


def step(key="service nginx", number=1, **more):
    return dict(
        {
            "type": "service",
            "key": key,
            "number": number,
            "name": key,
            "does": f"stop {key}",
            "undoes": "",
            "collections": [],
        },
        **more,
    )


def haproxy(server, backends=(), load_balancer="lb1"):
    place = {"load_balancer": load_balancer, "socket": "/s"}
    return step("haproxy", 2, name="balancer", server=server, backends=list(backends), places=[place])


def asked_of(run, **ready):
    """Machines with one step each, against which nothing speaks but what is given, by host."""
    return {host: Asked([step()], dict(READY, **ready.get(host, {}))) for host in run.record.hosts}


def warned(run, asked=None, balancers=(), delegates=()):
    if not run.record.ticks:
        run.tick()
    return sentences.warnings(run.record, asked or asked_of(run), balancers, delegates)


def only(found):
    (sentence,) = found
    assert sentence.endswith(".") and ".." not in sentence
    return sentence


def test_a_run_against_which_nothing_speaks():
    run = Run()
    assert warned(run) == []
    assert sentences.errors(run.record, asked_of(run), lambda name: True) == []


# ---- who watches whom ----


def test_a_machine_that_can_not_look_and_who_looks_for_it():
    run = Run()
    run["web1"].blind = "the service refused it"
    assert only(warned(run)) == ("web1 can't see its scheduled events, web2 polls for it: the service refused it.")


def test_a_machine_that_can_not_be_asked_and_for_which_nobody_looks():
    run = Run("web1", Machine("db1", scope="db"))
    run["db1"].down = NO_ROUTE
    assert only(warned(run)) == f"db1 could not be asked, no machine polls for it: {NO_ROUTE}."


def test_a_machine_that_has_not_answered_yet():
    run = Run()
    run.tick()
    put(run.record.hosts["web2"], answered=None, flying={"requests": []})
    why = "web2 could not be asked, web1 polls for it: it has not answered yet, and is still waited for."
    assert only(warned(run)) == why
    assert sentences.errors(run.record, {**asked_of(run), "web2": Asked([], None)}, lambda name: True) == []
    assert "NOT REACHED" in sentences.table(run.record, asked_of(run))[1]


def test_a_machine_whose_name_nobody_knows():
    run = Run()
    run["web2"].nameless = True
    assert only(warned(run)) == (
        "Which events affect web2 is not known (the service was slow): set azure_maintenance_resource_name."
    )


def test_two_hosts_that_are_one_machine_and_a_name_that_is_another():
    run = Run(Machine("web1", resource_name="vm1"), "web2", Machine("web3", resource_name="vm9"))
    run["web1"].vm_id = run["web2"].vm_id = "same"
    twin, name = warned(run)
    assert twin.startswith(
        "web2 takes no part: it says that it is the same VM as web1 ('vm1'), and the inventory names"
    )
    assert name.startswith("web3 is the VM 'vm3' by its own metadata service, but 'vm9' by the inventory")


# ---- scopes ----


def test_one_declared_scope_that_is_shown_two_documents():
    run = Run("web1", "web2")
    run.show(event(), to=["web1"])
    assert only(warned(run)) == (
        "The machines of scope 'web' (web1, web2) are shown different events, so they may not be one scope: see azure_maintenance_scope."
    )


def test_one_declared_scope_of_two_placement_groups():
    run = Run("web1", "web2")
    run["web1"].group, run["web2"].group = "g1", "g2"
    assert "are in several placement groups, so they may not be one scope" in only(warned(run))


def test_two_declared_scopes_of_one_placement_group():
    run = Run("web1", Machine("db1", scope="db"))
    run["web1"].group = run["db1"].group = "g1"
    assert only(warned(run)).startswith(
        "The placement group g1 is one scope to Azure, and azure_maintenance_scope makes it db, web: each is polled"
    )


def test_a_placement_group_that_nobody_declared():
    run = Run(Machine("web1", declared=False), Machine("web2", declared=False))
    run["web1"].group = run["web2"].group = "g1"
    assert warned(run) == []


# ---- marks that were left behind ----


@pytest.mark.parametrize(
    "found, says",
    [
        (
            mark("r0", ["A"], until=0.0),
            "run r0 on ctl1, since 1970-01-01T00:00:00Z, whose lease has expired: a run takes",
        ),
        (
            mark("r0", ["A"]),
            "run r0 on ctl1, since 1970-01-01T00:00:00Z, which counts as alive: a run leaves it alone",
        ),
        (mark("", ["A"], kind="watcher"), "is marked by its watcher, since"),
        (mark("watcher", ["A"], kind="watcher"), "its watcher recovers it"),
        (dict(mark("r0", ["A"]), vm_id="vm-a"), "the VM that it was copied from: a run moves the mark aside"),
        (dict(mark("r0", ["A"]), endpoint="http://10.0.0.11:8780"), "made for a metadata service other than Azure's"),
        (mark("r0", [], kind="drain"), "a run leaves it alone. Recover it by role drain's entry point recover"),
        (
            {"unreadable": "its JSON is broken"},
            "web1 has an unreadable mark (its JSON is broken): it is left unchanged",
        ),
    ],
)
def test_a_mark_says_whose_it_is_since_when_and_what_to_do(found, says):
    run = Run("web1")
    run["web1"].mark = None if "unreadable" in found else found
    run.tick()
    put(run.record.hosts["web1"], said__mark=found, who__vm_id="vm-b")
    assert says in only(warned(run))


# ---- what machines and load balancers said ----


def test_what_steps_lack_is_said_once_for_all_machines():
    run = Run()
    lacks = {"lacks": {"service nginx": "this machine has no service nginx"}}
    assert only(warned(run, asked_of(run, web1=lacks, web3=lacks))) == (
        "web1, web3: step 1 (service nginx) would fail: this machine has no service nginx."
    )


def test_a_mark_that_can_not_be_written():
    run = Run()
    found = only(
        warned(run, asked_of(run, web2={"mark": "/var/lib/x can't be written (Read-only file system): mount it"}))
    )
    assert found.startswith("web2: no mark can be written, so it would not be prepared: /var/lib/x can't be written")


@pytest.mark.parametrize(
    "ahead, says",
    [
        (31.0, "its clock is 31 s ahead of the controller's"),
        (-90.4, "its clock is 90 s behind the controller's"),
        (30.0, ""),
        (-30.0, ""),
    ],
)
def test_a_clock_may_differ_by_thirty_seconds(ahead, says):
    run = Run("web1")
    found = warned(run, asked_of(run, web1={"ahead": ahead}))
    assert says in only(found) if says else found == []


def test_a_machine_that_did_not_say_is_no_trouble():
    run = Run("web1")
    assert warned(run, {"web1": Asked([step()], None)}) == []


SERVERS = [{"backend": "www", "server": "web1"}, {"backend": "api", "server": "web2"}]


@pytest.mark.parametrize(
    "server, backends, says",
    [
        ("web1", [], ""),
        ("web1", ["www"], ""),
        ("web9", [], "lb1 has no server web9 in any backend."),
        ("web1", ["www", "api"], "lb1 has no server web1 in backend api."),
    ],
)
def test_a_server_that_a_load_balancer_lacks(server, backends, says):
    run = Run("web1")
    shown = [{"place": {"load_balancer": "lb1", "socket": "/s"}, "servers": SERVERS}]
    found = warned(run, {"web1": Asked([haproxy(server, backends)], READY)}, balancers=shown)
    assert found == ([f"web1: step 2 (balancer) would fail: {says}"] if says else [])


def test_a_load_balancer_that_gives_no_answer_is_said_once():
    run = Run("web1", "web2")
    shown = [{"place": {"load_balancer": "lb1", "socket": "/s"}, "failed": True, "msg": "no such file."}]
    asked = {host: Asked([haproxy(host)], READY) for host in ("web1", "web2")}
    assert only(warned(run, asked, balancers=shown)) == "lb1: HAProxy could not be asked: no such file."
    assert warned(run, asked) == [], "it was not asked, as an event is there"


def test_a_machine_that_does_steps_for_others_and_can_not_be_reached():
    run = Run(*(f"web{number}" for number in range(1, 8)))
    away = step("command x", 2, delegates=[{"host": "db1", "ping": "ansible.builtin.ping"}])
    asked = {host: Asked([step(), away] if host != "web3" else [step()], READY) for host in run.machines}
    came = [{"host": "db1", "unreachable": True, "msg": "No route to host."}, {"host": "lb1", "ping": "pong"}]
    assert only(warned(run, asked, delegates=came)) == (
        "db1, which has to do step 2 (command x) of web1, step 2 (command x) of web2, step 2 (command x) of web4, "
        "step 2 (command x) of web5, step 2 (command x) of web6 and 1 more, could not be reached: No route to host."
    )


# ---- steps, collections, variables ----


def without_steps(require, watcher=None, down=""):
    """What is refused, and what is warned of, where one of two machines has no steps in the inventory."""
    run = Run("web1", Machine("web2", steps=0, require_steps=require))
    run["web2"].watcher, run["web2"].down = watcher, down
    said = warned(run)
    return sentences.errors(run.record, asked_of(run), lambda name: True), said


def watcher(**more):
    return dict({"mode": "manage", "version": "0.2.0", "alive": True, "lacks": [], "prepares": True}, **more)


def test_a_machine_without_steps_ends_the_run():
    (why, nothing), warnings = without_steps(require=True)
    assert why == (
        "There are no steps for web2, and maintain_require_steps is true: say in drain_steps how to take such a machine out of service, "
        "leave it out with --limit, or set maintain_require_steps to false."
    )
    assert nothing == "Nothing was changed." and warnings == []


def test_a_machine_without_steps_is_warned_of_where_that_is_meant():
    errors, (warning,) = without_steps(require=False)
    assert errors == []
    assert warning.startswith("There are no steps for web2: such a machine counts as prepared")


def test_a_machine_that_its_watcher_prepares_has_steps():
    assert without_steps(True, watcher()) == ([], [])
    assert without_steps(False, watcher()) == ([], [])


@pytest.mark.parametrize("more", [{"prepares": False}, {"alive": False}, {"mode": "observe"}])
def test_a_watcher_that_prepares_nothing_is_no_step(more):
    errors, _warnings = without_steps(True, watcher(**more))
    assert errors[0].startswith("There are no steps for web2, and")


def test_a_machine_that_can_not_be_asked_for_its_watcher_does_not_end_the_run():
    errors, warnings = without_steps(True, down=NO_ROUTE)
    assert errors == []
    assert warnings[-1].startswith(
        "There are no steps for web2, and it is not known whether a watcher prepares such a machine"
    )


def test_a_collection_is_missing_only_where_something_needs_it():
    run = Run("web1", "web2", Machine("win1", is_linux=False))
    asked = dict(asked_of(run), web2=Asked([step(collections=["community.general"])], READY))
    general, windows, nothing = sentences.errors(run.record, asked, lambda name: False)
    assert general == (
        "The collection community.general, required by web2, is not installed on the controller: ansible-galaxy collection install "
        "community.general."
    )
    assert "ansible.windows, required by win1, is not installed" in windows
    linux = Run("web1")
    assert sentences.errors(linux.record, asked_of(linux), lambda name: False) == []
