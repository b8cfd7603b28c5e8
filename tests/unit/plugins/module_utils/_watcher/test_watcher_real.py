# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's threads and loop against the emulator over loopback, in a process of its own. Handling is played."""

import os
import resource

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import (
    Simple,
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


def looks(watched, count):
    """The watcher has looked so often from now on."""
    before = watched.parts.metadata.about()["polls"]
    until(lambda: watched.parts.metadata.about()["polls"] >= before + count)


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


FAULTS = {
    "404": dict(kind="status", status=404),
    "410": dict(kind="status", status=410),
    "429": dict(kind="status", status=429),
    "500": dict(kind="status", status=500),
    "503": dict(kind="status", status=503),
    "503 with a date to come back": dict(kind="status", status=503, retry_after=2),
    "reset": dict(kind="reset"),
    "empty": dict(kind="empty"),
    "cut": dict(kind="truncated"),
    "a web page": dict(kind="html"),
    "a redirect": dict(kind="redirect"),
    "no document": dict(kind="body", body='{"DocumentIncarnation": 7, "Events": null}'),
}


@pytest.mark.parametrize("fault", list(FAULTS.values()), ids=list(FAULTS))
def test_a_fault_takes_back_no_event_and_ends(world, watched, fault):
    world.event()
    until(lambda: watched.published().get("doing") == "prepared")
    world.control("DELETE", "/faults")
    broken = world.control("POST", "/faults", dict(fault, method="GET", count=2))["id"]
    words = until(lambda: watched.parts.metadata.poll_problem)
    assert "metadata" in words or "document" in words, words
    assert watched.parts.metadata.polled.document.events, "it is still there"
    assert (watched.state / "mark.json").exists()
    until(lambda: broken not in [one["id"] for one in world.control("GET", "/faults")["faults"]])
    until(lambda: not watched.parts.metadata.poll_problem)
    assert not watched.log.has("A tick failed"), watched.log.lines
    assert (watched.state / "mark.json").exists()


def test_control_characters_hide_nothing(world, watched):
    world.fault("control_characters")
    world.event()
    until(lambda: watched.hand.begun)


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


@pytest.mark.parametrize("kind", ["lost_answer", "reset"])
def test_a_post_that_is_lost_is_sent_again_until_the_document_confirms_it(world, watched, kind):
    world.fault(kind, method="POST", count=1)
    event = world.event()
    until(lambda: any(e.has_started for e in watched.parts.metadata.polled.document.events))
    looks(watched, 1)  # one more may have been on its way when that document came
    posts = world.journal("post")
    assert [post["requests"][0]["event_id"] for post in posts] == [event] * len(posts)
    wanted = 1 if kind == "lost_answer" else 2
    assert wanted <= len(posts) <= wanted + 1
    looks(watched, 2)
    assert len(world.journal("post")) == len(posts), "a confirmed approval is not sent again"


def test_a_post_that_fails_once(world, watched):
    world.fault("status", status=500, method="POST", count=1)
    world.event()
    until(lambda: any(e.has_started for e in watched.parts.metadata.polled.document.events))
    assert not [posted for posted in watched.parts.metadata.posted().values() if not posted.accepted]


def test_what_somebody_else_has_approved_is_not_approved(world, tmp_path):
    class Slow(Simple):
        @staticmethod
        def _is_due(facts, event):
            return False

    folder = tmp_path / "watcher"
    folder.mkdir()
    with Watched(folder, Slow, endpoint=world.endpoint) as watched:
        event = world.event()
        until(lambda: watched.published().get("doing") == "prepared")
        world.control("POST", f"/events/{event}/approve")
        until(lambda: any(e.has_started for e in watched.parts.metadata.polled.document.events))
        assert world.journal("post") == []


def test_proxies_are_not_used(world, tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    folder = tmp_path / "watcher"
    folder.mkdir()
    with Watched(folder, endpoint=world.endpoint) as watched:
        until(lambda: watched.parts.metadata.polled and watched.parts.metadata.identity)


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


def test_another_endpoint_is_asked_from_then_on(world, watched):
    settings(watched.file.parent, endpoint=world.endpoint.replace("web1", "web2"))
    until(lambda: watched.parts.metadata.identity and watched.parts.metadata.identity.name == "web2")


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
