# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report is as docs/watcher_report.schema.json says, can be printed, and is not too large, whatever was said."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Say
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import (
    KINDS,
    MOST_BYTES,
    journal_fields,
    line_of,
    priority,
    report_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import (
    IDENTITY,
    MACHINE,
    MOMENT,
    a_report,
    an_event,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import REPORT, wrong

NASTY = "a\x1b[31m\n\r\t\x00\u202e\ud83db"


def strings(value):
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for pair in value.items() for part in pair for text in strings(part)]
    return [text for item in value for text in strings(item)] if isinstance(value, list) else []


@pytest.mark.parametrize("happened", sorted(KINDS))
def test_each_kind_is_as_the_schema_says(happened):
    assert wrong(a_report(happened), REPORT) == []
    assert wrong(a_report(happened, event=None, notice=None, outage="", outcome="cancelled"), REPORT) == []


@pytest.mark.parametrize("happened", sorted(KINDS))
def test_the_schema_tells_of_each_kind(happened):
    assert f" {happened}: " in REPORT["properties"]["happened"]["description"]


def test_the_check_finds_what_is_wrong():
    report = a_report()
    del report["outage"]
    report.update(id="1", outcome="fine", more=1, at="today")
    report["event"].update(duration=True, resources=[1])
    assert len(wrong(report, REPORT)) == 7


def test_it_says_what_happened():
    report = report_of(
        Say("ended", "It is over.", an_event(), 900.0, "completed", "o1", {"steps": [{"key": "1"}], "late": None}),
        IDENTITY,
        MOMENT,
        MACHINE,
    )
    event, unique = report.pop("event"), report.pop("id")
    assert report == {
        "format": 1,
        "at": "2026-01-01T00:00:00Z",
        "machine": {"name": "web1", "vm_id": IDENTITY.vm_id, "hostname": "web1.example.com"},
        "labels": {},
        "happened": "ended",
        "outage": "o1",
        "outcome": "completed",
        "message": "It is over.",
        "details": {"steps": [{"key": "1"}], "late": None},
        "version": "0.2.0",
        "watcher": "linux",
    }
    assert event["id"] == an_event().event_id
    assert event["not_before_utc"] == "2026-01-01T00:15:00Z" and event["notice"] == 900.0
    assert len(unique) == 36


def test_before_it_is_known_who_the_machine_is():
    report = report_of(Say("imds_unreachable", "Nothing is seen."), None, MOMENT, MACHINE)
    assert report["machine"] == {"name": "", "vm_id": "", "hostname": "web1.example.com"}
    assert wrong(report, REPORT) == []


def test_its_id_is_that_of_what_was_said_and_when():
    assert a_report()["id"] == a_report()["id"]
    others = [
        a_report(uptime=5000.01),
        a_report("started"),
        a_report(message="Other words."),
        a_report(outage="o2"),
        a_report(event=an_event(event_id="other")),
        a_report(moment=MOMENT._replace(boot_id="boot-2")),
        report_of(Say("scheduled", "It was shown."), IDENTITY._replace(vm_id="copy"), MOMENT, MACHINE),
    ]
    assert len({report["id"] for report in [a_report(), *others]}) == 8


def test_nothing_in_it_plays_tricks_on_a_terminal():
    odd = an_event(event_id=NASTY, event_type=NASTY, description=NASTY, resources=(NASTY,), raw_resources=(NASTY,))
    details = {NASTY: NASTY, "list": [NASTY, {"deep": NASTY}], "object": NASTY.split}
    report = report_of(
        Say("scheduled", NASTY, odd, None, NASTY, NASTY, details),
        IDENTITY._replace(name=NASTY),
        MOMENT,
        MACHINE._replace(hostname=NASTY),
    )
    assert [text for text in strings(report) if not text.isprintable()] == []
    assert report["message"] == "a [31m b"
    assert report["event"]["id"] == "a [31m      b"
    assert line_of(report).count(b"\n") == 1


def test_numbers_and_depths_that_json_lacks():
    endless = []
    endless.append(endless)
    details = {"nan": float("nan"), "inf": float("inf"), "big": 10**400, "endless": endless, "set": {2, 1}, "t": (1,)}
    found = json.loads(line_of(a_report(details=details)).decode("ascii"))["details"]
    assert found == {"nan": None, "inf": None, "big": 1e300, "endless": [[[[["..."]]]]], "set": [1, 2], "t": [1]}


def test_a_long_text_is_cut():
    report = a_report(message="x" * 10**6, details={"words": "y" * 10**6})
    assert len(report["message"]) == len(report["details"]["words"]) == 1000
    assert report["details"]["words"].endswith("...")


def test_what_is_too_large_loses_its_details_first():
    report = a_report(details={str(number): "z" * 1000 for number in range(200)})
    assert report["details"] == {"left_out": "there was too much to report"}
    assert report["event"]["resources"] == ["web1", "web2"]


@pytest.mark.parametrize("letter, kept", [("n", 20), ("\U0001f600", 0)])
def test_then_most_machines_of_the_event(letter, kept):
    names = tuple(f"{number}{letter * 2000}" for number in range(3000))
    odd = an_event(resources=names, raw_resources=names, description=letter * 2000, event_id=letter * 2000)
    report = a_report(event=odd, message=letter * 2000)
    assert len(line_of(report)) <= MOST_BYTES
    assert report["details"]["resources"] == 1000
    assert len(report["event"]["resources"]) == kept
    assert wrong(report, REPORT) == []


def test_a_thousand_machines_of_a_scale_set_are_all_told():
    names = tuple(f"scale-set-of-somebody_{number}" for number in range(1000))
    assert len(a_report(event=an_event(resources=names, raw_resources=names))["event"]["resources"]) == 1000


def test_how_urgent_it_is():
    assert {
        kind: priority(a_report(kind)) for kind in ("prepare_failed", "imds_unreachable", "recovered", "new_one")
    } == {
        "prepare_failed": 3,
        "imds_unreachable": 4,
        "recovered": 6,
        "new_one": 6,
    }


def test_what_the_journal_keeps():
    assert journal_fields(a_report("prepare_failed")) == {
        "report": a_report("prepare_failed")["id"],
        "happened": "prepare_failed",
        "outage": "o1",
        "outcome": "",
        "id": an_event().event_id,
        "type": "Reboot",
        "name": "web1",
    }
    assert journal_fields(a_report("imds_unreachable", event=None))["id"] == ""
