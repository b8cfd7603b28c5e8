# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that say to others on the machine whether it is in service."""

import json
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Go
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.health.machine_state import (
    MachineState,
    StateFiles,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    ServiceFlag,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.played import Played

PREPARED = {"phase": "prepared", "since": "2026-01-01T00:00:00Z"}


@pytest.fixture(name="folder")
def _folder(tmp_path):
    old = os.umask(0o077)  # the unit's
    yield tmp_path
    os.umask(old)


def there(folder):
    return sorted(path.name for path in folder.iterdir() if "service" in path.name)


def test_over_an_outage(folder):
    flag = ServiceFlag(str(folder))
    assert there(folder) == []  # a boot clears it, and nothing is known yet
    flag.follow(None, "")
    assert there(folder) == ["in-service"]
    flag.lower()
    assert there(folder) == []
    flag.follow(PREPARED, "")
    assert there(folder) == ["out-of-service"]
    assert (folder / "out-of-service").read_text() == "prepared, since 2026-01-01T00:00:00Z\n"
    flag.follow(dict(PREPARED, phase="recovering"), "")
    assert (folder / "out-of-service").read_text().startswith("recovering, ")
    flag.follow(None, "")
    assert there(folder) == ["in-service"]
    assert flag.problem == ""


def test_everybody_may_read_them(folder):
    flag = ServiceFlag(str(folder))
    for mark in (None, PREPARED):
        flag.follow(mark, "")
        assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o644]


def test_one_that_was_lowered_for_nothing_comes_back(folder):
    flag = ServiceFlag(str(folder))
    flag.follow(None, "")
    flag.lower()
    flag.follow(None, "")
    assert there(folder) == ["in-service"]


def test_a_watcher_that_starts_anew_finds_what_another_left(folder):
    ServiceFlag(str(folder)).follow(PREPARED, "")
    ServiceFlag(str(folder)).follow(None, "")
    assert there(folder) == ["in-service"]
    ServiceFlag(str(folder)).follow(None, "it is no JSON")
    assert (folder / "out-of-service").read_text() == "its mark can't be read\n"
    assert there(folder) == ["out-of-service"]


def test_without_its_folder_there_is_no_flag_and_no_problem(folder):
    flag = ServiceFlag(str(folder / "missing"))
    flag.lower()
    flag.follow(None, "")
    flag.follow(PREPARED, "")
    assert flag.problem == "" and there(folder) == []


def test_a_folder_that_can_not_be_written_is_a_problem_of_the_watcher(folder):
    (folder / "file").write_text("")
    flag = ServiceFlag(str(folder / "file"))
    flag.follow(None, "")
    assert flag.problem == f"{folder}/file/in-service can't be written: Not a directory"


def test_the_watcher_lowers_it_before_it_prepares_and_raises_it_once_it_has_recovered(tmp_path):
    played, seen = Played(tmp_path), []
    run = tmp_path / "run"
    run.mkdir()
    played.hand.begin = _noting(played.hand.begin, lambda: seen.append(there(run)))
    played.tick()
    assert there(run) == ["in-service"]
    played.tick(Go("prepared", 100.0, ("E1",), {}))
    assert seen == [[]] and there(run) == ["out-of-service"]
    assert StateFiles(str(played.state), str(run)).read().phase.startswith("prepar")
    while (played.state / "mark.json").exists():
        played.tick(Go("recovered", 100.0, (), {}))
    assert there(run) == ["in-service"]
    assert StateFiles(str(played.state), str(run)).read() == MachineState()


def test_a_watcher_that_starts_after_a_reboot_under_an_event_leaves_it_lowered(tmp_path):
    played, run = Played(tmp_path), tmp_path / "run"
    played.tick(Go("prepared", 100.0, ("E1",), {}))
    run.mkdir()  # which the boot has cleared
    played.tick()
    assert there(run) == ["out-of-service"]


def test_what_is_wrong_with_it_is_published(tmp_path):
    played = Played(tmp_path)
    (tmp_path / "run").write_text("")
    played.tick()
    played.tick()
    problems = json.loads((played.state / "watcher.json").read_text())["problems"]
    assert any("in-service can't be written" in problem for problem in problems)


def _noting(function, note):
    def noted(*arguments):
        note()
        return function(*arguments)

    return noted
