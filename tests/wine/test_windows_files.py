# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Files on Windows: whole or not there, though others have them open; and locks."""

import errno
import os
import subprocess
import sys
import threading
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import Busy, Fenced
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import (
    platform as windows_files,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import (
    AlreadyRunning,
    InstanceLock,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import LONG, kill, until

CREATES = """
import sys
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
sys.exit(0 if files.write_first(sys.argv[1], sys.argv[2]) else 7)
"""
HOLDS = """
import sys
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.state_files import InstanceLock
lock = InstanceLock(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "file.json")


def held_open(path, over):
    """As Python opens files: whoever else would replace or remove it has to wait.

    :arg over: the event until which it is open
    """

    def hold():
        with open(path, encoding="utf-8"):
            is_open.set()
            over.wait(LONG)

    is_open = threading.Event()
    thread = threading.Thread(target=hold)
    thread.start()
    is_open.wait()
    return thread


def test_only_the_first_writes_it(path):
    assert files.write_first(path, 1)
    assert not files.write_first(path, 2)
    assert files.read(path) == 1
    assert os.listdir(os.path.dirname(path)) == ["file.json"]


def test_of_many_at_once_one_writes_it(path):
    several = [subprocess.Popen([sys.executable, "-c", CREATES, path, str(number)]) for number in range(4)]
    codes = [process.wait(60) for process in several]
    assert sorted(codes) == [0, 7, 7, 7]
    assert files.read(path) == str(codes.index(0))


def test_one_that_is_open_is_replaced_as_soon_as_it_is_not(path, refused):
    files.replace(path, 1)
    thread = held_open(path, refused)
    files.replace(path, 2)
    assert refused.is_set(), "nobody had it open"
    assert files.read(path) == 2
    thread.join()


def test_one_that_stays_open_is_left_as_it_is(path, monkeypatch):
    monkeypatch.setattr(windows_files, "PATIENCE", 0.2)
    files.replace(path, 1)
    over = threading.Event()
    thread = held_open(path, over)
    try:
        with pytest.raises(PermissionError):
            files.replace(path, 2)
    finally:
        over.set()
    thread.join()
    assert files.read(path) == 1


def test_one_that_is_open_is_removed_as_soon_as_it_is_not(path, refused):
    files.replace(path, 1)
    thread = held_open(path, refused)
    files.remove(path)
    assert refused.is_set(), "nobody had it open"
    thread.join()
    assert files.read(path) is None
    with pytest.raises(FileNotFoundError):
        files.remove(path)


def test_it_is_read_while_it_is_replaced(path):
    """Whole each time, and nobody fails."""
    files.replace(path, [0] * 1000)
    done = threading.Event()
    seen = []

    def read():
        while not done.is_set():
            seen.append(files.read(path))
            time.sleep(0.005)

    thread = threading.Thread(target=read)
    thread.start()
    for number in range(100):
        files.replace(path, [number] * 1000)
    done.set()
    thread.join()
    assert len(seen) > 10
    assert all(len(found) == 1000 and len(set(found)) == 1 for found in seen)


def test_a_disk_without_that_much_room(tmp_path):
    assert files.refusal(str(tmp_path), 1024) == 0
    assert files.refusal(str(tmp_path / "not" / "yet"), 1024) == 0
    assert files.refusal(str(tmp_path), 2**60) == errno.ENOSPC


def test_two_are_not_alone(tmp_path):
    alone = InstanceLock(str(tmp_path))
    with pytest.raises(AlreadyRunning, match=str(os.getpid())):
        InstanceLock(str(tmp_path))
    alone.release()
    InstanceLock(str(tmp_path)).release()


def test_one_that_is_killed_holds_nothing(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == b"held"
    with pytest.raises(AlreadyRunning):
        InstanceLock(str(tmp_path))
    kill(process.pid)
    process.wait(60)

    def alone():
        try:
            return InstanceLock(str(tmp_path))
        except AlreadyRunning:
            return None

    until(alone).release()


def test_two_stores_of_one_folder(tmp_path):
    one, other = (FolderStore(str(tmp_path / "marks"), Clock()) for _which in range(2))
    one.confirm_event("E1", "me", "now")
    with one._locked(), pytest.raises(Busy):
        other.confirm_event("E2", "me", "now")
    other.confirm_event("E2", "me", "now")
    assert sorted(one.confirmed_events()) == ["E1", "E2"]
    with pytest.raises(Fenced):
        other.remove("run", 1)
