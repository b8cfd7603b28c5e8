# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one look of every host costs: a scheduled_events_info task beside a uri task, 20 hosts, in one run.

python tests/bench/one_task.py [--rounds 5]
"""

import argparse
import statistics
import tempfile

from local_fleet import HERE, Fleet


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="pairs of runs (default %(default)s)")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder, Fleet(folder, 20, 20) as fleet:
        plays = {name: str(HERE / f"{name}_task.yml") for name in ("info", "uri")}
        for play in plays.values():  # warm caches
            fleet.play(play)
        pairs = [{name: fleet.play(play) for name, play in plays.items()} for pair in range(rounds)]
    for name in plays:
        cpu, wall = ([pair[name][figure] for pair in pairs] for figure in (0, 1))
        print(
            f"{name + ' task, 20 hosts':<24} median {statistics.median(cpu):6.2f} CPU s, "
            f"{statistics.median(wall):6.2f} s"
        )
    for figure, word in enumerate(("CPU seconds", "wall time")):
        ratios = [pair["info"][figure] / pair["uri"][figure] for pair in pairs]
        print(
            f"info beside uri, {word}: median of {rounds} pairs {statistics.median(ratios):.2f} (from "
            f"{min(ratios):.2f} to {max(ratios):.2f})"
        )


if __name__ == "__main__":
    main()
