# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run lanes of tests side by side and say how they ended.

    python3 tests/lanes/run.py [LANE ...]      names or patterns such as 'unit*'; without any, every lane of `make test`
    python3 tests/lanes/run.py --list

Each lane is a script in this folder, with an argument or none; its output goes to build/logs/LANE.log. A script that
ends with status 77 was skipped, and the last line of its output says why and how to get it. MAY_SKIP, when set, holds
the patterns of the lanes that may be skipped; any other that is skipped has failed. Lanes run side by side that keep as
many cores busy as there are (JOBS), in the order of the table below; those that go by the clock come before others. In CI
the user's home is looked at before and after: no lane may write there. The last line printed is `N passed, N failed,
N skipped`: tests where a lane runs pytest, else the lane counts as one.
"""

import concurrent.futures
import contextlib
import fnmatch
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from typing import NamedTuple

import home

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
LOGS = HERE.parent.parent / "build" / "logs"
running: set[subprocess.Popen] = set()


class Lane(NamedTuple):
    name: str
    cores: float = 0.6  # how many it keeps busy, or gets beside three lanes that go by the clock
    minutes: int = 15  # its limit
    timed: bool = False  # its tests go by the clock
    by_name_only: bool = False

    def command(self) -> list[str]:
        """The script and its argument: unit-core-2.16 is `unit-core 2.16`."""
        script, argument = re.fullmatch(r"(.+?)(?:-(\d+\.\d+))?", self.name).groups()
        return ["bash", str(HERE / script)] + ([argument] if argument else [])


class Result(NamedTuple):
    lane: Lane
    outcome: str  # passed, failed or skipped
    seconds: float
    reason: str
    notes: list[str]
    counts: dict[str, int]


# The longest first. Those that go by the clock wait most of their time: on two cores three of them and another lane.
LANES = [
    Lane("fleet", cores=0.45, minutes=43, timed=True),
    Lane("integration-2.21", cores=0.45, minutes=40, timed=True),
    Lane("integration-2.16", cores=0.45, minutes=40, timed=True),
    Lane("processes", cores=0.04, minutes=25, timed=True),
    Lane("unit-core-2.21", minutes=25),
    Lane("simulation", minutes=25),
    Lane("sanity-2.16", by_name_only=True),
    Lane("sanity-2.21"),
    Lane("lint"),
    Lane("ansible-lint"),
    Lane("docs"),
    Lane("importer"),
    Lane("plays-2.21", cores=0.3, timed=True),
    Lane("plays-2.16", cores=0.3, timed=True),
    Lane("plays-2.19", cores=0.3, timed=True, by_name_only=True),
    Lane("unit-core-2.16"),
    Lane("unit-core-2.19", by_name_only=True),
    Lane("unit-3.6"),
    Lane("unit-3.7", by_name_only=True),
    Lane("unit-3.8", by_name_only=True),
    Lane("unit-3.9", by_name_only=True),
    Lane("unit-3.10", by_name_only=True),
    Lane("unit-3.11", by_name_only=True),
    Lane("unit-3.12", by_name_only=True),
    Lane("unit-3.13", by_name_only=True),
    Lane("install-2.16"),
    Lane("install-2.21"),
    Lane("wine", minutes=11),
    Lane("windows-2.19", cores=0.45, timed=True),
    Lane("windows-2.21", cores=0.45, timed=True),
]


def run(lane: Lane, patient: bool) -> Result:
    log = LOGS / (lane.name + ".log")
    started = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(
            ["nice", *lane.command()] if patient else lane.command(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running.add(process)
        if patient:  # where the kernel weighs sessions against each other, nice alone has no effect
            with contextlib.suppress(OSError):
                pathlib.Path(f"/proc/{process.pid}/autogroup").write_text("10")
        try:
            status = process.wait(lane.minutes * 60)
        except subprocess.TimeoutExpired:
            status = None
            stop(process)
        running.discard(process)
    return judge(lane, status, time.monotonic() - started, log.read_text(errors="replace"))


def stop(process: subprocess.Popen) -> None:
    """End a lane and all it started, first politely: the fleet takes its machines and mounts down."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def run_all(lanes: list[Lane], cores: float) -> list[Result]:
    """Every lane, each as soon as the cores that it keeps busy are free; the first that is left always fits alone."""
    waiting, results = list(lanes), []
    pool = concurrent.futures.ThreadPoolExecutor(len(lanes))
    by_the_clock = any(lane.timed for lane in lanes)
    futures: dict[concurrent.futures.Future, Lane] = {}
    try:
        while waiting or futures:
            for lane in list(waiting):
                if not futures or lane.cores + sum(other.cores for other in futures.values()) <= cores:
                    waiting.remove(lane)
                    futures[pool.submit(run, lane, by_the_clock and not lane.timed)] = lane
            done, _others = concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                del futures[future]
                results.append(future.result())
                show(results[-1])
    finally:  # when the user interrupts, nothing may stay behind
        for process in list(running):
            stop(process)
        pool.shutdown()
    return results


def judge(lane: Lane, status: int | None, seconds: float, output: str) -> Result:
    lines = output.splitlines()
    notes = [line[len("NOTE: ") :] for line in lines if line.startswith("NOTE: ")]
    notes += [
        line[:200] for line in lines if line.startswith(("SKIPPED [", "FAILED tests/", "ERROR tests/"))
    ]  # pytest -rfEs
    counts = count_tests(lines)
    if status == SKIPPED:
        reason = lines[-1].replace("SKIP: ", "", 1) if lines else "gave no reason"
        may_skip = os.environ.get("MAY_SKIP", "*").split()
        if any(fnmatch.fnmatch(lane.name, pattern) for pattern in may_skip):
            return Result(lane, "skipped", seconds, reason, notes, {"skipped": 1})
        reason = "skipped, which MAY_SKIP does not allow: " + reason
        return Result(lane, "failed", seconds, reason, notes, {"failed": 1})
    if status == 0:
        return Result(lane, "passed", seconds, "", notes, counts or {"passed": 1})
    reason = f"did not end within {lane.minutes} minutes" if status is None else f"exit status {status}"
    counts["failed"] = counts.get("failed", 0) or 1
    return Result(lane, "failed", seconds, f"{reason}, see build/logs/{lane.name}.log", notes, counts)


def look_at_home(lane: Lane, before: dict[str, tuple[int, int]]) -> Result:
    written = home.changes(before)
    (LOGS / (lane.name + ".log")).write_text("".join(path + "\n" for path in written))
    if written:
        return Result(
            lane, "failed", 0, f"{len(written)} files in the user's home were changed", written[:20], {"failed": 1}
        )
    return Result(lane, "passed", 0, "", [], {"passed": 1})


def count_tests(lines: list[str]) -> dict[str, int]:
    """The sums of pytest's closing lines, such as `== 3 passed, 1 skipped in 0.10s ==`."""
    counts: dict[str, int] = {}
    for line in lines:
        if re.search(r"\b\d+ (passed|failed|skipped|errors?)\b.* in [\d.]+s\b", line):
            for number, word in re.findall(r"(\d+) (passed|failed|skipped|error|xfailed)", line):
                word = {"error": "failed", "xfailed": "skipped"}.get(word, word)
                counts[word] = counts.get(word, 0) + int(number)
    return counts


def show(result: Result) -> None:
    tests = ", ".join(f"{number} {word}" for word, number in result.counts.items())
    print(f"{result.outcome:8} {result.lane.name:18} {result.seconds:5.0f} s  {result.reason or tests}", flush=True)


def main(patterns: list[str]) -> int:
    if patterns == ["--list"]:
        print("\n".join(lane.name for lane in LANES))
        return 0
    unknown = [pattern for pattern in patterns if not fnmatch.filter([lane.name for lane in LANES], pattern)]
    if unknown:
        print(f"No such lane: {' '.join(unknown)}. There are: {' '.join(lane.name for lane in LANES)}")
        return 2
    if patterns:
        lanes = [lane for lane in LANES if any(fnmatch.fnmatch(lane.name, pattern) for pattern in patterns)]
    else:
        lanes = [lane for lane in LANES if not lane.by_name_only]
    LOGS.mkdir(parents=True, exist_ok=True)
    before = home.listing() if os.environ.get("CI") else {}

    started = time.monotonic()
    results = run_all(lanes, float(os.environ.get("JOBS") or os.cpu_count() or 1))
    if before:
        lanes.append(Lane("home"))
        results.append(look_at_home(lanes[-1], before))

    for result in results:
        if result.outcome == "failed":
            print(f"\n===== {result.lane.name} failed: the end of build/logs/{result.lane.name}.log")
            log = (LOGS / (result.lane.name + ".log")).read_text(errors="replace")
            print("\n".join(line[:400] for line in log.splitlines()[-60:]))

    print(f"\n===== Summary, after {time.monotonic() - started:.0f} s")
    results.sort(key=lambda result: lanes.index(result.lane))
    for result in results:
        show(result)
        for note in dict.fromkeys(result.notes):
            print("         " + note)
    total = {word: sum(result.counts.get(word, 0) for result in results) for word in ("passed", "failed", "skipped")}
    print(f"\n{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
