# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who hears of what happened, what hooks are told, and which steps and hooks stand ready."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock, Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import parse_document
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import (
    Facts,
    Go,
    Identity,
    PollResult,
    Say,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import Machine
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.reporter import Reporter
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    destinations_of,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import (
    found_steps,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import (
    Configuration,
    Settings,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.values import HookOptions
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import (
    Lines,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    WALL,
    document,
    event,
)

MOMENT = Moment(WALL, 100.0, "boot-1")
IDENTITY = Identity("web1", "VM-1")
NOTE = {"outage": "o1", "types": {"ID-1": "Reboot"}}


class World:
    def __init__(self, folder, **settings):
        self.folder = folder
        self.hooks = folder / "hooks"
        self.configuration = Configuration(folder=str(folder), hooks_folder=str(self.hooks), **settings)
        self.log = Lines()
        self.telling = Reporter(self.configuration, Machine("host", "1.0.0"), lambda: MOMENT, Clock(), self.log)

    def hook(self, name):
        path = self.hooks / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)

    def spooled(self):
        return sorted(path.parent.name for path in (self.folder / "spool").glob("*/*.json"))


@pytest.fixture
def world(tmp_path):
    tmp_path.chmod(0o755)
    return World(tmp_path)


def facts(*events, mark=None):
    look = PollResult(parse_document(document(1, *events), "2020-07-01"), 0.0, None, 1, 0.0)
    return Facts(
        0.0, MOMENT, Settings(), IDENTITY, look, "", mark, "", None, {}, None, frozenset(), {}, False, True, ""
    )


def the_event(**members):
    return parse_document(document(1, event(**members)), "2020-07-01").events[0]


# --- who hears of it ---


def test_journal_and_history(world):
    world.telling.tell([Say("prepared", "It is.", the_event(), 60.0, outage="o1")], IDENTITY)
    world.telling.stop()
    assert world.log.lines == ["It is."] and world.telling.problem() == ""
    (line,) = (world.folder / "history.jsonl").read_text().splitlines()
    report = json.loads(line)
    assert (report["happened"], report["event"]["id"], report["machine"]["name"]) == ("prepared", "ID-1", "web1")
    assert world.spooled() == []


def test_destinations_are_those_of_the_settings_and_hooks_as_they_are_now(world):
    (one,) = destinations_of([{"url": "https://example.com/x"}])
    world.telling.configure(world.configuration._replace(reports=(one,)))
    world.telling.tell([Say("scheduled", "One.")], None)
    world.telling.stop()
    assert world.spooled() == [one.key]
    world.hook("notify.d/10-slack")
    world.telling.configure(world.configuration)
    world.telling.tell([Say("scheduled", "Two.")], None)
    world.telling.stop()
    assert world.spooled() == [one.key, "notify"]


def test_reports_that_found_no_place_while_the_disk_hung_are_counted_for_each_receiver(tmp_path):
    urls = ["https://example.com/x", "https://example.com/y"]
    world = World(tmp_path, reports=tuple(destinations_of([{"url": url} for url in urls])))
    world.telling._writer._lost = 4
    world.telling.tell([Say("scheduled", "One.")], None)
    assert world.telling._writer.flush(240)
    found = [json.loads(path.read_text()) for path in tmp_path.glob("spool/*/*-dropped.json")]
    assert [one["details"] for one in found] == [{"count": 4}] * 2


def test_a_notify_hook_that_may_not_be_run_gets_its_reports_later_and_is_a_problem(world):
    world.hook("notify.d/10-chat")
    (world.hooks / "notify.d" / "10-chat").chmod(0o644)
    world.telling.configure(world.configuration)
    world.telling.tell([Say("scheduled", "One.")], None)
    world.telling.stop()
    assert world.spooled() == ["notify"]
    found = found_steps(world.configuration)
    (problem,) = found.problems
    assert problem.startswith("The hook notify.d/10-chat is not run: ")
    assert (found.steps, found.lacking, found.recovery_lacks) == ({"": ()}, {}, {}), "no event waits for it"


def test_a_report_is_kept_before_it_is_said_and_until_it_is_written_down(world):
    kept = []

    def keep(reports):
        kept.append([report["message"] for report in reports])
        assert world.log.lines == [] or len(kept) > 1

    world.telling.tell([Say("scheduled", "One."), Say("prepared", "Two.")], None, keep)
    world.telling.stop()
    world.telling.tell([Say("recovered", "Three.")], None, keep)
    assert kept == [["One.", "Two."], ["Three."]]


def test_what_the_watcher_before_has_kept_is_taken_up_where_it_is_not_in_the_history(world):
    kept = []
    world.telling.tell([Say("scheduled", "One.")], None, kept.extend)
    world.telling.stop()
    lost = [dict(kept[0], id="lost", message="Two."), {}, 7]
    world.telling.take_up([*kept, *lost])
    world.telling.stop()
    lines = (world.folder / "history.jsonl").read_text().splitlines()
    assert [json.loads(line)["message"] for line in lines] == world.log.lines == ["One.", "Two."]


def test_what_can_not_be_written_down_is_a_problem_and_no_more(world):
    (world.folder / "history.jsonl").mkdir()
    world.telling.tell([Say("scheduled", "One.")], None)
    world.telling.stop()
    assert "history.jsonl can't be written" in world.telling.problem() and world.log.lines == ["One."]


def test_all_that_were_dropped_are_counted_however_often_room_was_made(tmp_path):
    world = World(tmp_path, spool_bytes=1, reports=tuple(destinations_of([{"url": "https://example.com/x"}])))
    for number in range(200):
        world.telling.tell([Say("scheduled", str(number))], None)
    assert world.telling._writer.flush(240), "each is synced, which takes its time on a busy disk"
    notice, *rest = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("spool/*/*.json"))]
    assert [report["message"] for report in rest] == [str(number) for number in range(200 - len(rest), 200)]
    assert notice["happened"] == "reports_dropped" and notice["details"] == {"count": 200 - len(rest)}
    assert notice["message"].startswith(f"{200 - len(rest)} reports for https://example.com/... were dropped: ")


# --- what hooks are told ---


def told(world, to, found, events=("ID-1",), note=None):
    report = world.telling.context(Go(to, 60.0, events, NOTE if note is None else note), found)
    shown = report["event"] or {}
    return report["happened"], shown.get("id"), shown.get("type"), shown.get("not_before"), report["outage"]


def test_prepare_hooks_are_told_of_the_event(world):
    found = facts(event("other"), event())
    assert told(world, "prepared", found) == ("scheduled", "ID-1", "Reboot", "Thu, 01 Jan 2026 00:15:00 GMT", "o1")
    assert world.telling.context(Go("prepared", 60.0, (), {}), found)["event"] is None


def test_recover_hooks_of_one_that_has_left(world):
    told(world, "prepared", facts(event()))
    mark = {"events": ["ID-1"]}
    assert told(world, "recovered", facts(mark=mark), ())[:4] == (
        "ended",
        "ID-1",
        "Reboot",
        "Thu, 01 Jan 2026 00:15:00 GMT",
    )
    world.telling.tell([Say("ended", "Cancelled.", the_event(), None, "cancelled")], IDENTITY)
    assert told(world, "recovered", facts(mark=mark), ())[:2] == ("cancelled", "ID-1")


def test_or_of_a_preparation_that_has_failed(world):
    assert told(world, "recovered", facts(event(), mark={"events": ["id-1"]}), ())[:2] == ("prepare_failed", "ID-1")


def test_after_a_restart_the_mark_tells(world):
    assert told(world, "recovered", facts(mark={"events": ["ID-1"]}), ()) == ("ended", "ID-1", "Reboot", "", "o1")
    assert told(world, "recovered", facts(), (), {}) == ("ended", None, None, None, "")


def test_it_does_not_remember_for_ever(world):
    for number in range(500):
        told(world, "prepared", facts(event(f"ID-{number}")), (f"ID-{number}",))
    assert len(world.telling._seen) == 100


# --- the steps ---


def test_hooks_and_steps_by_type(world):
    for name in ("prepare.d/20-b", "prepare.d/10-a", "recover.d/10-a", "prepare.d/Freeze/15-c"):
        world.hook(name)
    found = found_steps(
        world.configuration._replace(steps=(step("s"),), hooks={"prepare.d/10-a": HookOptions(7.0, "app")})
    )
    assert sorted(found.steps) == ["", "freeze"] and found.problems == ()
    assert [one["key"] for one in found.steps[""]] == [
        "prepare.d/10-a",
        "prepare.d/20-b",
        "recover.d/10-a",
        "command s",
    ]
    assert "prepare.d/Freeze/15-c" in [one["key"] for one in found.steps["freeze"]]
    first = found.steps[""][0]
    assert (first["timeout"], first["user"], found.steps[""][1]["timeout"]) == (7.0, "app", 300.0)


def test_what_is_wrong_with_hooks_is_said_and_the_others_run(world):
    for name in ("prepare.d/10-a", "prepare.d/20-b"):
        world.hook(name)
    (world.hooks / "prepare.d" / "20-b").chmod(0o777)
    found = found_steps(world.configuration._replace(hooks={"prepare.d/30-x": HookOptions()}))
    assert [one["key"] for one in found.steps[""]] == ["prepare.d/10-a"]
    assert len(found.problems) == 2 and "prepare.d/20-b is not run" in " ".join(found.problems)
    assert "prepare.d/30-x" in " ".join(found.problems)
    assert list(found.lacking) == [""] and found.lacking[""].startswith("the hook prepare.d/20-b is not run: ")


@pytest.mark.parametrize(
    "hooks, refused, kinds",
    [
        ({}, "recover.d/10-a", []),
        ({}, "prepare.d/Freeze/15-c", ["freeze"]),
        ({}, "prepare.d/10-a", ["", "freeze"]),
        ({"prepare.d/30-x": HookOptions()}, "", ["", "freeze"]),
        ({"prepare.d/Reboot/30-x": HookOptions()}, "", ["reboot"]),
        ({"recover.d/30-x": HookOptions()}, "", []),
    ],
)
def test_for_which_types_a_prepare_hook_is_lacking(world, hooks, refused, kinds):
    for name in ("prepare.d/10-a", "recover.d/10-a", "prepare.d/Freeze/15-c"):
        world.hook(name)
    if refused:
        (world.hooks / refused).chmod(0o777)
    assert sorted(found_steps(world.configuration._replace(hooks=hooks)).lacking) == kinds


@pytest.mark.parametrize(
    "hooks, refused, kinds",
    [
        ({}, "recover.d/10-a", ["", "freeze"]),
        ({}, "prepare.d/10-a", []),
        ({"recover.d/30-x": HookOptions()}, "", ["", "freeze"]),
        ({"recover.d/Reboot/30-x": HookOptions()}, "", ["reboot"]),
        ({"notify.d/30-x": HookOptions()}, "", []),
    ],
)
def test_a_recover_hook_that_is_not_run_is_a_step_all_the_same(world, hooks, refused, kinds):
    """Of which the machine program says why it is not run: without it the machine would pass for recovered."""
    for name in ("prepare.d/10-a", "recover.d/10-a", "prepare.d/Freeze/15-c"):
        world.hook(name)
    if refused:
        (world.hooks / refused).chmod(0o600)
    found = found_steps(world.configuration._replace(hooks=hooks))
    assert sorted(found.recovery_lacks) == kinds
    wanted = {"recover.d/10-a", *(key for key in hooks if key.startswith("recover.d/"))}
    assert {step["key"] for kind in kinds for step in found.steps[kind] if step["undoes"]} == (
        wanted if kinds else set()
    )
    assert all(
        name in why for name in [*hooks, *([refused] if refused else [])] for why in found.recovery_lacks.values()
    )
    assert {step["key"] for step in found.steps[""] if step.get("refused")} <= set(hooks)
