# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs that are killed and restarted, that are two at once, and calls that act when nobody expects it any more."""

import itertools
import signal
import time

import judge
import pytest
from length import ALL, at_length
from machines import host

AFFECTED = ("web2", "web3")
# When a run is cut off: so many calls to web2 after it has begun, and twice in the last of them. Every run goes on where the
# one before was cut off: so these are moments all over a maintenance. CI has time for one maintenance, AZM_FLEET_LIVES=all
# has all 20 moments.
LIVES = [(3, 4, 6)]
if ALL:
    LIVES += [(2, 7), (5, 8), (3, 9, 10)]
SECONDS = (0.05, 0.5)
LONGEST_LIFE = 15.0  # for one in which web2 is away


@pytest.mark.parametrize(
    "number, all_of_it, later",
    [(signal.SIGKILL, True, 0.0), pytest.param(signal.SIGTERM, False, 0.2, marks=at_length)],
    ids=["all of it killed at once", "asked to end"],
)
@pytest.mark.parametrize("lives", LIVES, ids=str)
def test_a_run_that_is_cut_off_and_begun_anew(azure, machines, maintain, user, lives, number, all_of_it, later):
    """Twice after so many calls each, in one maintenance."""
    boots = machines.boot_ids()
    event = azure.inject("Reboot", AFFECTED, notice=36000, tail=60)
    phases = []
    for calls, seconds in itertools.product(lives, SECONDS):
        if azure.event(event)["status"] == "Gone" and not machines.left_behind():
            break  # all is over before the last life
        looked = azure.requests("web1")
        run = maintain(waits=())
        azure.wait_until_looked("web1", looked, alive=run.check_alive)
        machines["web2"].wait_for_calls(calls - 1, LONGEST_LIFE)
        time.sleep(seconds + later)  # the moment at which it is cut off
        run.cut_off(number, all_of_it)
        phases.append({name: (machines[name].mark() or {}).get("phase") for name in AFFECTED})
        for name in AFFECTED:
            machines[name].let_lease_run_out()
    # How far each came is a matter of how fast the machine is; that they left machines under way is not.
    assert sum(any(found.values()) for found in phases) >= len(lives), phases
    maintain(waits=(), maintain_wait_timeout=30).wait().check()

    posts = [post for post in azure.posts() if post["executed"]]
    approvals = [request["result"] for post in posts for request in post["requests"]]
    assert approvals.count("approved") == 1, posts
    assert azure.journal("started", event)[0]["cause"] == "approved"
    approved, started, gone = azure.times(event, "approved", "started", "gone")
    judge.prepared_before(machines, AFFECTED, approved)
    judge.out_of_use(user, AFFECTED, approved, gone)
    judge.recovered_after(machines, AFFECTED, gone)
    judge.rebooted(machines, boots, AFFECTED)
    judge.untouched(machines, boots, ["web1", "web10"], user)
    assert user.failures() == []
    assert [user.states(name)[-1] for name in AFFECTED] == ["UP", "UP"]


def test_two_runs_at_once(azure, machines, maintain, user):
    """The first one has the machines. The second one keeps off, and says whose they are."""
    boots = machines.boot_ids()
    machines["web2"].hang(True)
    first = maintain(drain_timeout=300)
    event = azure.inject("Reboot", AFFECTED, notice=36000, tail=36000)
    user.wait_for_state("web2", "DRAIN")
    second = maintain(waits=(), drain_timeout=300)
    host.until("the second run to keep off", lambda: "  waits      nothing is under way" in second.output())
    machines["web2"].hang(False)
    # Else the second run, which only waits for a change, would take it for cancelled.
    host.until("the second run to see it start", lambda: "  started  " in second.output())
    azure.post(f"/events/{event}/complete")
    done = first.wait().check(), second.wait()
    approved, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "gone")
    judge.prepared_before(machines, AFFECTED, approved)
    judge.out_of_use(user, AFFECTED, approved, gone)
    judge.recovered_after(machines, AFFECTED, gone)
    judge.rebooted(machines, boots, AFFECTED)
    assert user.failures() == []
    assert done[0].result["problems"] == []
    assert done[1].status != 0
    for name in AFFECTED:
        assert f"{name}, which is marked by run" in " ".join(done[1].result["problems"]), done[1].result


def test_a_call_that_was_cut_off_and_acts_later(azure, machines, maintain, user):
    """The program stands still on both machines, when they are prepared and when they are recovered: the run ends the
    calls and goes on, and then they do, too."""
    boots = machines.boot_ids()
    run = maintain()
    event = azure.inject("Reboot", AFFECTED, notice=3600, tail=60)
    machines["web2"].wait_for_calls(1, 60)  # it asks for the initial state
    _cut_off_and_let_act_later(machines, {"web2": 0.0, "web3": 0.1})
    host.until("web2 to be recovered", lambda: (machines["web2"].mark() or {}).get("phase") == "recovering")
    _cut_off_and_let_act_later(machines, {"web2": 0.1, "web3": 0.0})
    run.wait().check()
    approved, gone = judge.approved_once(azure, event, by="web1"), *azure.times(event, "gone")
    judge.prepared_before(machines, AFFECTED, approved)
    judge.out_of_use(user, AFFECTED, approved, gone)
    judge.recovered_after(machines, AFFECTED, gone)
    judge.rebooted(machines, boots, AFFECTED)
    assert user.failures() == []


def _cut_off_and_let_act_later(machines, moments):
    """Each machine's next call stands still so many seconds after it has begun, until another one has come and gone."""
    host.until("no call", lambda: not any(machines[name].programs() for name in moments), pause=0.005)
    stopped = {name: machines[name].next_call() for name in moments}
    for name, seconds in sorted(moments.items(), key=lambda item: item[1]):
        time.sleep(seconds)  # the moment at which it stands still
        machines[name].stand_still(stopped[name])
    waiting = {name for name in moments if machines[name].programs() & stopped[name]}
    assert waiting, "every call had ended before it could be made to stand still"
    # All at once: a machine may be done, and never be called again, while another one is still waited for.
    begun: set[str] = set()

    def come_and_gone() -> bool:
        for name in sorted(waiting):
            others = machines[name].programs() - stopped[name]
            if others:
                begun.add(name)
            elif name in begun:
                machines[name].go_on()
                waiting.remove(name)
        return not waiting

    host.until("another call to each to come and go", come_and_gone, pause=0.02)
