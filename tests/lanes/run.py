# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run lanes of tests side by side and say how they ended.

    python3 tests/lanes/run.py [LANE ...]      names or patterns such as 'unit*'; without any, every lane of `make test`
    python3 tests/lanes/run.py --list

Each lane is a script in this folder, with an argument or none; its output goes to build/logs/LANE.log. A script that
ends with status 77 was skipped, and the last line of its output says why and how to get it. MAY_SKIP, when set, holds
the patterns of the lanes that may be skipped; any other that is skipped has failed. Lanes run side by side that keep as
many cores busy as there are (JOBS), in the order of the table below. A lane has no time limit, as nobody knows what else
its machine does: it is ended when its log has not grown for ten minutes, since each prints a line, or a dot, as soon as
one of its tests ends. In CI what Ansible and the lanes' tools would keep in the user's home is looked at before and after:
no lane may write there. At the end stand the slowest lanes and tests, what failed, and a last line `N passed, N failed, N skipped`:
tests where a lane runs pytest, else the lane counts as one.
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
NO_PROGRESS = 600.0  # seconds in which no test of a lane ends: it hangs (ansible-lint is one, and takes five minutes beside others)
CROWDED = 2  # processes that want a core, beyond which a lane gets too little of it to be judged by these seconds
GIVES_WAY = "6"  # as `nice` counts; at 10 they would get nothing beside other work
FEW = 5  # failed tests of a lane that the end names
# What a script of the integration targets, and ansible-test and Ansible, say of what ended them; other failures in a log were wanted
ENDED_BY = re.compile(
    r"(NOT SAID: |NOT REFUSED: |FAILED: |more than |\S+ approvals, not |fatal: \[|ERROR! |FATAL: |ERROR: |[<>] )"
)
HERE = pathlib.Path(__file__).resolve().parent
LOGS = HERE.parent.parent / "build" / "logs"
DURATION = re.compile(r"^ *(\d+\.\d+)s (?:call|setup|teardown) +(\S.*)")  # as pytest --durations lists the slowest
running: set[subprocess.Popen] = set()


class Lane(NamedTuple):
    name: str
    cores: float = 0.6  # how many it keeps busy beside others
    long: bool = False  # when it ends decides when all end: the others give way
    by_name_only: bool = False

    def command(self) -> list[str]:
        """The script and its argument: unit-core-2.16 is `unit-core 2.16`."""
        script, argument = re.fullmatch(r"(.+?)(?:-(\d+\.\d+))?", self.name).groups()
        return ["bash", str(HERE / script)] + ([argument] if argument else [])


class Result(NamedTuple):
    lane: Lane
    outcome: str  # passed, failed or skipped
    seconds: float
    cpu: float  # seconds of one core, its processes' all together
    reason: str
    notes: list[str]
    counts: dict[str, int]
    slow: list[tuple[float, str]] = []  # tests: seconds, and which


# The longest first. Those that go by the clock wait most of their time: on two cores all of them go, and another lane beside them.
LANES = [
    Lane("fleet", cores=0.35, long=True),
    Lane("fleet-others", cores=0.2, long=True),
    Lane("integration-2.21", cores=0.4, long=True),
    Lane("integration-2.16", cores=0.4, long=True),
    Lane("processes", cores=0.04, long=True),
    Lane("eda"),
    Lane("wine", cores=0.3),
    Lane("unit-core-2.21"),
    Lane("simulation"),
    Lane("sanity-2.16", by_name_only=True),
    Lane("sanity-2.21"),
    Lane("sanity-tests-2.21", by_name_only=True),
    Lane("lint"),
    Lane("ansible-lint"),
    Lane("docs"),
    Lane("importer"),
    Lane("awx", cores=0.5),
    Lane("plays-2.21", cores=0.3),
    Lane("plays-2.16", cores=0.3),
    Lane("plays-2.19", cores=0.3, by_name_only=True),
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
    Lane("windows-2.19", cores=0.45, by_name_only=True),
    Lane("windows-2.21", cores=0.45),
]


def run(lane: Lane, gives_way: bool) -> Result:
    log = LOGS / (lane.name + ".log")
    started = time.monotonic()
    with log.open("w") as output:
        process = subprocess.Popen(
            ["nice", "-n", GIVES_WAY, *lane.command()] if gives_way else lane.command(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    running.add(process)
    if gives_way:  # where the kernel weighs sessions against each other, nice alone has no effect
        with contextlib.suppress(OSError):
            pathlib.Path(f"/proc/{process.pid}/autogroup").write_text(GIVES_WAY)
    status, cpu = wait(process, log)
    running.discard(process)
    return judge(lane, status, time.monotonic() - started, cpu, log.read_text(errors="replace"))


def wait(process: subprocess.Popen, log: pathlib.Path) -> tuple[int | None, float]:
    """Its exit status, None when it hung and was ended, and the seconds of a core that it took."""
    size, since = 0, time.monotonic()
    to_come = [(0, signal.SIGINT), (60, signal.SIGKILL)]
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            end(process, signal.SIGKILL)  # what it has left behind
            return None if len(to_come) < 2 else process.returncode, usage.ru_utime + usage.ru_stime
        if log.stat().st_size != size and len(to_come) == 2:
            size, since = log.stat().st_size, time.monotonic()
        if to_come and time.monotonic() - since > patience() + to_come[0][0]:
            end(process, to_come.pop(0)[1])
        time.sleep(0.5)


def patience() -> float:
    """Seconds after which a silent lane hangs: at a load of 11 on two cores pylint and ansible-lint needed more than 300 for a line."""
    return NO_PROGRESS * max(1, os.getloadavg()[0] / (os.cpu_count() or 1) / CROWDED)


def end(process: subprocess.Popen, how: signal.Signals) -> None:
    """End a lane and all it started; SIGINT lets the fleet take its machines and mounts down."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)


def run_all(lanes: list[Lane], cores: float) -> list[Result]:
    """Every lane, each as soon as the cores that it keeps busy are free; the first that is left always fits alone."""
    waiting, results = list(lanes), []
    pool = concurrent.futures.ThreadPoolExecutor(len(lanes))
    with_long_ones = any(lane.long for lane in lanes)
    futures: dict[concurrent.futures.Future, Lane] = {}
    try:
        while waiting or futures:
            for lane in list(waiting):
                if not futures or lane.cores + sum(other.cores for other in futures.values()) <= cores:
                    waiting.remove(lane)
                    futures[pool.submit(run, lane, with_long_ones and not lane.long)] = lane
            done, _others = concurrent.futures.wait(futures, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                del futures[future]
                results.append(future.result())
                show(results[-1])
    finally:  # when the user interrupts, nothing may stay behind
        for how in (signal.SIGINT, signal.SIGKILL):
            for process in list(running):
                end(process, how)
            concurrent.futures.wait(futures, timeout=60)
        pool.shutdown()
    return results


def judge(lane: Lane, status: int | None, seconds: float, cpu: float, output: str) -> Result:
    lines = output.splitlines()
    notes = [line[len("NOTE: ") :] for line in lines if line.startswith("NOTE: ")]
    notes += [line[:200] for line in lines if line.startswith("SKIPPED [")]  # pytest -rfEs
    failed = [line[:200] for line in lines if line.startswith(("FAILED tests/", "ERROR tests/"))]
    counts = count_tests(lines)
    slow = [(float(took), what) for line in lines for took, what in DURATION.findall(line)]

    def result(outcome: str, reason: str, counts: dict[str, int]) -> Result:
        return Result(lane, outcome, seconds, cpu, reason, notes, counts, slow)

    if status == SKIPPED:
        reason = lines[-1].replace("SKIP: ", "", 1) if lines else "gave no reason"
        may_skip = os.environ.get("MAY_SKIP", "*").split()
        if any(fnmatch.fnmatch(lane.name, pattern) for pattern in may_skip):
            return result("skipped", reason, {"skipped": 1})
        return result("failed", "skipped, which MAY_SKIP does not allow: " + reason, {"failed": 1})
    if status == 0:
        return result("passed", "", counts or {"passed": 1})
    reason = f"no test ended for {NO_PROGRESS:.0f} s or more" if status is None else f"exit status {status}"
    counts["failed"] = counts.get("failed", 0) or 1
    notes += failed or [line[:300] for line in lines if ENDED_BY.match(line)][-FEW:]
    return result("failed", f"{reason}, see build/logs/{lane.name}.log", counts)


def look_at_home(lane: Lane, before: dict[str, tuple[int, int]]) -> Result:
    written = home.changes(before)
    (LOGS / (lane.name + ".log")).write_text("".join(path + "\n" for path in written))
    if written:
        reason = f"{len(written)} files that Ansible and the lanes' tools keep in the user's home were changed"
        return Result(lane, "failed", 0, 0, reason, written[:20], {"failed": 1})
    return Result(lane, "passed", 0, 0, "", [], {"passed": 1})


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
    took = f"{result.seconds:5.0f} s {result.cpu:5.0f} s of a core"
    print(f"{result.outcome:8} {result.lane.name:18} {took}  {result.reason or tests}", flush=True)


def show_slowest(results: list[Result]) -> None:
    print("\nThe slowest lanes:")
    for result in sorted(results, key=lambda result: -result.seconds)[:10]:
        print(f"{result.seconds:7.0f} s  {result.lane.name}")
    tests = sorted(((took, result.lane.name, what) for result in results for took, what in result.slow), reverse=True)
    if tests:
        print("The slowest tests:")
    for took, lane, what in tests[:10]:
        print(f"{took:7.0f} s  {lane}: {what}")


def show_failed(results: list[Result]) -> None:
    """What failed, in so few lines that whoever sees only the end of a log sees it."""
    failed = [result for result in results if result.outcome == "failed"]
    if failed:
        print("What failed:")
    for result in failed:
        print(f"  {result.lane.name}: {result.reason}")
        tests = [note for note in result.notes if not note.startswith("SKIPPED ")]
        for note in tests[:FEW]:
            print(f"    {note[:300]}")
        if len(tests) > FEW:
            print(f"    and {len(tests) - FEW} more")


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
    if os.environ.get("CI"):
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
    show_slowest(results)
    show_failed(results)
    total = {word: sum(result.counts.get(word, 0) for result in results) for word in ("passed", "failed", "skipped")}
    print(f"\n{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] else 0


if __name__ == "__main__":
    for ending in (signal.SIGINT, signal.SIGTERM):  # below nohup the first is ignored
        signal.signal(ending, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
