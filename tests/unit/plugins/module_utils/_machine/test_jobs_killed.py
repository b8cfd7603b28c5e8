# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that somebody else ends: all of them at once, or the keeper, which leaves its work without anybody who watches it."""

import contextlib
import io
import json
import os
import signal
import sys
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files, process
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.jobs import CUT_OFF, OVER, RUNNING
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    content,
    ended,
    is_gone,
    jobs_in,
    shell,
    started,
    until,
)

LIMIT = LONG


@pytest.fixture
def jobs(tmp_path):
    return jobs_in(tmp_path)


def test_all_of_them_can_be_ended(jobs, tmp_path):
    jobs.begin("over", shell("true"), LIMIT)
    ended(jobs, "over")
    for name in ("one", "two"):
        jobs.begin(name, shell("sleep 60"), LIMIT)
    assert jobs.end_all(LIMIT)
    assert [jobs.poll(name).result["stopped"] for name in ("over", "one", "two")] == [False, True, True]
    assert jobs_in(tmp_path / "nowhere").end_all(0)


def test_those_that_do_not_end_are_not_called_ended(jobs, tmp_path):
    jobs.begin("deaf", shell("trap '' TERM; echo deaf > $1; while :; do sleep 1; done", tmp_path / "log"), LIMIT)
    until(lambda: content(tmp_path / "log"))
    assert not jobs.end_all(0)
    assert ended(jobs, "deaf").state == OVER


def test_whoever_takes_off_a_mark_ends_what_was_begun_by_it(jobs, tmp_path, monkeypatch):
    jobs.begin("job", shell("echo $$ > $1; exec sleep 60", tmp_path / "log"), LIMIT)
    pid = int(until(lambda: content(tmp_path / "log").strip()))
    monkeypatch.setattr(process.System, "boot_id", lambda self: "this boot")
    call = {"options": {"folder": str(tmp_path)}, "requests": [{"do": "take_off"}], "steps": []}
    said = io.BytesIO(json.dumps(call).encode("ascii"))
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=said))
    assert process._answer()["answers"] == [{}]
    assert is_gone(pid) and not (tmp_path / "jobs").exists()


@pytest.fixture
def orphan(jobs, tmp_path):
    """A job whose keeper was killed; the processes of its work, which go on."""
    jobs.begin("job", shell("sleep 60 & echo $$ $! > $1; wait", tmp_path / "log"), LIMIT)
    pids = [int(pid) for pid in until(lambda: content(tmp_path / "log").split())]
    os.kill(started(tmp_path)["pid"], signal.SIGKILL)
    until(lambda: is_gone(started(tmp_path)["pid"]))
    yield pids
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_a_job_whose_keeper_and_work_are_gone_was_cut_off(jobs, orphan):
    os.kill(orphan[0], signal.SIGKILL)
    assert ended(jobs, "job").state == CUT_OFF
    assert not jobs.begin("job", shell("true"), LIMIT), "it may have done its work"


def test_work_whose_keeper_was_killed_has_its_limit_all_the_same(jobs, orphan, tmp_path):
    assert jobs.poll("job").state == RUNNING
    work = files.read(str(tmp_path / "jobs" / "job" / "work"))
    files.replace(str(tmp_path / "jobs" / "job" / "work"), dict(work, until=0))
    assert ended(jobs, "job").state == CUT_OFF
    until(lambda: all(is_gone(pid) for pid in orphan))


def test_work_whose_keeper_was_killed_can_be_stopped(jobs, orphan):
    jobs.stop("job")
    assert ended(jobs, "job").state == CUT_OFF
    until(lambda: all(is_gone(pid) for pid in orphan))


@pytest.mark.parametrize("other", [{"boot_id": "an earlier boot"}, {"start": 1}])
def test_another_process_of_its_number_is_another(jobs, tmp_path, other):
    jobs.begin("job", shell("sleep 60"), LIMIT)
    paths = [str(tmp_path / "jobs" / "job" / name) for name in ("started", "work")]
    real = [until(lambda at=path: files.read(at)) for path in paths]
    for path, note in zip(paths, real):
        files.replace(path, dict(note, **other))
    assert jobs.poll("job").state == CUT_OFF
    jobs.stop("job")  # does not touch the other process
    for path, note in zip(paths, real):
        files.replace(path, note)
    assert jobs.poll("job").state == RUNNING
    jobs.stop("job")
    assert ended(jobs, "job").state == OVER
