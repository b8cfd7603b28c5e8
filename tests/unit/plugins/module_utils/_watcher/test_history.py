# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The history: lines for people, never more than its limit, and no failure when it can't be written."""

import json
import os
import stat

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.reporter import History, past
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report


def test_a_report_is_a_line(tmp_path):
    history = History(str(tmp_path))
    assert history.add(a_report("scheduled")) and history.add(a_report("prepared"))
    lines = (tmp_path / "history.jsonl").read_text(encoding="ascii").splitlines()
    assert [json.loads(line)["happened"] for line in lines] == ["scheduled", "prepared"]
    assert stat.S_IMODE((tmp_path / "history.jsonl").stat().st_mode) == 0o600


def test_it_never_grows_beyond_its_limit(tmp_path):
    history = History(str(tmp_path), 10000)
    for number in range(200):
        assert history.add(a_report(message=str(number)))
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 10000
    found = past(str(tmp_path), 1000).reports
    assert {path.name for path in tmp_path.iterdir()} == {"history.jsonl", "history.1.jsonl"}
    assert [report["message"] for report in found] == [str(number) for number in range(200 - len(found), 200)]
    assert len(found) >= 5


def test_one_that_is_larger_than_the_limit_puts_nothing_else_out(tmp_path):
    history = History(str(tmp_path), 100)
    history.add(a_report(message="first"))
    assert not (tmp_path / "history.1.jsonl").exists()


def test_the_latest_are_asked_for(tmp_path):
    history = History(str(tmp_path))
    for number in range(5):
        history.add(a_report(message=str(number)))
    assert [report["message"] for report in past(str(tmp_path), 2).reports] == ["3", "4"]
    assert past(str(tmp_path), 0).reports == []


def test_nothing_is_there_yet(tmp_path):
    assert past(str(tmp_path / "none"), 10) == ([], 0, "")


def test_whoever_was_cut_off_in_a_line_spoils_no_other(tmp_path):
    history = History(str(tmp_path))
    history.add(a_report(message="before"))
    with open(str(tmp_path / "history.jsonl"), "ab") as file:
        file.write(b'{"happened": "sho')
    history.add(a_report(message="after"))
    found = past(str(tmp_path), 10)
    assert [report["message"] for report in found.reports] == ["before", "after"]
    assert found.damaged == 1


def test_what_is_damaged_is_counted(tmp_path):
    lines = [b"\xff\x00\n", b"[1]\n", b'{"happened": 1}\n', b"[" * 100000 + b"\n", b"\n", b'{"happened": "ended"}\n']
    (tmp_path / "history.jsonl").write_bytes(b"".join(lines))
    assert past(str(tmp_path), 10) == ([{"happened": "ended"}], 4, "")


def test_a_folder_that_is_not_there_is_no_failure(tmp_path):
    history = History(str(tmp_path / "none"))
    assert not history.add(a_report())
    assert history.problem.endswith("history.jsonl can't be written: No such file or directory")
    (tmp_path / "none").mkdir()
    assert history.add(a_report())
    assert history.problem == ""


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "other").write_text("kept", encoding="ascii")
    os.symlink(str(tmp_path / "other"), str(tmp_path / "history.jsonl"))
    assert not History(str(tmp_path)).add(a_report())
    assert (tmp_path / "other").read_text(encoding="ascii") == "kept"


def test_a_full_disk_is_no_failure(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "write", lambda descriptor, line: len(line) - 1)
    history = History(str(tmp_path))
    assert not history.add(a_report())
    assert "the disk is full" in history.problem
