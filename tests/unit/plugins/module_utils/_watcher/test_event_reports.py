# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is reported of an event's start, by what the watcher can know of it."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Approve, Say
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import Story
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.well_said import assert_well_said

BY_A_PERSON = {"id": "E1", "source": "User"}  # approved at once, and without a mark
STARTED = {"status": "Started"}
CAME_STARTED = "was already Started when this watcher process first saw it."


def messages(story, given, about=("scheduled", "started")):
    """What a tick reports, in words."""
    found = [act.message for act in story.tick(given) if isinstance(act, Say) and act.happened in about]
    for message in found:
        assert_well_said(message)
    return found


@pytest.fixture(name="story")
def _story():
    return Story()


def test_after_the_reboot_that_it_approved_itself(story):
    """Nothing outlives that: it must not say that nobody had approved it, or that nobody had seen it come."""
    assert any(
        isinstance(act, Approve) for act in story.tick({"at": 0, "document": [dict(BY_A_PERSON, **{"in": 900})]})
    )
    rebooted = {"at": 60, "restart": "machine", "document": [dict(BY_A_PERSON, **STARTED)]}
    assert messages(story, rebooted) == [f"Reboot E1 of this machine {CAME_STARTED}", f"Reboot E1 {CAME_STARTED}"]


def test_after_the_reboot_of_an_event_that_it_was_prepared_for(story):
    """When that was first shown the mark does not say."""
    event = {"id": "E1"}
    story.tick({"at": 0, "document": [dict(event, **{"in": 900})]})
    for at in (3, 6):
        acts = story.tick({"at": at, "mark": "prepared"})
    assert any(isinstance(act, Approve) for act in acts)
    assert messages(story, {"at": 60, "restart": "machine", "blind": "no answer"}) == []
    after = {"at": 63, "blind": "", "document": [dict(event, **STARTED)]}
    assert messages(story, after) == ["Reboot E1 has started."]


@pytest.mark.parametrize("kind, is_unprepared", [("Freeze", True), ("Reboot", False)])
def test_after_a_crash_of_the_machine_that_was_prepared(story, kind, is_unprepared):
    """A Freeze reboots nobody: what was done is undone by something else. A Reboot may have been the event's own."""
    freeze = {"id": "E1", "type": kind}
    story.tick({"at": 0, "document": [dict(freeze, **{"in": 900})]})
    story.tick({"at": 3, "mark": "prepared"})
    crashed = {"at": 60, "restart": "machine", "document": [dict(freeze, **STARTED)]}
    assert len(messages(story, crashed, about=["started_unprepared"])) == is_unprepared


def test_one_that_comes_started_while_the_watcher_polls(story):
    come = {"at": 10, "document": [{"id": "E1", "status": "Started", "on": ["vm1", "vm2"]}]}
    assert messages(story, come) == [f"Reboot E1 of 2 machines {CAME_STARTED}", f"Reboot E1 {CAME_STARTED}"]


@pytest.mark.parametrize(("source", "by"), [("User", "."), ("Platform", ", without an approval by this machine.")])
def test_one_that_it_has_seen_come(story, source, by):
    event = {"id": "E1", "source": source}
    story.tick({"at": 0, "document": [dict(event, **{"in": 900})]})
    later = {"at": 40, "document": [dict(event, **STARTED)]}
    assert messages(story, later) == [f"Reboot E1 has started, 40 s after it was shown{by}"]


def test_a_watcher_that_was_restarted_still_knows_when_it_was_shown(story):
    story.tick({"at": 0, "document": [dict(BY_A_PERSON, **{"in": 900})]})
    restarted = {"at": 30, "restart": "watcher", "document": [dict(BY_A_PERSON, **STARTED)]}
    assert messages(story, restarted) == ["Reboot E1 has started, 30 s after it was shown."]
