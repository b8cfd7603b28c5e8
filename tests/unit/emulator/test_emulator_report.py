# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The report: what handlers did, out of the journal, and the limits that it can be held to."""

import json
import re

import pytest
from emulator_harness import LATEST
from imds_emulator.cli import main
from imds_emulator.report import last_start, make_report
from imds_emulator.report_limits import Limits, broken

FOREIGN = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def report(start, capsys):
    """An emulator that logs requests, and a function: its report as JSON, with some options, and the exit status."""
    emulator = start(options={"log_requests": True})

    def ask(*options):
        status = main(["report", "--json", "--control", emulator.service.urls["control"], *options])
        return json.loads(capsys.readouterr().out), status

    return emulator, ask


def one(found):
    (event,) = found["events"]
    return event


def test_an_event_that_was_approved_once(report):
    emulator, ask = report
    event_id = emulator.inject("Reboot", ["web1", "web2"], name="mine", tail=60)
    emulator.advance(10)
    assert emulator.approve(event_id, vm="web2").status == 200
    emulator.advance(60)
    found, status = ask()
    event = one(found)
    assert event["shown_to_approved"].pop("wall") < 60
    assert event["shown_to_started"].pop("wall") < 60
    assert event == {
        "id": event_id,
        "name": "mine",
        "type": "Reboot",
        "scope": "web",
        "resources": ["web1", "web2"],
        "cause": "approved",
        "outcome": "completed",
        "approved_by": ["web2"],
        "shown_to_approved": {"virtual": 10},
        "shown_to_started": {"virtual": 10},
        "posts": {"total": 1, "by_vm": {"web2": 1}},
        "repeated": 0,
        "late": 0,
    }
    assert (found["foreign"], found["malformed"], found["broken"], status) == ([], 0, [], 0)


def test_a_post_that_follows_an_answered_one_is_repeated(report):
    emulator, ask = report
    event_id = emulator.inject("Reboot", co_tenant_delay=60)
    for vm in ("web1", "web2", "web1"):
        emulator.approve(event_id, vm=vm)
    event = one(ask()[0])
    assert (event["posts"], event["repeated"], event["late"]) == ({"total": 3, "by_vm": {"web1": 2, "web2": 1}}, 2, 0)


@pytest.mark.parametrize("fault", [{"kind": "status", "status": 503}, {"kind": "lost_answer"}, {"kind": "reset"}])
def test_a_post_whose_answer_did_not_come_may_be_sent_again(report, fault):
    emulator, ask = report
    event_id = emulator.inject("Reboot", co_tenant_delay=60)
    emulator.control("POST", "/faults", dict(fault, method="POST", count=1))
    try:
        emulator.approve(event_id)
    except OSError:
        pass
    emulator.approve(event_id)
    event = one(ask()[0])
    assert (event["posts"]["total"], event["repeated"]) == (2, 0)


def test_posts_after_the_start_and_after_the_end_are_late(report):
    emulator, ask = report
    event_id = emulator.inject("Reboot", tail=60)
    emulator.control("POST", f"/events/{event_id}/start")
    emulator.approve(event_id)
    emulator.advance(60)
    emulator.approve(event_id.lower())
    found, _status = ask()
    assert (one(found)["late"], one(found)["posts"]["total"], found["foreign"]) == (2, 2, [])


def test_ids_of_nothing_and_of_other_scopes_are_foreign(report):
    emulator, ask = report
    other = emulator.inject("Reboot", ["lone"])
    emulator.approve(FOREIGN)
    emulator.approve(other)
    found, _status = ask()
    assert found["foreign"] == [
        {"vm": "web1", "event_id": FOREIGN, "reason": "no event has this id"},
        {"vm": "web1", "event_id": other, "reason": "it is one of scope lone"},
    ]
    assert one(found)["posts"]["total"] == 0


def test_posts_that_can_not_be_read(report):
    emulator, ask = report
    emulator.post("what?")
    assert ask()[0]["malformed"] == 1


def test_requests_by_vm_and_their_peak():
    moments = [0.0, 0.5, 0.9, 0.99, 1.2, 7.0, 8.0]
    entries = [
        {"seq": number, "kind": "request", "vm": "web1", "wall": 1000 + moment, "status": 429 if number == 4 else 200}
        for number, moment in enumerate(moments, 1)
    ]
    entries.append({"seq": 8, "kind": "request", "vm": "web2", "wall": 1008.0, "status": 200})
    found = make_report(entries).as_json()["requests"]
    assert found == {
        "web1": {"requests": 7, "peak_per_second": 4, "throttled": 1},
        "web2": {"requests": 1, "peak_per_second": 1, "throttled": 0},
    }


def a_second_later(emulator):
    clock = emulator.service.world.timeline.clock
    clock.wall = lambda wall=clock.wall: wall() + 1


def faulty(emulator):
    """Everything that a limit can object to."""
    event_id = emulator.inject("Reboot", name="bad")
    a_second_later(emulator)  # else all may fall into one millisecond
    emulator.advance(1)
    for _number in range(3):
        emulator.approve(event_id)
    emulator.approve(FOREIGN)
    emulator.post("{}")
    emulator.inject("Reboot", ["web2"])
    return event_id


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["--max-posts", "2"], "POSTs for event {id}: 3, at most 2"),
        (["--max-repeated", "1"], "repeated POSTs for event {id}: 2, at most 1"),
        (["--max-late", "0"], "POSTs for event {id} after it had started: 2, at most 0"),
        (["--max-foreign", "0"], "POSTs for foreign events: 1, at most 0"),
        (["--max-malformed", "0"], "POSTs that could not be read: 1, at most 0"),
        (["--max-rate", "0"], "requests of web1 within one second: "),
        (["--approved-within", "0"], "event {id} was approved after "),
        (["--approved-within", "60"], " was not approved"),
    ],
)
def test_a_limit_that_is_broken_is_the_exit_status(report, words, sentence):
    emulator, ask = report
    event_id = faulty(emulator)
    a_second_later(emulator)
    found, status = ask(*words)
    assert status == 3 and [text for text in found["broken"] if sentence.format(id=event_id) in text], found["broken"]


def test_limits_that_hold(report):
    emulator, ask = report
    faulty(emulator)
    most = {"posts": 3, "repeated": 2, "late": 2, "foreign": 1, "malformed": 1, "rate": 100}
    found, status = ask(*[f"--max-{name}={count}" for name, count in most.items()])
    assert (found["broken"], status) == ([], 0)


def test_a_limit_that_can_not_be_checked_is_broken(emulator, capsys):
    status = main(
        ["report", "--control", emulator.service.urls["control"], "--max-rate", "5", "--approved-within", "5"]
    )
    assert status == 3
    out = capsys.readouterr().out
    assert "BROKEN: the requests within a second are not known: start the emulator with --log-requests" in out
    assert "BROKEN: no event waited for an approval" in out


@pytest.mark.parametrize(
    "event",
    [
        {"event_type": "Reboot", "status": "Started"},
        {"event_type": "SpotRebalanceRecommendation"},
        {"event_type": "Freeze", "cancel_after": 5},
    ],
)
def test_what_nobody_had_to_approve_is_not_missed(report, event):
    emulator, ask = report
    emulator.inject(**event)
    emulator.advance(10)
    assert ask("--approved-within", "5")[0]["broken"] == [
        "no event waited for an approval, so nothing was approved in time"
    ]


def test_entries_that_are_gone_are_missed():
    entries = [{"seq": number, "kind": "clock"} for number in (3, 4, 7)]
    report = make_report(entries)
    assert report.forgotten == 4
    assert broken(report, Limits()) == ["4 entries are missing: give the journal's file"]


def test_a_file_counts_from_its_last_start(tmp_path, capsys):
    entries = [{"seq": number, "kind": "clock", "start": start} for start in (1, 2) for number in (1, 2, 3)]
    assert [entry["start"] for entry in last_start(entries)] == [2, 2, 2]
    journal = tmp_path / "journal.jsonl"
    journal.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    assert main(["report", "--json", str(journal)]) == 0
    assert json.loads(capsys.readouterr().out)["forgotten"] == 0


@pytest.mark.parametrize(
    "content, message",
    [
        (None, "can't be read: No such file"),
        ("what?\n", "line 1 is no entry"),
        ('{"seq": 1, "kind": "x"}\n[]\n', "line 2 is no"),
    ],
)
def test_a_file_that_is_no_journal(tmp_path, capsys, content, message):
    journal = tmp_path / "journal.jsonl"
    if content is not None:
        journal.write_text(content)
    assert main(["report", str(journal)]) == 1
    assert message in capsys.readouterr().err


def test_for_people(report, capsys):
    emulator, _ask = report
    event_id = faulty(emulator)
    emulator.look()
    assert main(["report", "--control", emulator.service.urls["control"], "--max-late", "0"]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Reboot of web1 (bad, {event_id})"
    seconds = r"\d+\.\d s( \(virtual 0 s\))?"  # by the watch, however slow the machine is
    assert re.fullmatch(
        f"  approved after {seconds} by web1; started after {seconds} \\(approved\\); still there", lines[1]
    )
    assert lines[2] == "  POSTs: web1 3; 2 repeated, 2 after it had started"
    lines[8] = re.sub("at most [1-6] within", "at most N within", lines[8])
    assert lines[4:] == [
        "  not approved; not started; still there",
        "  POSTs: none; 0 repeated, 0 after it had started",
        f"Foreign POST by web1 for {FOREIGN}: no event has this id",
        "POSTs that could not be read: 1",
        "web1 sent 6 requests, at most N within a second, 0 throttled",
        f"BROKEN: POSTs for event {event_id} after it had started: 2, at most 0",
    ]


def test_an_old_version_of_the_api_makes_no_difference(report):
    emulator, ask = report
    event_id = emulator.inject("Reboot")
    emulator.approve(event_id, version="2017-08-01")
    emulator.look(version=LATEST)
    assert one(ask()[0])["approved_by"] == ["web1"]
