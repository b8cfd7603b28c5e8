# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of role maintain costs: a tick, an approval, thousands of ticks, and waiting; beside version 0.1.0 where that can do it.

    python tests/bench/ticks.py [--only CASE] [--ticks 2000]

All hosts are local connections. Version 0.1.0 comes from this clone's history. The case deciding, which has to
be asked for, does without any: the collection has to be importable (PYTHONPATH).
"""

import argparse
import importlib
import json
import re
import shutil
import statistics
import subprocess
import tarfile
import tempfile
import time
from pathlib import Path

from local_fleet import HERE, Fleet
from long_run import LongRun

COLLECTION = HERE.parents[1]
INSIDE = "ansible_collections/cloudops/azure_maintenance"
OLDER = "b80746d"  # 0.1.0
DRAIN = 10.0  # seconds


def variables(folder, command, **more):
    """Of a run whose machines are all this one: marks in folders of their own, no root."""
    return {
        "azure_maintenance_folder": f"{folder}/marks/{{{{ inventory_hostname }}}}",
        "maintain_become": False,
        "maintain_max_unavailable": "100%",
        "maintain_wait_timeout": 86400,
        "drain_steps": [{"type": "command", "do": command, "timeout": 300}],
        **more,
    }


def announce(fleet, numbers, **more):
    """An event of these machines; returns its id."""
    event = {"type": "Reboot", "resources": [f"vm{number}" for number in numbers], "notice": 3600, "tail": 1, **more}
    return fleet.ask("/events", event)["id"]


def is_waiting(fleet, scopes):
    """Whether one machine of each scope looks, and nobody else."""
    counts = [asked_of_all(fleet) for _time in range(2) if time.sleep(3) is None]
    asking = [later - earlier for earlier, later in zip(*counts, strict=True)]
    return sum(count >= 1 for count in asking) == scopes


def phases(folder):
    """The phase of each mark that is there."""
    found = []
    for mark in Path(folder, "marks").glob("*/mark.json"):
        try:
            found.append(json.loads(mark.read_text())["phase"])
        except OSError:  # it has just been removed
            continue
    return found


def spread(values):
    return f"median {statistics.median(values):.2f} s, {min(values):.2f} to {max(values):.2f} s"


def busy(folder):
    """A tick while 10 machines of 40 drain; the 30 others are in three other scopes."""
    with Fleet(folder, 40, 4) as fleet:
        announce(fleet, range(0, 40, 4))
        run = LongRun(fleet, forks=40, **variables(folder, "sleep 60"))
        run.until(lambda: phases(folder) == ["preparing"] * 10, 120)
        first = len(run.ticks)
        run.until(lambda: "preparing" not in phases(folder), 120)
        run.end()
    ticks = run.ticks[first:][:21]
    lasted = [later.at - earlier.at for earlier, later in zip(ticks, ticks[1:], strict=False)]
    cost = (ticks[-1].cpu - ticks[0].cpu) / len(lasted)
    print(
        f"a tick, 10 of 40 machines drain: {spread(lasted)} ({len(lasted)} ticks, {cost:.2f} CPU s each; at most 4 s wanted)"
    )


def approval(folder, root, name, times=5):
    """From the moment that the emulator shows an event to its approval, less the drain: 7 machines of 8."""
    took = []
    with Fleet(folder, 8, 1) as fleet:
        run = LongRun(fleet, root, **variables(folder, f"sleep {DRAIN:g}", maintain_rounds=0))
        for _event in range(times):
            run.until(lambda: is_waiting(fleet, 1), 120)
            event = announce(fleet, range(7))
            run.until(lambda event=event: fleet.ask(f"/events/{event}")["approved"], 120)
            journal = fleet.ask("/journal")["entries"]
            walls = {one["kind"]: one["wall"] for one in journal if one.get("event_id") == event}
            took.append(walls["approved"] - walls["scheduled"] - DRAIN)
        run.end()
    print(f"{name}: shown to approved, less the drain, 7 machines: {spread(took)} ({times} events; at most 5 s wanted)")


def many(folder, count):
    """So many ticks with 40 hosts, without the rests between them: whether the last ones are as the first, and how soon it ends."""
    root = Path(folder, "without_rests")
    shutil.copytree(COLLECTION, root / INSIDE, ignore=shutil.ignore_patterns(".*", "build", "tests", "docs"))
    calls = root / INSIDE / "plugins/plugin_utils/_fleet/tick_planner.py"
    calls.write_text(re.sub(r"(?m)^(REST_\w+) = [\d.]+", r"\1 = 0.0", calls.read_text()))
    with Fleet(folder, 40, 1) as fleet:
        event = announce(fleet, [0], notice=1000000)
        policy = [{"name": "Prepare", "do": "prepare"}]
        run = LongRun(fleet, root, **variables(folder, "true", maintain_policy=policy, maintain_prepare_before=2000000))
        run.until(lambda: len(run.ticks) >= count, 86400)
        fleet.ask(f"/events/{event}/cancel", {})
        run.until(lambda: run.ended, 600)
    last = run.ticks[-1]
    ticks = run.ticks[20:count]
    costs = [later.cpu - earlier.cpu for earlier, later in zip(ticks, ticks[1:], strict=False)]
    lasted = [later.at - earlier.at for earlier, later in zip(ticks, ticks[1:], strict=False)]
    print(
        f"{len(run.ticks)} ticks with 40 hosts: {ticks[-1].megabytes - ticks[0].megabytes:.1f} MB more at the end than after 20 ticks "
        f"({ticks[0].megabytes:.0f} MB; at most 30 wanted)"
    )
    for name, part in (("first", slice(100)), ("last", slice(-100, None))):
        cost = statistics.median(costs[part])
        print(f"  the {name} 100: {spread(lasted[part])}, {cost:.2f} CPU s")
    print(f"  from the last decision to the end of the run: {run.ended - last.at:.1f} s (at most 5 s wanted)")


def idle(folder, older, scopes, seconds):
    """Waiting, this version and 0.1.0 side by side: 20 hosts in so many scopes."""
    versions = {"this version": None, **({"0.1.0": older} if older else {})}
    with Fleet(folder, 20, scopes) as fleet:
        for name, root in versions.items():
            run = LongRun(fleet, root, **variables(folder, "true"))
            run.until(lambda: is_waiting(fleet, scopes), 180)
            time.sleep(5)
            before, looks, began = run.cpu(), fleet.looks(), time.monotonic()
            time.sleep(seconds)
            cost, wall = run.cpu() - before, time.monotonic() - began
            run.end()
            print(
                f"{name}: waiting, 20 hosts in {scopes} scopes: {cost * 60 / wall:.1f} CPU s a minute, "
                f"{(fleet.looks() - looks) / wall:.2f} looks a second"
            )


def unproven(folder, hosts, seconds):
    """Waiting, one declared scope of so many hosts: with a placement group that proves it, and without one.

    seconds: how long; all are called once in 300 s either way
    """
    for proven in (True, False):
        with tempfile.TemporaryDirectory(dir=folder) as own, Fleet(own, hosts, 1, proven) as fleet:
            run = LongRun(fleet, **variables(own, "true"))
            run.until(lambda fleet=fleet: is_waiting(fleet, 1), 3600)
            before, asked, began = run.cpu(), asked_of_all(fleet), time.monotonic()
            time.sleep(seconds)
            cost, wall = run.cpu() - before, time.monotonic() - began
            others = sum(later > earlier for earlier, later in zip(asked, asked_of_all(fleet), strict=True)) - 1
            run.end()
            print(
                f"waiting, {hosts} hosts in one {'proven' if proven else 'declared'} scope: {cost * 60 / wall:.1f} CPU s a minute "
                f"({wall:.0f} s, in which {others} others looked)"
            )


def asked_of_all(fleet):
    """How many requests each machine has sent."""
    return [vm["requests"]["get"] for vm in fleet.ask("/vms")["vms"]]


def deciding(machines=300, events=10, count=12):
    """So many ticks of a run without Ansible: what its decisions alone cost, from when it is shown so many events at once."""
    runs = importlib.import_module(
        "ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs"
    )
    ticked, spent = runs.run_record.ticked, []

    def timed(*args, **more):
        began = time.process_time()
        record = ticked(*args, **more)
        spent.append(time.process_time() - began)
        return record

    runs.run_record.ticked = timed
    run = runs.Run(*[runs.Machine(f"web{number}", scope=f"scope{number % events}") for number in range(machines)])
    run.tick(2)
    for number in range(events):
        of_scope = range(number, machines, events)
        shown = runs.event(f"E{number}", [f"vm{one}" for one in of_scope], not_before=run.at + 900)
        run.show(shown, to=[f"web{one}" for one in of_scope])
    run.tick(count)
    print(f"{count} decisions, {machines} machines, {events} events: {sum(spent[-count:]):.2f} CPU s")


def older(folder):
    """A folder with version 0.1.0; None where there is no history."""
    archive = Path(folder, "older.tar")
    command = ["git", "-C", str(COLLECTION), "archive", "--output", str(archive), OLDER]
    if subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode:
        print(f"(version 0.1.0 is left out: commit {OLDER} is not here)")
        return None
    with tarfile.open(archive) as files:
        files.extractall(Path(folder, "older", INSIDE), filter="data")
    return Path(folder, "older")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    cases = ["busy", "approval", "many", "idle"]
    parser.add_argument("--only", choices=[*cases, "deciding", "unproven"], action="append")
    parser.add_argument("--ticks", type=int, default=2000, help="how many are many (default %(default)s)")
    parser.add_argument("--hosts", type=int, default=300, help="of a scope that nothing proves (default %(default)s)")
    parser.add_argument("--seconds", type=float, default=180, help="how long each wait lasts (default %(default)s)")
    arguments = parser.parse_args()
    chosen = arguments.only or cases
    with tempfile.TemporaryDirectory() as folder:
        before = older(folder) if {"approval", "idle"}.intersection(chosen) else None
        if "busy" in chosen:
            with tempfile.TemporaryDirectory() as own:
                busy(own)
        for name, root in (("this version", None), ("0.1.0", before)):
            if "approval" in chosen and (root or name != "0.1.0"):
                with tempfile.TemporaryDirectory() as own:
                    approval(own, root, name)
        if "many" in chosen:
            with tempfile.TemporaryDirectory() as own:
                many(own, arguments.ticks)
        if "deciding" in chosen:
            deciding()
        for scopes in (1, 20):
            if "idle" in chosen:
                with tempfile.TemporaryDirectory() as own:
                    idle(own, before, scopes, arguments.seconds)
    if "unproven" in chosen:
        with tempfile.TemporaryDirectory() as own:
            unproven(own, arguments.hosts, max(arguments.seconds, 320))


if __name__ == "__main__":
    main()
