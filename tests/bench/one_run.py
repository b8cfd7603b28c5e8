# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run of role maintain costs from its start to an approval: CPU seconds, seconds from shown to approved, lines, memory.

    python tests/bench/one_run.py [--hosts 40] [--affected 10] [--drain 3] [--events 5] [--waits 60] [--root FOLDER]

All hosts are local connections, so the CPU seconds are those of controller and machines together. With --root it measures the collection in
that folder, such as an earlier commit, by the same means.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from local_fleet import Fleet
from long_run import LongRun


def variables(folder, drain, **more):
    """Of a run whose machines are all this one: marks in folders of their own, no root."""
    return {
        "azure_maintenance_folder": f"{folder}/marks/{{{{ inventory_hostname }}}}",
        "maintain_max_unavailable": "100%",
        "maintain_wait_timeout": 86400,
        "maintain_rounds": 0,
        "drain_steps": [{"type": "command", "do": f"sleep {drain:g}", "timeout": 300}],
        **more,
    }


def marked(folder):
    """How many marks there are."""
    return len(list(Path(folder, "marks").glob("*/mark.json")))


def approval(fleet, run, affected, drain):
    """(seconds from shown to approved less the drain, CPU seconds meanwhile) of one event of so many machines, until it is over."""
    before = run.cpu()
    event = {"type": "Reboot", "resources": [f"vm{one}" for one in range(affected)], "notice": 3600, "tail": 2}
    event = fleet.ask("/events", event)["id"]
    run.until(lambda: fleet.ask(f"/events/{event}")["approved"], 900)
    cost = run.cpu() - before
    walls = {one["kind"]: one["wall"] for one in fleet.ask("/journal")["entries"] if one.get("event_id") == event}
    run.until(lambda: not marked(fleet.folder), 300)
    time.sleep(8)  # until nothing is under way
    return walls["approved"] - walls["scheduled"] - drain, cost


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, default=40)
    parser.add_argument("--affected", type=int, default=10, help="machines of each event (default %(default)s)")
    parser.add_argument("--drain", type=float, default=3.0, help="seconds (default %(default)s)")
    parser.add_argument("--events", type=int, default=5, help="one after the other (default %(default)s)")
    parser.add_argument(
        "--waits", type=float, default=60.0, help="seconds of waiting that are measured (default %(default)s)"
    )
    parser.add_argument("--root", help="a folder with ansible_collections, instead of this one")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Fleet(folder, given.hosts, 1, proven=True) as fleet:
        run = LongRun(fleet, given.root, forks=given.hosts, **variables(folder, given.drain))
        run.until(lambda: run.waits, 600)
        print(
            f"from the start to 'waits': {run.cpu():.1f} CPU s, {run.seconds:.1f} s; {run.lines} lines, {run.banners} banners"
        )
        before, began = run.cpu(), time.monotonic()
        time.sleep(given.waits)
        cost = (run.cpu() - before) * 60 / (time.monotonic() - began)
        print(f"waiting: {cost:.1f} CPU s a minute; {run.megabytes():.0f} MB (PSS) of all its processes")
        lines = run.lines
        took = [approval(fleet, run, given.affected, given.drain) for _event in range(given.events)]
        seconds, costs = zip(*took, strict=True)
        print(
            f"shown to approved less the drain, {given.affected} of {given.hosts}: median {statistics.median(seconds):.2f} s "
            f"({min(seconds):.2f} to {max(seconds):.2f}); {statistics.median(costs):.1f} CPU s until approved"
        )
        print(f"an event: {(run.lines - lines) / given.events:.0f} lines; {run.megabytes():.0f} MB (PSS)")
        run.end()


if __name__ == "__main__":
    main()
