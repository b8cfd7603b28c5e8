# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/lanes/run.py makes of a lane: how long it may run, and what it says of it."""

from __future__ import annotations

import functools
import pathlib
import signal
import subprocess
import sys
import time

import pytest

LANES = pathlib.Path(__file__).resolve().parents[1] / "lanes"


@pytest.fixture
def runner(monkeypatch):
    monkeypatch.syspath_prepend(str(LANES))
    monkeypatch.delitem(sys.modules, "run", raising=False)
    import run

    monkeypatch.setattr(run.os, "getloadavg", lambda: (0.5, 0.5, 0.5))
    yield run
    del sys.modules["run"]


class Time:
    """A minute goes by whenever the runner waits, and something happens in it."""

    def __init__(self, *happenings):
        self.now, self.happenings = 0.0, list(happenings)

    def monotonic(self):
        return self.now

    def sleep(self, _seconds):
        self.now += 60
        if self.happenings:
            self.happenings.pop(0)()


@pytest.fixture
def lane(tmp_path):
    """A process that notes its end when it is interrupted, and has started another one."""
    script = f"trap 'echo tidied; exit' INT; sleep 600 & echo $! >{tmp_path}/other; echo begun; read -r line; exit 3"
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            ["bash", "-c", script],
            stdin=subprocess.PIPE,
            stdout=output,
            start_new_session=True,
            text=True,
            # what a shell begins in the background ignores it, and so does all below
            preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
        )
    process.log = log
    until(log.read_text)
    yield process
    process.stdin.close()
    other = int((tmp_path / "other").read_text())
    assert until(lambda: is_gone(other)), "what a lane has started ends with it"


def let_end(process):
    process.stdin.write("\n")
    process.stdin.flush()
    assert until(lambda: is_gone(process.pid))


def is_gone(pid):
    """Whether it has ended, though it may not have been waited for."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def until(holds):
    for _each in range(6000):
        if holds():
            return True
        time.sleep(0.01)
    return False


def test_a_lane_in_which_no_test_ends_is_ended(runner, monkeypatch, lane):
    clock = Time(*[lambda: None] * 11, functools.partial(until, lambda: is_gone(lane.pid)))
    monkeypatch.setattr(runner, "time", clock)
    status, _cpu = runner.wait(lane, lane.log)
    assert status is None and lane.log.read_text() == "begun\ntidied\n"
    assert clock.now == 12 * 60, "ten minutes of silence, and then one until it had ended"


def test_on_a_crowded_machine_it_is_waited_for_longer(runner, monkeypatch, lane):
    monkeypatch.setattr(runner.os, "getloadavg", lambda: (8.0, 3.0, 3.0))
    monkeypatch.setattr(runner.os, "cpu_count", lambda: 2)
    clock = Time(*[lambda: None] * 21, functools.partial(until, lambda: is_gone(lane.pid)))
    monkeypatch.setattr(runner, "time", clock)
    status, _cpu = runner.wait(lane, lane.log)
    assert status is None and clock.now == 22 * 60, "four processes want each core: twenty minutes"


def test_one_that_goes_on_may_take_its_time(runner, monkeypatch, lane):
    def a_test_ends():
        with lane.log.open("a") as log:
            log.write(".")

    silence = [lambda: None] * 4
    clock = Time(*[a_test_ends, *silence] * 12, lambda: let_end(lane))
    monkeypatch.setattr(runner, "time", clock)
    status, _cpu = runner.wait(lane, lane.log)
    assert (status, clock.now) == (3, 61 * 60)


def test_the_cores_that_it_took_are_counted(runner):
    busy = "import time\nwhile time.process_time() < 0.5: pass"
    process = subprocess.Popen([sys.executable, "-c", busy], start_new_session=True)
    assert runner.wait(process, pathlib.Path(__file__))[1] >= 0.5


def test_its_slowest_tests_are_found(runner):
    log = """
= slowest 10 durations =
12.50s call     tests/fleet/test_reboot.py::test_one
3.00s setup    tests/fleet/test_reboot.py::test_one
41.00s call     integration/maintain test_events.yml
took 9.99s call of nobody
= 1 passed in 15.00s =
"""
    result = runner.judge(runner.Lane("fleet"), 0, 20.0, 3.0, log)
    assert result.slow == [
        (12.5, "tests/fleet/test_reboot.py::test_one"),
        (3.0, "tests/fleet/test_reboot.py::test_one"),
        (41.0, "integration/maintain test_events.yml"),
    ]


def test_the_slowest_are_listed_at_the_end(runner, capsys):
    results = [
        runner.Result(runner.Lane("quick"), "passed", 1.0, 1.0, "", [], {}, [(0.5, "a"), (0.25, "b")]),
        runner.Result(
            runner.Lane("slow"), "passed", 60.0, 5.0, "", [], {}, [(float(n), str(n)) for n in range(50, 60)]
        ),
    ]
    runner.show_slowest(results)
    lines = capsys.readouterr().out.split("\n")
    assert lines[1:4] == ["The slowest lanes:", "     60 s  slow", "      1 s  quick"]
    assert lines[4:7] == ["The slowest tests:", "     59 s  slow: 59", "     58 s  slow: 58"]
    assert len(lines) == 16 and "quick:" not in "".join(lines)


def test_what_failed_is_listed_last_in_a_few_lines(runner, capsys):
    failed = [f"FAILED tests/test_{number}.py::test" for number in range(8)]
    results = [
        runner.Result(runner.Lane("good"), "passed", 1.0, 1.0, "", ["SKIPPED [1] x"], {}),
        runner.Result(runner.Lane("bad"), "failed", 1.0, 1.0, "exit status 1", ["SKIPPED [1] y", *failed], {}),
    ]
    runner.show_failed(results)
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["What failed:", "  bad: exit status 1", *("    " + one for one in failed[:5]), "    and 3 more"]


def test_of_a_lane_without_pytest_the_end_says_what_ended_it(runner):
    wanted = 'fatal: [web9]: FAILED! => {"msg": "a failure that the test wanted"}'
    log = [*["works: status", wanted] * 9, "PLAY RECAP ****", "NOT SAID: recovered  web1 in", "FATAL: Command failed."]
    result = runner.judge(runner.Lane("integration-2.16"), 1, 20.0, 3.0, "\n".join(log))
    assert result.notes == [wanted, wanted, wanted, "NOT SAID: recovered  web1 in", "FATAL: Command failed."]
    assert result.counts == {"failed": 1}
