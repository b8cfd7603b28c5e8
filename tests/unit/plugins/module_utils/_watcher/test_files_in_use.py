# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files that a reader has open, which Windows refuses to replace for that moment: whatever replaces one tries again."""

import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import Busy, NotWritten
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.platform import native
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Hold
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.reporter import History
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service import command_queue
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    HoldFile,
    RememberedState,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.status_file import StatusFile
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


@pytest.mark.parametrize("error, kind", [(InUse(13, "in use"), Busy), (PermissionError(13, "denied"), NotWritten)])
def test_a_lock_that_a_run_has_open_is_busy(monkeypatch, tmp_path, error, kind):
    def patiently(do):
        raise error

    monkeypatch.setattr(native, "patiently", patiently)
    (tmp_path / "state").mkdir(mode=0o700)
    with pytest.raises(NotWritten) as caught:
        FolderStore(str(tmp_path / "state"), Clock()).take_off()
    assert caught.type is kind
