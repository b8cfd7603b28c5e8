# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What it costs that a run of role maintain says how it begins, and what callbacks make of its tasks: whole runs that only look.

    python tests/bench/says.py [--times 5]

All hosts are local connections, with a step of their own each.
"""

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from local_fleet import HERE, Fleet

COLLECTION = HERE.parents[1]
INSIDE = "ansible_collections/cloudops/azure_maintenance"
HOSTS = 40
PLAYBOOK = "cloudops.azure_maintenance.maintain"
NO_TICKS = {"ANSIBLE_STDOUT_CALLBACK": "cloudops.azure_maintenance.no_ticks"}
READY = " + [{'do': 'ready', 'always': ansible_check_mode}]"


def without(folder):
    """This collection, of which a run does not look at what it will need, and says nothing of it."""
    shutil.copytree(COLLECTION, folder / INSIDE, ignore=shutil.ignore_patterns(".*", "build", "tests", "docs"))
    tasks = folder / INSIDE / "roles/maintain/tasks"
    whole = (tasks / "preflight.yml").read_text()
    asks, _rest = whole.split("# Each of them once")
    assert READY in asks
    (tasks / "preflight.yml").write_text(asks.replace(READY, ""))
    finish = (tasks / "finish.yml").read_text()
    assert "__maintain_preflight.findings" in finish
    (tasks / "finish.yml").write_text(finish.replace("__maintain_preflight.findings", "[]"))
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=5, help="how often each is run (default %(default)s)")
    times = parser.parse_args().times
    with tempfile.TemporaryDirectory() as name, Fleet(name, HOSTS, 4) as fleet:
        folder = Path(name)
        variables = {
            "azure_maintenance_folder": f"{folder}/marks/{{{{ inventory_hostname }}}}",
            "maintain_become": False,
            "maintain_wait_timeout": 0,
            "drain_steps": [{"type": "command", "do": "true"}],
        }
        kinds = {
            "as it is, callback default": (None, {}),
            "without the preflight, callback default": (without(folder / "without"), {}),
            "as it is, callback no_ticks": (None, NO_TICKS),
        }
        costs = {kind: [] for kind in kinds}
        for _time in range(times):
            for kind, (root, settings) in kinds.items():  # in turn, as the machine's speed changes
                costs[kind].append(fleet.play(PLAYBOOK, root=root, settings=settings, forks=HOSTS, **variables)[:2])
    print(f"a run that looks once and ends, {HOSTS} hosts with a step each, {times} times:")
    for kind, found in costs.items():
        cpu, wall = (statistics.median(values) for values in zip(*found, strict=True))
        print(f"  {kind}: {cpu:.1f} CPU s, {wall:.1f} s")


if __name__ == "__main__":
    main()
