# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From a report to the first task of maintain, and many reports at once, with a real ansible-rulebook.

    tests/lanes/eda bench [--times 10] [--many 50]

All hosts are local connections, a group each; there are no events, so that a run looks once and ends.
"""

import argparse
import concurrent.futures
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "eda"))

from reports import Sender, report  # isort: skip
from rulebook import SECRET, Rulebook  # isort: skip

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

WHOLE = 3600  # seconds after which something has gone wrong


def write_inventory(folder, names, metadata):
    folder.mkdir()
    everyone = {
        "ansible_connection": "local",
        "ansible_python_interpreter": "{{ ansible_playbook_python }}",
        "azure_maintenance_endpoint": metadata + "/vm/{{ inventory_hostname }}",
        "azure_maintenance_folder": str(folder.parent / "marks") + "/{{ inventory_hostname }}",
        "drain_steps": [{"type": "command", "do": "true"}],
    }
    groups = {f"of_{name}": {"hosts": {name: {}}, "vars": {"azure_maintenance_scope": f"of_{name}"}} for name in names}
    (folder / "hosts.json").write_text(json.dumps({"all": {"vars": everyone, "children": groups}}), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=10, help="single reports (default %(default)s)")
    parser.add_argument("--many", type=int, default=50, help="reports at once (default %(default)s)")
    options = parser.parse_args()
    names = [f"vm{number}" for number in range(options.times + options.many)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        world = World(folder / "emulator", vms=[f"{one},scope=of_{one}" for one in names])
        write_inventory(folder / "inventory", names, world.running.metadata)
        rulebook = Rulebook(folder / "eda", "maintain_on_report", folder / "inventory", JAVA_TOOL_OPTIONS="")
        sender = Sender(folder, rulebook.url, SECRET)
        began = time.monotonic()
        try:
            rulebook.start()
            print(f"ansible-rulebook listens after {time.monotonic() - began:.1f} s")
            single(rulebook, sender, names[: options.times])
            many(rulebook, sender, names[options.times :])
        finally:
            rulebook.stop()
            world.stop()


def single(rulebook, sender, names):
    """One after the other, each when the run before has ended."""
    took = []
    for name in names:
        sent = time.monotonic()
        assert sender.send(report(f"single-{name}", name, f"of_{name}")) == 200
        until(lambda name=name: all(run.ended for run in rulebook.runs(name)) and rulebook.runs(name), WHOLE)
        took.append(rulebook.runs(name)[0].began - sent)
    print(
        f"from the report to the first task: {statistics.median(took):.2f} s, {max(took):.2f} s at most, {len(names)} times"
    )


def many(rulebook, sender, names):
    """All at once, each twice, and each again until it is answered with 200, as watchers do it."""
    reports = [report(f"many-{name}", name, f"of_{name}") for name in names] * 2

    def send(one):
        tries = 1
        while sender.send(one) != 200:
            tries += 1
        return tries, time.monotonic() - sent

    sent = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(reports)) as pool:
        answered = list(pool.map(send, reports))
    until(lambda: sum(bool(run.ended) for name in names for run in rulebook.runs(name)) >= len(names), WHOLE)
    ended = time.monotonic() - sent
    runs = [len(rulebook.runs(name)) for name in names]
    began = [rulebook.runs(name)[0].began - sent for name in names]
    print(
        f"{len(names)} reports at once, each twice: all answered with 200 after {max(at for _tries, at in answered):.1f} s, "
        f"in {sum(tries for tries, _at in answered)} requests; "
        f"{runs.count(1)} machines had one run, {runs.count(0)} none, {len(runs) - runs.count(1) - runs.count(0)} several; "
        f"first tasks after {min(began):.1f} to {max(began):.1f} s, all ended after {ended:.0f} s"
    )


if __name__ == "__main__":
    main()
