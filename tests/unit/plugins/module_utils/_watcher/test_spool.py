# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The spool: whole files, in order, never more than the limit, and nobody is stopped by what goes wrong here."""

import json
import os
import stat

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Say
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.last_try import (
    LastTry,
    read_last_try,
    write_last_try,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import report_of
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_queue import (
    AGAIN,
    LEAST_SHARE,
    Outcome,
    QueueConsumer,
    ReportQueue,
    waiting,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import (
    IDENTITY,
    MACHINE,
    MOMENT,
    a_report,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedClock


def dropped(words, count, why):
    return report_of(
        Say("reports_dropped", f"{count} to {words}: {why}", details={"count": count}), IDENTITY, MOMENT, MACHINE
    )


def a_spool(folder, *keys, **options):
    return ReportQueue(str(folder), {key: f"to-{key}" for key in keys or ("one",)}, options.get("most", 1), dropped)


def there(folder, key="one"):
    """(happened, message) of all that waits, in order."""
    place = folder / "spool" / key
    found = [json.loads((place / one.name).read_text(encoding="ascii")) for one in waiting(str(place))]
    return [(report["happened"], report["message"]) for report in found]


def test_one_file_a_report_and_destination(tmp_path):
    spool = a_spool(tmp_path, "one", "two")
    spool.add(a_report("scheduled"))
    spool.add(a_report("prepared"))
    for key in ("one", "two"):
        assert there(tmp_path, key) == [("scheduled", "It was scheduled."), ("prepared", "It was prepared.")]
    paths = [path for key in ("one", "two") for path in (tmp_path / "spool" / key).iterdir()]
    assert len(paths) == 4
    assert {stat.S_IMODE(path.stat().st_mode) for path in paths} == {0o600}
    assert stat.S_IMODE((tmp_path / "spool").stat().st_mode) == 0o700


def test_no_destination_no_spool(tmp_path):
    ReportQueue(str(tmp_path), {}, 1, dropped).add(a_report())
    assert list(tmp_path.iterdir()) == []


def test_after_a_restart_it_goes_on_behind_what_is_there(tmp_path):
    for message in ("1", "2", "3"):
        a_spool(tmp_path, "one", "two").add(a_report(message=message))
    for one in waiting(str(tmp_path / "spool" / "one")):  # all sent
        os.unlink(str(tmp_path / "spool" / "one" / one.name))
    a_spool(tmp_path, "one").add(a_report(message="4"))
    assert [one.number for one in waiting(str(tmp_path / "spool" / "one"))] == [7]


def test_the_oldest_go_first_and_that_is_said_in_their_place(tmp_path):
    spool = a_spool(tmp_path, most=1)
    for number in range(100):
        spool.add(a_report(message=str(number)))
        assert sum(one.size for one in waiting(str(tmp_path / "spool" / "one"))) <= LEAST_SHARE + 4096
    (happened, words), *rest = there(tmp_path)
    assert happened == "reports_dropped"
    assert words == f"{100 - len(rest)} to to-one: too many waited, as they could not be sent"
    assert [message for _happened, message in rest] == [str(number) for number in range(100 - len(rest), 100)]
    assert len(rest) > 40


def test_one_destination_puts_out_nothing_of_another(tmp_path):
    spool = a_spool(tmp_path, "one", "two", most=1)
    for number in range(100):
        spool.add(a_report(message=str(number)))
        for one in waiting(str(tmp_path / "spool" / "two")):
            os.unlink(str(tmp_path / "spool" / "two" / one.name))
    spool.add(a_report(message="last"))
    assert there(tmp_path, "two") == [("scheduled", "last")]


def test_what_goes_wrong_is_counted_and_said_when_it_is_over(tmp_path, monkeypatch):
    spool = a_spool(tmp_path, "one", "two")
    spool.add(a_report(message="before"))
    replace = files.replace

    def full(path, value):
        if "one" in path:
            raise OSError(28, "No space left on device")
        replace(path, value)

    monkeypatch.setattr(files, "replace", full)
    spool.add(a_report(message="lost"))
    spool.add(a_report(message="lost, too"))
    assert spool.problem == "the report for to-one can't be kept: No space left on device"
    monkeypatch.setattr(files, "replace", replace)
    spool.add(a_report(message="after"))
    assert there(tmp_path) == [
        ("scheduled", "before"),
        ("reports_dropped", "2 to to-one: they could not be kept until they are sent"),
        ("scheduled", "after"),
    ]
    assert there(tmp_path, "two") == [("scheduled", words) for words in ("before", "lost", "lost, too", "after")]
    assert spool.problem == ""
    spool.add(a_report(message="last"), 3)
    assert there(tmp_path)[-2:] == [
        ("reports_dropped", "3 to to-one: they could not be kept until they are sent"),
        ("scheduled", "last"),
    ]


@pytest.mark.parametrize("name", ["spool", "spool/one"])
def test_a_file_in_the_folders_place_is_no_failure(tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("", encoding="ascii")
    spool = a_spool(tmp_path)
    spool.add(a_report())
    assert spool.problem.startswith("the report for to-one can't be kept: ")


def test_what_is_no_report_does_not_wait(tmp_path):
    spool = a_spool(tmp_path)
    spool.add(a_report(message="1"))
    place = tmp_path / "spool" / "one"
    for name in ("last", "last.77", "000000000009.json.77", "x.json", "000000000009.json.tmp"):
        (place / name).write_text("", encoding="ascii")
    assert there(tmp_path) == [("scheduled", "1")]


def test_each_side_removes_what_it_left_half_written_and_nothing_of_the_other(tmp_path):
    """The daemon may start while the watcher writes a report."""
    place = tmp_path / "spool" / "one"
    a_spool(tmp_path).add(a_report(message="1"))
    for name in ("last", "last.77", "x.json", "000000000009.json.77", "000000000009.json.tmp"):
        (place / name).write_text("", encoding="ascii")
    QueueConsumer(
        str(place), "to-one", lambda body, path: Outcome(AGAIN, "not now"), ScriptedClock(), lambda urgency, words: None
    )
    of_the_watcher = {"000000000009.json.77", "000000000009.json.tmp"}
    stays = {"000000000001.json", "last", "x.json"}
    assert {path.name for path in place.iterdir()} == stays | of_the_watcher
    a_spool(tmp_path).add(a_report(message="2"))
    assert {path.name for path in place.iterdir()} == stays | {"000000000002.json"}


def test_what_came_of_the_last_try(tmp_path):
    assert read_last_try(str(tmp_path)) == LastTry()
    for content in ("", "[]", "7"):
        (tmp_path / "last").write_text(content, encoding="ascii")
        assert read_last_try(str(tmp_path)) == LastTry()
    files.replace(str(tmp_path / "last"), {"at": "now", "words": "taken"})
    assert read_last_try(str(tmp_path)) == LastTry("now", "taken")
    whole = LastTry("now", "HTTP 401 Unauthorized", 401, "now", 2, "the last one")
    write_last_try(str(tmp_path), whole)
    assert read_last_try(str(tmp_path)) == whole and whole.is_refused
    assert not whole._replace(words="HTTP 200 OK").is_refused
