# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of a mark, with real files, a real lock and real processes."""

import errno
import json
import os
import pathlib
import shutil
import stat
import tempfile

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files, store
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import (
    MOST_BYTES,
    Busy,
    Fenced,
    MarkUnreadable,
    NotWritten,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import Machine, step


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "var" / "marks", step("one"))


@pytest.fixture
def marked(machine):
    machine.go()
    return machine


def test_only_its_owner_sees_what_is_there(marked):
    marked.store.confirm_event("E1", "me", "now")
    folders = [marked.folder, marked.folder / "yes"]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in folders} == {0o700}
    found = [path for folder in folders for path in folder.iterdir() if path.is_file()]
    assert len(found) == 3
    assert {stat.S_IMODE(path.stat().st_mode) for path in found} == {0o600}


def test_the_first_mark_fails_where_one_is(marked):
    mark = marked.mark()
    with pytest.raises(Fenced, match="somebody else has just taken the machine"):
        marked.store.create(dict(mark, number=99))
    assert marked.mark() == mark


def test_of_many_who_create_it_at_once_one_does(machine):
    machine.go()
    mark = machine.mark()
    machine.store.take_off()
    pids = []
    for number in range(12):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                FolderStore(str(machine.folder), Clock()).create(dict(mark, number=number))
                code = 0
            except Fenced:
                code = 7
            finally:
                os._exit(code)
        pids.append(pid)
    codes = [os.waitpid(pid, 0)[1] >> 8 for pid in pids]
    assert sorted(codes) == [0] + [7] * 11
    assert machine.mark()["number"] == codes.index(0)


def of_size(mark, size):
    """The mark with a note that makes it so many bytes long."""
    mark = dict(mark, note={"x": ""})
    return dict(mark, note={"x": "x" * (size - len(json.dumps(mark)))})


def test_no_mark_is_written_that_could_not_be_read(marked):
    mark = marked.mark()
    largest = of_size(mark, MOST_BYTES)
    marked.store.replace(largest, mark["holder"]["run"], mark["number"])
    assert marked.store.read() == largest
    with pytest.raises(
        NotWritten, match="more than 1024 kB, which nobody reads again; give the machine fewer steps or hooks"
    ):
        marked.store.replace(of_size(mark, MOST_BYTES + 1), mark["holder"]["run"], mark["number"])
    assert marked.store.read() == largest


def test_the_first_mark_leaves_room_for_what_comes_of_the_steps(machine):
    machine.go()
    mark = machine.mark()
    machine.store.take_off()
    with pytest.raises(NotWritten, match="fewer steps or hooks"):
        machine.store.create(of_size(mark, MOST_BYTES // 2 + 1))
    assert machine.store.read() is None
    machine.store.create(of_size(mark, MOST_BYTES // 2))


@pytest.mark.parametrize("run, number", [("run-1", 0), ("run-1", 2), ("run-2", 1)])
def test_only_the_one_whose_mark_it_is_changes_it(marked, run, number):
    mark = marked.mark()
    for change in (
        lambda: marked.store.replace(dict(mark, events=[]), run, number),
        lambda: marked.store.remove(run, number),
        lambda: marked.store.held(run, number).__enter__(),
    ):
        with pytest.raises(Fenced, match="taken in the meantime: by run run-1, call 1. Nothing was done"):
            change()
    assert marked.mark() == mark


def test_every_answer_says_which_disk_it_is(marked):
    """A removed mark leaves the folder what it was; a lost disk does not."""
    os.utime(str(marked.folder / "lock"), (1e9, 1e9))
    before = marked.call({"do": "ready"})["disk"]
    marked.go("recovered")
    assert marked.mark() is None and marked.call({"do": "ready"})["disk"] == before != ""
    shutil.rmtree(str(marked.folder))
    assert marked.call({"do": "ready"})["disk"] == ""
    marked.go()
    assert marked.call({"do": "ready"})["disk"] not in (before, "")


def test_a_mark_that_is_gone_is_nobodys_any_more(marked):
    mark = marked.mark()
    marked.store.take_off()
    with pytest.raises(Fenced, match="was removed in the meantime"):
        marked.store.replace(mark, "run-1", 1)
    assert marked.mark() is None


def test_a_mark_is_on_the_disk_and_its_name_too_before_anybody_goes_on(marked, monkeypatch):
    synced = []
    sync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append(_path_of(descriptor)) or sync(descriptor))
    mark = marked.mark()
    marked.store.replace(dict(mark, number=2), "run-1", 1)
    assert [path.partition("mark.json.")[1] for path in synced] == ["mark.json.", ""]
    assert synced[1] == str(marked.folder)
    del synced[:]
    marked.store.remove("run-1", 2)
    assert synced == [str(marked.folder)]


def _path_of(descriptor):
    return os.readlink(f"/proc/self/fd/{descriptor}")


@pytest.mark.parametrize(
    "number, says",
    [
        (errno.ENOSPC, "make room there"),
        (errno.EROFS, "make the file system writable, or name a folder on another one"),
        (errno.EACCES, "set ansible_become to true there"),
        (errno.EIO, "see what is wrong there"),
    ],
)
def test_where_the_mark_cant_be_written_nothing_is_begun_and_the_preparation_has_failed(
    machine, monkeypatch, number, says
):
    def refuse(*_args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(files, "_written", refuse)
    answer = machine.go()
    assert answer["state"] == "failed"
    assert f"{machine.folder} can't be written ({os.strerror(number)}): {says}" in answer["why"]
    assert answer["why"].endswith("run this again. Nothing was started.")
    assert (machine.mark(), machine.world.journal) == (None, [])


def test_on_a_full_disk_no_half_file_stays(machine):
    """A real one: a limit on the size of files."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            import resource
            import signal

            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
            code = 0 if machine.go()["state"] == "failed" and not machine.world.journal else 1
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    assert [path.name for path in machine.folder.iterdir()] == ["lock"]


def test_a_folder_of_somebody_else_is_refused(machine):
    theirs = pathlib.Path(tempfile.mkdtemp())  # a place that everybody can get to
    machine.folder = theirs / "marks"
    machine.store = FolderStore(str(machine.folder), machine.clock)
    theirs.chmod(0o555)
    pid = os.fork()
    if not pid:
        code = 1
        try:
            if os.geteuid() == 0:
                os.seteuid(65534)
            answer = machine.go()
            code = 0 if answer["state"] == "failed" and "set ansible_become to true there" in answer["why"] else 2
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    theirs.rmdir()
    assert status == 0


@pytest.mark.parametrize("owner, mode", [(os.geteuid(), 0o777), (os.geteuid(), 0o1777), (65534, 0o755)])
def test_a_folder_that_others_can_write_is_refused(machine, owner, mode):
    """A link of theirs would have root write wherever they like."""
    if owner != os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    machine.folder.mkdir(parents=True)
    machine.folder.chmod(mode)
    os.chown(str(machine.folder), owner, -1)
    answer = machine.go()
    assert answer["state"] == "failed" and "is another user's, or all may write there" in answer["why"]
    assert list(machine.folder.iterdir()) == [] and machine.world.journal == []


def test_a_file_where_a_folder_belongs(machine):
    machine.folder.parent.write_text("", encoding="utf-8")
    answer = machine.go()
    assert answer["state"] == "refused"
    assert "can't be read: Not a directory" in answer["why"]


def test_when_it_can_no_longer_be_written_nothing_more_is_begun(marked, monkeypatch):
    def refuse(*_args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_written", refuse)
    del marked.world.journal[:]
    answer = marked.go("recovered")
    assert (answer["state"], marked.world.journal) == ("half", [])
    assert "No space left on device" in answer["why"]
    monkeypatch.undo()
    assert marked.go("recovered")["state"] == "recovered"


@pytest.mark.parametrize(
    "content, says",
    [
        (b"", "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b'{"format": 2}', "of format 2"),
        (b" " * (1024 * 1024 + 1), "it is too large"),
    ],
)
def test_a_mark_that_cant_be_read_is_a_mark(machine, content, says):
    machine.folder.mkdir(parents=True)
    (machine.folder / "mark.json").write_bytes(content)
    with pytest.raises(MarkUnreadable, match=says):
        machine.mark()


def test_one_of_a_newer_format_is_not_even_removed_by_force(machine):
    machine.folder.mkdir(parents=True)
    (machine.folder / "mark.json").write_text('{"format": 2}', encoding="utf-8")
    answer = machine.call({"do": "take_off", "forced": True})
    assert "newer one" in answer["answers"][0]["problem"]
    assert (machine.folder / "mark.json").exists()


def test_one_that_is_damaged_is(machine):
    machine.folder.mkdir(parents=True)
    (machine.folder / "mark.json").write_text("{", encoding="utf-8")
    answer = machine.call({"do": "take_off"})
    assert (answer["answers"], answer["mark"]) == ([{}], None)


def test_what_a_program_left_that_was_ended_in_the_middle_goes_with_the_next_mark(marked):
    (marked.folder / "mark.json.4711").write_text("{", encoding="utf-8")
    marked.go("recovered")
    assert [path.name for path in marked.folder.iterdir()] == ["lock"]


def test_who_holds_the_lock_too_long_is_not_waited_for(marked):
    other = FolderStore(str(marked.folder), Clock())
    with other.held("run-1", 1):
        with pytest.raises(Busy, match="locked by another call for 2 s"):
            marked.store.remove("run-1", 1)
        answer = marked.go()
    assert answer["state"] == "preparing"  # the next call tries again
    assert "locked by another call" in answer["why"]
    assert marked.go()["state"] == "prepared"


def test_a_process_that_was_forked_under_the_lock_does_not_go_on_holding_it(marked):
    reader, writer = os.pipe()
    with marked.store.held("run-1", 1):
        pid = os.fork()
        if not pid:
            os.close(writer)
            os.read(reader, 1)  # until the test is over
            os._exit(0)
    os.close(reader)
    try:
        with FolderStore(str(marked.folder), Clock()).held("run-1", 1):
            pass
    finally:
        os.close(writer)
        os.waitpid(pid, 0)


# --- a confirmation ---


def test_a_yes_is_a_file_of_its_own_and_can_be_taken_back(machine):
    event = "../../etc/E1\n"
    answer = machine.call({"do": "yes", "event": event, "by": "operator\x1b[31m"}, run="")
    assert answer["answers"] == [{}]
    (path,) = (machine.folder / "yes").iterdir()
    assert json.loads(path.read_text(encoding="utf-8")) == {
        "event": event,
        "by": "operator [31m",
        "at": "2026-01-01T00:00:00Z",
    }
    assert machine.mark() is None
    answer = machine.call({"do": "no_yes", "event": event}, {"do": "no_yes", "event": "never given"})
    assert (answer["answers"], answer["yes"]) == ([{}, {}], [])


def test_every_call_says_to_which_events(machine):
    machine.call({"do": "yes", "event": "E1", "by": "me"}, {"do": "yes", "event": "E2", "by": "me"})
    assert sorted(machine.call()["yes"]) == ["E1", "E2"]


def test_it_goes_with_the_mark_of_its_event(machine):
    machine.call({"do": "yes", "event": "e1", "by": "me"}, {"do": "yes", "event": "E2", "by": "me"})
    machine.go()
    machine.go("recovered")
    assert machine.call()["yes"] == ["E2"]


def test_one_that_is_damaged_is_none(machine):
    machine.call({"do": "yes", "event": "E1", "by": "me"})
    for path in (machine.folder / "yes").iterdir():
        path.write_text("{", encoding="utf-8")
    assert machine.call()["yes"] == []


def test_a_yes_that_cant_be_written_is_a_problem_of_its_request(machine, monkeypatch):
    def refuse(*_args):
        raise NotWritten("no room")

    monkeypatch.setattr(store.FolderStore, "confirm_event", refuse)
    assert machine.call({"do": "yes", "event": "E1", "by": "me"})["answers"] == [{"problem": "no room"}]
