# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What waiting costs: role maintain beside uri with until, in one run, on this machine alone.

    python tests/bench/waiting.py [--seconds 180] [--only CASE]

All hosts are local connections, so that the CPU seconds of a run are those of controller and targets together (the
operating system's account of ansible-playbook and all its descendants). What a run costs before it waits, and its first
look, is measured by a run of its own and subtracted. The emulator counts looks.
"""

import argparse
import tempfile

from local_fleet import HERE, Fleet

MAINTAIN = "cloudops.azure_maintenance.maintain"
NAIVE = str(HERE / "naive_wait.yml")
FIRST = 20  # seconds that the run waits which is subtracted


def naive(fleet, seconds):
    """Waiting with uri and until. Its own pace is what it is: the retries are chosen to last about as long."""
    retries = max(int(seconds / 4), 3)
    first = fleet.play(NAIVE, bench_retries=1)
    return _difference(fleet.play(NAIVE, bench_retries=retries), first)


def ours(fleet, seconds):
    """Waiting with role maintain, as users run it."""
    first = fleet.play(MAINTAIN, maintain_wait_timeout=FIRST)
    return _difference(fleet.play(MAINTAIN, maintain_wait_timeout=FIRST + seconds), first)


def _difference(long, short):
    return {"cpu": long[0] - short[0], "wall": long[1] - short[1], "looks": long[2] - short[2]}


def _show(name, hosts, figures):
    per_look = figures["cpu"] / figures["looks"]
    per_second = figures["cpu"] / figures["wall"]
    print(
        f"{name:<44} {figures['cpu']:8.2f} CPU s  {figures['wall']:7.1f} s  {figures['looks']:6d} looks  "
        f"{per_look * 1000:8.2f} ms/look  {per_second:7.4f} CPU s a second of waiting for {hosts} hosts",
        flush=True,
    )
    return per_look, per_second, figures["cpu"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=180, help="how long each wait lasts (default %(default)s)")
    parser.add_argument("--only", choices=["naive", "one_scope", "scopes", "growth"], action="append")
    arguments = parser.parse_args()
    cases = arguments.only or ["naive", "one_scope", "scopes", "growth"]
    seconds, results = arguments.seconds, {}
    with tempfile.TemporaryDirectory() as folder:
        if "naive" in cases:
            with Fleet(folder, 20, 1) as fleet:
                results["naive"] = _show("uri + until, 20 hosts", 20, naive(fleet, seconds))
        if "one_scope" in cases:
            with Fleet(folder, 20, 1) as fleet:
                figures = ours(fleet, seconds)
                results["one_scope"] = _show("maintain, 20 hosts in 1 scope", 20, figures)
                # One look of the sentinel is a look at every machine of its scope.
                results["one_scope_hosts"] = (figures["cpu"] / (figures["looks"] * 20), 0)
        if "scopes" in cases:
            with Fleet(folder, 20, 20) as fleet:
                results["scopes"] = _show("maintain, 20 hosts in 20 scopes", 20, ours(fleet, seconds))
        if "growth" in cases:
            with Fleet(folder, 200, 20) as fleet:
                results["growth"] = _show("maintain, 200 hosts in 20 scopes", 200, ours(fleet, seconds))
    print()
    if "naive" in results and "one_scope" in results:
        naive_second = results["naive"][1]
        print(
            "one scope of 20 hosts: per host that is looked at "
            f"1/{results['naive'][0] / results['one_scope_hosts'][0]:.0f} of uri + until; "
            f"per request 1/{results['naive'][0] / results['one_scope'][0]:.0f}; for the same time of waiting "
            f"1/{naive_second / results['one_scope'][1]:.0f}"
        )
    if "naive" in results and "scopes" in results:
        print(f"20 scopes of one host: per look 1/{results['naive'][0] / results['scopes'][0]:.0f} of uri + until")
    if "growth" in results and "scopes" in results:
        print(
            "200 hosts in 20 scopes beside 20 hosts in 20 scopes: waiting costs "
            f"{results['growth'][2] / results['scopes'][2]:.2f} times as much"
        )


if __name__ == "__main__":
    main()
