# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Room is kept for the mark: nothing new is begun on a full disk, and what is under way can be written down to its end."""

import errno
import json
import os
import pathlib
import stat
import subprocess
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import Busy, NotWritten
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.disk_reserve import (
    DiskReserve,
    ReservedStore,
)

ROOT = pathlib.Path(__file__).resolve().parents[8]


class Disk:
    """How much a look finds to be free."""

    def __init__(self, monkeypatch, free=10**9, error=errno.ENOSPC):
        self.free = free
        self.error = error
        monkeypatch.setattr(files, "refusal", lambda folder, room: self.error if room > self.free else 0)


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


def test_the_room_is_really_taken(tmp_path):
    reserve = DiskReserve(str(tmp_path / "state"))
    assert reserve.degraded() == ""
    found = (tmp_path / "state" / "reserve").stat()
    assert found.st_blocks * 512 >= found.st_size == 1024 * 1024
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert reserve.is_kept()


def test_where_the_file_system_has_no_word_for_it_it_is_written(tmp_path, monkeypatch):
    def lacks(*_how):
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(os, "posix_fallocate", lacks)
    assert DiskReserve(str(tmp_path), 100000).degraded() == ""
    content = (tmp_path / "reserve").read_bytes()
    assert len(content) == 100000 and len(set(content)) > 200


def test_on_a_full_disk_nothing_new_is_begun(tmp_path, disk):
    reserve = DiskReserve(str(tmp_path))
    assert reserve.degraded() == ""
    disk.free = 1000
    assert reserve.degraded() == f"{tmp_path} can't be written safely (No space left on device): make room there"
    assert reserve.is_kept()  # it is for what is under way


def test_once_given_it_is_kept_again_when_there_is_room_to_spare(tmp_path, disk):
    reserve = DiskReserve(str(tmp_path))
    reserve.degraded()
    assert reserve.give()
    assert not reserve.give()
    disk.free = 2 * 1024 * 1024
    assert "make room there" in reserve.degraded()
    assert not reserve.is_kept()
    disk.free = 3 * 1024 * 1024
    assert reserve.degraded() == ""
    assert reserve.is_kept()


def test_one_that_was_cut_off_is_made_anew(tmp_path):
    (tmp_path / "reserve").write_bytes(b"half")
    assert DiskReserve(str(tmp_path)).degraded() == ""
    assert (tmp_path / "reserve").stat().st_size == 1024 * 1024


@pytest.mark.parametrize("error, words", [(errno.EROFS, "Read-only file system"), (errno.EACCES, "Permission denied")])
def test_what_else_stands_against_it_is_said(tmp_path, disk, error, words):
    disk.free, disk.error = 0, error
    assert (
        DiskReserve(str(tmp_path)).degraded()
        == f"{tmp_path} can't be written safely ({words}): see what is wrong there"
    )


def test_what_only_shows_when_it_is_written(tmp_path, monkeypatch):
    def over_quota(*_how):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "posix_fallocate", over_quota)
    assert "Disk quota exceeded" in DiskReserve(str(tmp_path)).degraded()
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def full(tmp_path, monkeypatch):
    """A store whose disk has room once its reserve is given, and what was written then."""
    reserve, written = DiskReserve(str(tmp_path)), []
    reserve.degraded()

    def stand_in(name):
        def write(_self, *arguments):
            if reserve.is_kept() or full.error:
                raise full.error or NotWritten("no room")
            written.append((name, *arguments))

        return write

    for name in ("create", "replace", "remove", "take_off"):
        monkeypatch.setattr(FolderStore, name, stand_in(name))
    full = ReservedStore(str(tmp_path), Clock(), reserve)
    full.error, full.reserve, full.written = None, reserve, written
    return full


@pytest.mark.parametrize("call", [("replace", {"m": 1}, "watcher", 3), ("remove", "watcher", 3), ("take_off",)])
def test_what_is_under_way_gets_the_room(full, call):
    getattr(full, call[0])(*call[1:])
    assert full.written == [call] and not full.reserve.is_kept()


def test_a_new_mark_does_not(full):
    with pytest.raises(NotWritten):
        full.create({})
    assert full.reserve.is_kept()


def test_who_only_waits_for_another_gets_none(full):
    full.error = Busy("locked")
    with pytest.raises(Busy):
        full.replace({}, "watcher", 1)
    assert full.reserve.is_kept()


def test_where_there_is_none_left_it_fails_as_before(full):
    full.reserve.give()
    full.error = NotWritten("no room")
    with pytest.raises(NotWritten, match="no room"):
        full.replace({}, "watcher", 1)


FILLS_THE_DISK = """
import json, os, sys
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import first_mark
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import NotWritten
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.disk_reserve import DiskReserve, ReservedStore

folder = sys.argv[1] + "/state"
plain = FolderStore(folder, Clock())
reserve = DiskReserve(folder)
before = reserve.degraded()
call = {"options": {"run": "watcher", "number": 1}, "steps": []}
mark = first_mark(call, ["E1"], 60.0, {}, Moment(0.0, 0.0, "b"))
plain.create(mark)
try:
    with open(sys.argv[1] + "/filler", "wb") as file:
        while True:
            file.write(bytes(4096))
            file.flush()
except OSError:
    pass
try:
    plain.replace(dict(mark, phase="prepared"), "watcher", 1)
    without = "written"
except NotWritten as error:
    without = str(error)
full = reserve.degraded()
ReservedStore(folder, Clock(), reserve).replace(dict(mark, phase="recovering", events=["E1"] * 10000), "watcher", 1)
after = reserve.degraded()
os.unlink(sys.argv[1] + "/filler")
print(json.dumps([before, without, full, after, reserve.degraded(), plain.read()["phase"]]))
"""


def test_on_a_disk_that_is_really_full(tmp_path):
    mount = f"mount -t tmpfs -o size=6m none {tmp_path}"
    if os.geteuid() != 0 or subprocess.call(["unshare", "-m", "sh", "-c", f"{mount} 2>/dev/null"]) != 0:
        pytest.skip("a small disk can be mounted by root alone, and not in every container")
    script = tmp_path.parent / "fills.py"
    script.write_text(FILLS_THE_DISK, encoding="ascii")
    run = f'{mount} && exec "$0" {script} {tmp_path}'
    output = subprocess.check_output(
        ["unshare", "-m", "sh", "-c", run, sys.executable], env=dict(os.environ, PYTHONPATH=str(ROOT)), timeout=60
    )
    before, without, full, after, at_last, phase = json.loads(output.decode("utf-8"))
    assert before == at_last == ""
    assert "No space left on device" in without
    assert "make room there" in full and "make room there" in after
    assert phase == "recovering"
