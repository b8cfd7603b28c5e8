# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run lanes of tests and say how they ended.

    python3 tests/lanes/run.py [LANE ...]      names or patterns such as 'unit*'; without any, every lane
    python3 tests/lanes/run.py --list

Each lane is a script in this folder, with an argument or none; its output goes to build/logs/LANE.log. A script that
ends with status 77 was skipped, and the last line of its output says why and how to get it. MAY_SKIP, when set, holds
the patterns of the lanes that may be skipped; any other that is skipped has failed. JOBS (2) lanes run at a time, those
that need the machine for themselves run after them, one by one. The last line printed is `N passed, N failed, N
skipped`: tests where a lane runs pytest, else the lane counts as one.
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

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
LOGS = HERE.parent.parent / "build" / "logs"
running: set[subprocess.Popen] = set()


class Lane(NamedTuple):
    name: str
    command: list[str]
    alone: bool = False
    minutes: int = 15


class Result(NamedTuple):
    lane: Lane
    outcome: str  # passed, failed or skipped
    seconds: float
    reason: str
    notes: list[str]
    counts: dict[str, int]


LANES = [
    Lane("integration-2.16", ["integration", "2.16"], alone=True, minutes=25),
    Lane("integration-2.21", ["integration", "2.21"], alone=True, minutes=25),
    Lane("sanity-2.16", ["sanity", "2.16"]),
    Lane("sanity-2.21", ["sanity", "2.21"]),
    Lane("unit-core-2.21", ["unit-core", "2.21"]),
    Lane("unit-core-2.19", ["unit-core", "2.19"]),
    Lane("unit-core-2.16", ["unit-core", "2.16"]),
    *(Lane("unit-3.%d" % minor, ["unit", "3.%d" % minor]) for minor in range(6, 14)),
    Lane("lint", ["lint"]),
    Lane("docs", ["docs"]),
    Lane("importer", ["importer"]),
    Lane("install-2.16", ["install", "2.16"]),
    Lane("install-2.21", ["install", "2.21"]),
    Lane("windows-2.19", ["windows", "2.19"], alone=True),
    Lane("windows-2.21", ["windows", "2.21"], alone=True),
    Lane("fleet", ["fleet"], alone=True, minutes=35),
]


def run(lane: Lane) -> Result:
    log = LOGS / (lane.name + ".log")
    started = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(
            ["bash", str(HERE / lane.command[0])] + lane.command[1:],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        running.add(process)
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


def run_all(lanes: list[Lane], at_a_time: int) -> list[Result]:
    results = []
    pool = concurrent.futures.ThreadPoolExecutor(at_a_time)
    futures = [pool.submit(run, lane) for lane in lanes]
    try:
        for future in concurrent.futures.as_completed(futures):
            results.append(future.result())
            show(results[-1])
    finally:  # when the user interrupts, nothing may stay behind
        for future in futures:
            future.cancel()
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
    reason = "did not end within %d minutes" % lane.minutes if status is None else "exit status %d" % status
    counts["failed"] = counts.get("failed", 0) or 1
    return Result(lane, "failed", seconds, f"{reason}, see build/logs/{lane.name}.log", notes, counts)


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
    tests = ", ".join("%d %s" % (number, word) for word, number in result.counts.items())
    columns = (result.outcome, result.lane.name, result.seconds, result.reason or tests)
    print("%-8s %-18s %5.0f s  %s" % columns, flush=True)


def main(patterns: list[str]) -> int:
    if patterns == ["--list"]:
        print("\n".join(lane.name for lane in LANES))
        return 0
    unknown = [pattern for pattern in patterns if not fnmatch.filter([lane.name for lane in LANES], pattern)]
    if unknown:
        print(f"No such lane: {' '.join(unknown)}. There are: {' '.join(lane.name for lane in LANES)}")
        return 2
    lanes = [lane for lane in LANES if not patterns or any(fnmatch.fnmatch(lane.name, p) for p in patterns)]
    LOGS.mkdir(parents=True, exist_ok=True)

    results = run_all([lane for lane in lanes if not lane.alone], int(os.environ.get("JOBS", "2")))
    results += run_all([lane for lane in lanes if lane.alone], 1)

    for result in results:
        if result.outcome == "failed":
            print(f"\n===== {result.lane.name} failed: the end of build/logs/{result.lane.name}.log")
            log = (LOGS / (result.lane.name + ".log")).read_text(errors="replace")
            print("\n".join(line[:400] for line in log.splitlines()[-60:]))

    print("\n===== Summary")
    results.sort(key=lambda result: lanes.index(result.lane))
    for result in results:
        show(result)
        for note in dict.fromkeys(result.notes):
            print("         " + note)
    total = {word: sum(result.counts.get(word, 0) for result in results) for word in ("passed", "failed", "skipped")}
    print("\n%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % total)
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
