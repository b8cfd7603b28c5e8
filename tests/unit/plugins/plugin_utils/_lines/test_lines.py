# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines as real processes: none holds up another, one that hangs is ended with all it has started, and none outlives its maker."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import time
import types

import pytest
from ansible.utils.display import Display

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines import line as line_module
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines import lines as module
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines.line import RAISED
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines.lines import HUNG, Lines, Orphaned

LIMIT = 60.0  # seconds of a call: none of these takes so long
ENDED = {RAISED: "The process that called it has ended."}


class Caller:
    """In the line's process: a call names what it does, and with what."""

    def __init__(self, folder):
        self.folder, self.made = folder, time.monotonic_ns()

    def call(self, call, limit):
        self.limit = limit
        return getattr(self, call.pop("do"))(**call)

    def close(self):
        (self.folder / "closed").touch()

    def who(self):
        return {"pid": os.getpid(), "made": self.made}

    def fail(self, words):
        raise ValueError(words)

    def give(self, number):
        return {"came": "x" * number}

    def read_on(self):
        """As from a machine whose answer never ends, until half of all memory is full."""
        came = b""
        while len(came) < 2_000_000_000:
            came += b"x" * 10_000_000
            (self.folder / "read").write_text(str(len(came)))

    def leave(self):
        os._exit(3)

    def say(self, words):
        Display().display(words)
        return {}

    def wait_for(self, name):
        until(lambda: (self.folder / name).exists())
        return {"came": name}

    def begin(self, seconds):
        self.limit(seconds)
        self.hang()

    def hang(self):
        """In a program that it starts."""
        program = subprocess.Popen(["sleep", "60"])
        self.note(os.getpid(), program.pid)
        program.wait()

    def start(self):
        """A program that outlasts the call."""
        self.note(os.getpid(), subprocess.Popen(["sleep", "60"]).pid)
        return {}

    def note(self, *pids):
        (self.folder / "new").write_text(" ".join(map(str, pids or [os.getpid()])))
        (self.folder / "new").rename(self.folder / "noted")
        return {}


def until(is_so, seconds=30.0):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def runs(pid):
    """Whether a process is there, and no zombie that nobody has waited for yet."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def noted(folder):
    """The line's process, and the program's that it has started, as soon as they are there."""
    until((folder / "noted").exists)
    return [int(pid) for pid in (folder / "noted").read_text().split()]


def are_gone(pids):
    until(lambda: not any(map(runs, pids)))


def answers(lines, count=1):
    found = []
    until(lambda: found.extend(lines.answers(1.0)) or len(found) >= count)
    return found


def asked(lines, key, **call):
    """What comes of a call that nobody else's comes before."""
    lines.call(key, call, LIMIT, "tag")
    ((tag, answer),) = answers(lines)
    assert tag == "tag"
    return answer


@pytest.fixture
def lines(tmp_path):
    with Lines(lambda *_key: lambda: Caller(tmp_path)) as made:
        yield made


def test_calls_to_a_machine_go_over_one_connection(lines):
    first = asked(lines, "web1", do="who")
    assert asked(lines, "web1", do="who") == first and first["pid"] != os.getpid()
    assert asked(lines, "web2", do="who") != first and lines.opened == 2


def test_lines_answer_in_the_order_in_which_their_calls_end(lines, tmp_path):
    for host in ("web1", "web2", "web3"):
        lines.call(host, {"do": "wait_for", "name": host}, LIMIT, host)
    for host in ("web3", "web2"):  # web1 hangs
        (tmp_path / host).touch()
        assert answers(lines) == [(host, {"came": host})]
    assert lines.busy == 1 and lines.is_busy("web1")


def test_of_many_that_only_look_some_begin_later_and_nobody_waits_for_one_that_hangs(lines, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 2)
    for host in ("web1", "web2", "web3"):
        lines.call(host, {"do": "wait_for", "name": host}, LIMIT, host, may_wait=True)
    lines.call("web4", {"do": "wait_for", "name": "web4"}, LIMIT, "web4")
    (tmp_path / "web3").touch()
    (tmp_path / "web4").touch()
    assert lines.opened == 1, "what is to be done is begun at once"
    assert answers(lines) == [("web4", {"came": "web4"})]
    assert (lines.opened, lines.waiting, lines.busy, lines.is_busy("web3")) == (3, 1, 3, True)
    (tmp_path / "web1").touch()
    assert answers(lines, 2) == [("web1", {"came": "web1"}), ("web3", {"came": "web3"})]
    lines.call("web1", {"do": "wait_for", "name": "web1"}, LIMIT, "web1", may_wait=True)
    lines.call("web3", {"do": "wait_for", "name": "nobody"}, LIMIT, "given up", may_wait=True)
    lines.call("web3", {"do": "who"}, LIMIT, "web3")
    assert {tag for tag, _answer in answers(lines, 2)} == {"web1", "web3"}, "one that waits is given up as well"
    lines.call("web1", {"do": "wait_for", "name": "nobody"}, LIMIT, "web1", may_wait=True)
    monkeypatch.setattr(module, "JUST_BEGUN", 0.2)
    lines.call("web5", {"do": "wait_for", "name": "web3"}, LIMIT, "web5", may_wait=True)
    assert answers(lines) == [("web5", {"came": "web3"})], "web1 and web2 hang"


def test_on_a_slow_controller_calls_that_only_look_begin_a_few_at_a_time_and_late(lines, tmp_path, monkeypatch):
    ahead = [0.0]  # seconds by which the clock goes ahead
    clock = types.SimpleNamespace(monotonic=lambda: time.monotonic() + ahead[0], sleep=time.sleep)
    monkeypatch.setattr(module, "time", clock)
    monkeypatch.setattr(module, "AT_ONCE", 2 * module.TOGETHER)
    hosts = [f"web{number}" for number in range(2 * module.TOGETHER + 1)]
    for host in hosts:
        lines.call(host, {"do": "wait_for", "name": host}, 1000.0, host, may_wait=True)
    for begun in (1, 2):
        assert list(lines.answers(0.0)) == [] and lines.opened == begun * module.TOGETHER
    ahead[0] = 100.0
    (tmp_path / "web0").touch()
    assert answers(lines) == [("web0", {"came": "web0"})]
    lines.call("web0", {"do": "wait_for", "name": "nobody"}, 1000.0, "web0", may_wait=True)
    for seconds, waiting in ((150.0, 1), (250.0, 0)):  # the last one took 100 s, so others may hang after 200 s
        ahead[0] = seconds
        assert list(lines.answers(0.0)) == [] and lines.waiting == waiting


def test_a_call_beyond_its_limit_ends_its_line_and_the_next_one_makes_a_new_one(lines, tmp_path, monkeypatch):
    before = asked(lines, "web1", do="who")
    lines.call("web1", {"do": "hang"}, LIMIT, "hangs")
    pids = noted(tmp_path)
    ahead = [LIMIT]  # seconds by which the clock goes ahead: to make the line may take time as well
    monkeypatch.setattr(
        module, "time", types.SimpleNamespace(monotonic=lambda: time.monotonic() + ahead[0], sleep=time.sleep)
    )
    assert list(lines.answers(0.0)) == [] and all(map(runs, pids))
    ahead[0] += module.GRACE
    assert answers(lines) == [("hangs", {HUNG: LIMIT})]
    are_gone(pids)
    ahead[0] = 0.0
    assert asked(lines, "web1", do="who") != before and (lines.opened, lines.killed) == (2, 1)


def test_what_a_call_begins_has_a_limit_of_its_own(lines, tmp_path, monkeypatch):
    lines.call("web1", {"do": "begin", "seconds": 1.0}, LIMIT, "begins")
    pids = noted(tmp_path)
    assert answers(lines) == [("begins", {HUNG: 1.0})], "not after a minute"
    are_gone(pids)


def test_the_one_after_a_line_that_hung_knows_of_it(tmp_path, monkeypatch):
    hung = []

    def connect(key, is_after_hang):
        hung.append((key, is_after_hang))
        return lambda: Caller(tmp_path)

    with Lines(connect) as lines:
        lines.call("web1", {"do": "begin", "seconds": 0.1}, LIMIT, "begins")
        assert answers(lines) == [("begins", {HUNG: 0.1})]
        assert asked(lines, "web1", do="leave") == ENDED
        assert "pid" in asked(lines, "web1", do="who") and "pid" in asked(lines, "web2", do="who")
    assert hung == [("web1", False), ("web1", True), ("web1", False), ("web2", False)]


def test_a_call_over_a_busy_line_gives_up_the_one_before(lines, tmp_path):
    lines.call("web1", {"do": "hang"}, LIMIT, "given up")
    pids = noted(tmp_path)
    assert asked(lines, "web1", do="who")["pid"] not in pids
    are_gone(pids)
    assert lines.busy == 0


def test_what_a_call_raises_is_its_answer(lines):
    assert asked(lines, "web1", do="fail", words="no such step") == {RAISED: "ValueError: no such step"}
    assert "pid" in asked(lines, "web1", do="who") and lines.opened == 1


def test_an_answer_that_is_too_large_is_none_and_its_line_stays(lines):
    assert asked(lines, "web1", do="give", number=8_000_001) == {
        RAISED: "Its answer can't be used: it has more than 8000000 bytes."
    }
    assert asked(lines, "web1", do="give", number=3) == {"came": "xxx"} and lines.opened == 1


def test_an_answer_that_never_ends_is_its_machines_failure_and_memory_stays_bounded(lines, tmp_path):
    first, other = asked(lines, "web1", do="who"), asked(lines, "web2", do="who")
    assert asked(lines, "web1", do="read_on") == {RAISED: "Its answer can't be used: it has more than 256 MB."}
    are_gone([first["pid"]])
    assert int((tmp_path / "read").read_text() or "0") < 1_500_000_000
    until(lambda: not any(True for _ in lines.answers(0.1)) and "web1" not in lines._lines)
    assert asked(lines, "web1", do="who") != first and asked(lines, "web2", do="who") == other


def test_a_connection_that_can_not_be_made_is_tried_again_in_the_next_call(tmp_path):
    def connect():
        if not (tmp_path / "up").exists():
            raise OSError("no route")
        return Caller(tmp_path)

    with Lines(lambda *_key: connect) as lines:
        assert asked(lines, "web1", do="who") == {RAISED: "OSError: no route"}
        (tmp_path / "up").touch()
        assert "pid" in asked(lines, "web1", do="who")


def test_a_line_that_ends_in_a_call_has_answered_it(lines):
    assert asked(lines, "web1", do="leave") == ENDED
    assert "pid" in asked(lines, "web1", do="who") and lines.opened == 2


def test_what_is_displayed_in_a_line_is_displayed_by_its_maker(lines, capsys):
    """The buffer that holds it here is not that of another process."""
    assert asked(lines, "web1", do="say", words="web1 is drained") == {}
    assert capsys.readouterr().out == "web1 is drained\n"


def test_one_that_is_told_to_end_takes_with_it_what_it_has_started(lines, tmp_path):
    lines.call("web1", {"do": "hang"}, LIMIT, "tag")
    pids = noted(tmp_path)
    os.kill(pids[0], signal.SIGTERM)
    are_gone(pids)
    assert answers(lines) == [("tag", ENDED)]


def test_one_that_is_interrupted_goes_on_as_its_maker_decides(lines):
    before = asked(lines, "web1", do="who")
    os.kill(before["pid"], signal.SIGINT)
    assert asked(lines, "web1", do="who") == before


def in_a_process(do):
    """Let another process do this, and stay."""
    pid = os.fork()
    if not pid:
        try:
            do()
            signal.pause()
        finally:
            os._exit(1)
    return pid


@pytest.mark.parametrize("do", ["hang", "start"], ids=["in a call", "between calls"])
def test_a_line_ends_with_its_maker_and_takes_with_it_what_is_under_way(tmp_path, do):
    def make():
        lines = Lines(lambda *_key: lambda: Caller(tmp_path))
        lines.call("web1", {"do": do}, LIMIT, "tag")
        if do == "start":
            answers(lines)
        (tmp_path / "made").touch()

    maker = in_a_process(make)
    until((tmp_path / "made").exists)
    pids = noted(tmp_path)
    assert all(map(runs, pids))
    os.kill(maker, signal.SIGKILL)
    os.waitpid(maker, 0)
    are_gone(pids)


def test_its_maker_notices_soon_that_ansible_is_gone(tmp_path):
    def make():
        with Lines(lambda *_key: lambda: Caller(tmp_path)) as lines:
            try:
                lines.call("web1", {"do": "hang"}, 2 * LIMIT, "tag")
                while True:
                    list(lines.answers(LIMIT))
            except Orphaned:
                (tmp_path / "noticed").touch()

    def ansible():
        (tmp_path / "maker").write_text(str(in_a_process(make)))

    top = in_a_process(ansible)
    pids = noted(tmp_path)
    until(lambda: (tmp_path / "maker").exists() and (tmp_path / "maker").read_text())
    os.kill(top, signal.SIGKILL)
    os.waitpid(top, 0)
    until((tmp_path / "noticed").exists)
    are_gone(pids)
    os.kill(int((tmp_path / "maker").read_text()), signal.SIGKILL)


def test_of_idle_lines_those_are_closed_that_were_idle_for_longest(lines, monkeypatch):
    monkeypatch.setattr(module, "KEPT", 2)
    pids = {host: asked(lines, host, do="who")["pid"] for host in ("web1", "web2", "web3")}
    pids["web1"] = asked(lines, "web1", do="who")["pid"]  # it was not idle for long
    are_gone([pids["web2"]])
    assert (
        asked(lines, "web1", do="who")["pid"] == pids["web1"] and asked(lines, "web3", do="who")["pid"] == pids["web3"]
    )
    assert asked(lines, "web2", do="who")["pid"] != pids["web2"]


def test_one_whose_connection_does_not_close_ends_all_the_same(lines, tmp_path, monkeypatch):
    monkeypatch.setattr(line_module, "CLOSING", 0.1)
    monkeypatch.setattr(Caller, "close", lambda self: time.sleep(60))
    monkeypatch.setattr(module, "KEPT", 0)
    are_gone([asked(lines, "web1", do="who")["pid"]])


def test_at_the_end_no_line_is_left(tmp_path):
    with Lines(lambda *_key: lambda: Caller(tmp_path)) as lines:
        idle = asked(lines, "web1", do="who")["pid"]
        lines.call("web2", {"do": "hang"}, LIMIT, "tag")
        busy = noted(tmp_path)
    assert not any(map(runs, [idle, *busy])) and (tmp_path / "closed").exists(), "an idle one closes its connection"
