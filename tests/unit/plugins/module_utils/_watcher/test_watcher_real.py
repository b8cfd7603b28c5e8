# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's threads and loop against the emulator over loopback, in a process of its own. Handling is played."""

import os
import resource

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import (
    Watched,
    settings,
    until,
)


@pytest.fixture
def world(tmp_path):
    found = World(tmp_path / "emulator", "--log-requests")
    yield found
    found.stop()


@pytest.fixture
def watched(tmp_path, world):
    folder = tmp_path / "watcher"
    folder.mkdir()
    with Watched(folder, endpoint=world.endpoint) as found:
        until(lambda: found.parts.metadata.polled and found.parts.metadata.identity)
        yield found


def test_an_event_is_prepared_for_within_a_look(world, watched):
    """Handling is asked once about what the look shows: its step begins then, however fast this machine is."""
    assert watched.parts.metadata.identity.name == "web1"
    watched.hand.moment = lambda: len(watched.handling.seen)
    for each in range(3):
        event = world.event()
        until(lambda each=each: len(watched.hand.begun) > 2 * each)
        begun = watched.hand.begun[2 * each][2]
        shown = [
            number
            for number, facts in enumerate(watched.handling.seen, 1)
            if facts.polled and event in [one.event_id for one in facts.polled.document.events]
        ]
        assert begun == shown[0]
        world.control("POST", f"/events/{event}/cancel")
        until(lambda: not (watched.state / "mark.json").exists())


def test_an_answer_that_hangs_stops_neither_loop_nor_looks(world, watched):
    world.event()
    until(lambda: watched.published().get("doing") == "prepared")
    world.fault("hang", method="GET", count=1)
    until(lambda: world.control("GET", "/faults")["faults"] == [])
    ticks = len(watched.handling.seen)
    until(lambda: len(watched.handling.seen) > ticks + 2)
    assert not watched.parts.metadata.poll_problem, "nobody has given up that look yet"
    until(lambda: watched.parts.metadata.poll_problem)
    until(lambda: not watched.parts.metadata.poll_problem)


def test_it_asks_no_more_than_it_may(world, watched):
    """Once a second, by the emulator's clock. One that comes late on a busy machine is nearer to the next one."""
    before = len(world.journal("request"))
    entries = until(lambda: world.journal("request")[before + 4 :] and world.journal("request")[before:])
    assert entries[4]["wall"] - entries[0]["wall"] > 2
    assert world.running.process.poll() is None


def test_one_connection_and_an_etag(world, watched):
    def unchanged():
        entries = [entry for entry in world.journal("request") if entry.get("method") == "GET"]
        return [entry.get("status") for entry in entries].count(304) >= 2

    until(unchanged)


def test_settings_that_break_leave_those_of_before_in_force(world, watched):
    watched.file.write_text('{"format": 1,\n "folder": "/x",\n "approve": "nobody"}')
    # A file that is just being written may be seen empty before.
    wrong = "watcher.json, line 3: "
    problem = until(lambda: next((one for one in watched.published().get("problems", ()) if wrong in one), ""))
    assert "nobody" in problem
    world.event()
    until(lambda: watched.hand.begun)
    assert watched.published()["approve"] == "own"
    settings(watched.file.parent, endpoint=world.endpoint, approve="never")
    until(lambda: watched.published().get("approve") == "never" and not watched.published()["problems"])


def test_many_looks_leave_nothing_behind(tmp_path):
    """Judged by the handles and the memory of this very process."""
    (tmp_path / "watcher").mkdir()
    world = World(tmp_path / "emulator", "--set", "rate_limit=0")
    try:
        _look_often(world, tmp_path / "watcher")
    finally:
        world.stop()


def _look_often(world, folder):
    with Watched(folder, endpoint=world.endpoint, interval=0.002) as watched:
        looking = watched.parts.metadata._event_poller
        until(lambda: looking.polls > 600, 300)
        handles, memory = len(os.listdir("/proc/self/fd")), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        until(lambda: looking.polls > 3600, 900)
        assert looking.failures == 0, watched.parts.metadata.poll_problem
        assert len(os.listdir("/proc/self/fd")) <= handles + 1
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 2048, "kB"
