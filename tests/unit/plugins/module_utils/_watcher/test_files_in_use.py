# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that a reader has open, which Windows refuses to replace for that moment: whatever replaces one tries again."""

import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import Busy, NotWritten
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import (
    platform as windows_platform,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Hold
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.reporter import History
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service import command_queue
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    HoldFile,
    RememberedState,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.status_file import StatusFile
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.windows_log import (
    FileLog,
    text_of_entry,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report


@pytest.fixture
def windows(monkeypatch):
    """Names are given as Windows does it: refused at first, and tried again by what has patience."""
    refused = []

    def once(call):
        def refusing(*given):
            if given not in refused:
                refused.append(given)
                raise PermissionError(13, "in use")
            return call(*given)

        return refusing

    def patiently(do):
        try:
            return do()
        except PermissionError:
            return do()

    replace, rename = once(os.replace), once(os.rename)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "rename", rename)
    monkeypatch.setattr(native, "patiently", patiently)
    monkeypatch.setattr(native, "replace", lambda temporary, path: patiently(lambda: replace(temporary, path)))
    return refused


def test_what_it_publishes(windows, tmp_path):
    published = StatusFile(str(tmp_path), Clock())
    published.publish({"mode": "manage"})
    assert published.problem == "" and len(windows) == 1


def test_what_it_remembers(windows, tmp_path):
    remembered = RememberedState(str(tmp_path))
    remembered.keep({"a": 1})
    assert RememberedState(str(tmp_path)).what == {"a": 1} and windows


def test_an_order(windows, tmp_path):
    name = command_queue.place(str(tmp_path), "check")
    assert (tmp_path / command_queue.FOLDER / name).exists() and windows


def test_a_history_that_begins_anew(windows, tmp_path):
    history = History(str(tmp_path), 1)
    assert history.add(a_report("scheduled")) and history.add(a_report("prepared"))
    assert history.problem == "" and len(windows) == 1


def test_a_hold_that_is_put_aside(windows, tmp_path):
    hold = HoldFile(str(tmp_path))
    hold.put(Hold(reason="r", by="me", until=None, vm_id=""), 0.0)
    hold.put_aside()
    assert hold.read() is None and windows


def test_a_mark_that_is_put_aside(windows, tmp_path):
    (tmp_path / "state").mkdir(mode=0o700)
    (tmp_path / "state" / "mark.json").write_text("{}")
    aside = FolderStore(str(tmp_path / "state"), Clock()).put_aside()
    assert os.listdir(aside) == ["mark.json"] and windows


class InUse(PermissionError):
    winerror = 32


class Denied(PermissionError):
    winerror = 5


@pytest.mark.parametrize("error, kind", [(InUse(13, "in use"), Busy), (Denied(13, "denied"), NotWritten)])
def test_a_lock_that_a_run_has_open_is_busy(monkeypatch, tmp_path, error, kind):
    def patiently(do):
        raise error

    monkeypatch.setattr(native, "patiently", patiently)
    (tmp_path / "state").mkdir(mode=0o700)
    with pytest.raises(NotWritten) as caught:
        FolderStore(str(tmp_path / "state"), Clock()).take_off()
    assert caught.type is kind


@pytest.mark.parametrize("error, kind", [(InUse, Busy), (Denied, Busy), (PermissionError, NotWritten)])
@pytest.mark.parametrize("name", ["place", "replace", "remove"])
def test_a_mark_that_a_reader_has_open_is_busy(monkeypatch, tmp_path, name, error, kind):
    """Windows calls that "access denied" where it is replaced."""

    def refuses(*_arguments):
        raise error(13, "denied")

    store = FolderStore(str(tmp_path / "state"), Clock())
    mark = {"holder": {"run": "r1"}, "number": 1, "events": []}
    monkeypatch.setattr(store, "read", lambda: mark)
    if name == "remove":
        monkeypatch.setattr(files, "remove", refuses)
    else:
        monkeypatch.setattr(native, name, refuses)
    changes = {"place": [mark], "replace": [mark, "r1", 1], "remove": ["r1", 1]}[name]
    with pytest.raises(NotWritten) as caught:
        getattr(store, "create" if name == "place" else name)(*changes)
    assert caught.type is kind


def test_a_file_that_is_put_in_its_place_waits_for_a_scanner(monkeypatch):
    """The first mark, and what says that a job was started."""
    refusals = [InUse(13, "in use"), Denied(13, "denied")]

    def moves(*_arguments):
        if refusals:
            raise refusals.pop()

    monkeypatch.setattr(windows_platform, "_move", moves)
    assert windows_platform.place("new", "file") and not refusals

    def is_there(*_arguments):
        raise FileExistsError(17, "it is there")

    monkeypatch.setattr(windows_platform, "_move", is_there)
    assert not windows_platform.place("new", "file")


def held_by_a_reader(monkeypatch, held):
    """Files of these names can't be renamed."""
    rename, replace = os.rename, os.replace

    def unless_held(call):
        def moves(source, target):
            if {os.path.basename(source), os.path.basename(target)} & held:
                raise InUse(13, "in use")
            call(source, target)

        return moves

    monkeypatch.setattr(os, "rename", unless_held(rename))
    monkeypatch.setattr(os, "replace", unless_held(replace))


def written(folder, log, first, last):
    for number in range(first, last):
        log.say(f"line {number:03}")
    return [
        line.split()[-1]
        for name in sorted(os.listdir(folder), reverse=True)
        for line in (folder / name).read_text().splitlines()
    ]


@pytest.mark.parametrize("held", [{"a.log"}, {"a.log.1"}, {"a.log.2"}, {"a.log.3"}])
def test_a_log_file_that_somebody_has_open_loses_no_line(monkeypatch, tmp_path, held):
    log = FileLog(str(tmp_path / "a.log"), Clock(), most=200)
    every = [f"{number:03}" for number in range(16)]
    before = written(tmp_path, log, 0, 10)
    assert before == every[:10], "four lines a file"
    is_held = set(held)
    held_by_a_reader(monkeypatch, is_held)
    assert written(tmp_path, log, 10, 16) == every
    is_held.clear()
    after = written(tmp_path, log, 16, 30)
    assert after == [f"{number:03}" for number in range(30 - len(after), 30)] and len(after) > 12
    log.close()


def test_a_percent_sign_before_a_number_is_no_other_text_in_the_event_log():
    assert text_of_entry("disk at 90%; http://a/%20b %1 %%4 100%") == "disk at 90%; http://a/% 20b % 1 % % 4 100%"
