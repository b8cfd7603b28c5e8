# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong with approvals and times, and many machines at once: the real handling, over real HTTP. Steps are played."""

import contextlib
import email.utils

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.engine import Engine
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import World
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import (
    Watched,
    until,
)

FIVE = ["web1", "web2", "web3", "web4", "web5"]


@pytest.fixture
def world(tmp_path):
    found = World(tmp_path / "emulator")
    yield found
    found.stop()


def watched(folder, cooldown, **keys):
    """A watcher that waits for so long after the outage of another machine: the user can't set that."""
    folder.mkdir()
    found = Watched(folder, Engine, **keys)
    file = found.parts.settings
    file.current = file.current._replace(settings=file.current.settings._replace(cooldown=cooldown))
    return found


@pytest.fixture
def start(tmp_path, world):
    """start(cooldown) a watcher of web1 that has looked."""
    with contextlib.ExitStack() as stack:

        def start(cooldown=0.0, **keys):
            found = stack.enter_context(watched(tmp_path / "watcher", cooldown, endpoint=world.endpoint, **keys))
            until(lambda: found.parts.metadata.polled and found.parts.metadata.identity)
            return found

        yield start


def happened(watcher):
    return [say.happened for say in watcher.says]


def recovered(watcher):
    """It is back, and all of its steps were done and undone once."""
    until(lambda: "recovered" in happened(watcher))
    assert [(direction, name) for direction, name, _at in watcher.hand.begun] == [("do", "10-app"), ("undo", "10-app")]
    return True


@pytest.mark.parametrize(
    "fault, posts",
    [(dict(kind="lost_answer"), 1), (dict(kind="reset"), 2), (dict(kind="status", status=500), 2)],
    ids=["taken, and its answer lost", "lost on the way", "500 once"],
)
def test_an_approval_that_goes_wrong(world, start, fault, posts):
    watcher = start()
    world.fault(method="POST", count=1, **fault)
    event = world.event(tail=600)
    until(lambda: "started" in happened(watcher))
    world.move(event, "complete")
    assert recovered(watcher)
    sent = [post["requests"][0]["event_id"] for post in world.journal("post")]
    assert sent == [event] * posts
    assert happened(watcher).count("started") == 1


def place(event):
    return (email.utils.parsedate_to_datetime(event["NotBefore"]), event["EventId"].upper())


def test_five_machines_with_one_event_each_at_once(tmp_path):
    cooldown = 1.0
    world = World(tmp_path / "emulator", vms=[f"{name},scope=web" for name in FIVE])
    with contextlib.ExitStack() as stack:
        stack.callback(world.stop)
        for name in FIVE:
            world.event(resources=[name], notice=280, tail=1.5)
        events = sorted(world.document()["Events"], key=place)
        watchers = [
            stack.enter_context(
                watched(tmp_path / name, cooldown, endpoint=world.endpoint_of(name), interval=0.5, prepare_before=0)
            )
            for name in FIVE
        ]
        until(lambda: all("recovered" in happened(watcher) for watcher in watchers), 300)
        assert all(recovered(watcher) for watcher in watchers)
        journal = [(entry["kind"], entry) for entry in world.journal("post", "started", "gone")]
        sent = [entry["requests"][0]["event_id"] for kind, entry in journal if kind == "post"]
        assert sent == [event["EventId"] for event in events], "each once, in its turn"
        rounds = [[kind for kind, _entry in journal[at : at + 3]] for at in range(0, len(journal), 3)]
        assert [(set(kinds), kinds[2]) for kinds in rounds] == [({"post", "started", "gone"}, "gone")] * 5
        ends = [entry["wall"] for kind, entry in journal if kind == "gone"]
        begins = [entry["wall"] for kind, entry in journal if kind == "post"]
        assert min(begin - end for begin, end in zip(begins[1:], ends)) >= cooldown
