# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.mark import (
    _FORM,
    _STEP_FORM,
    FORMAT,
    PHASES,
    STATES,
    MarkUnreadable,
    first_mark,
    held_by,
    job_name,
    merged,
    objection,
    parsed,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import (
    another_run,
    step,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import MARK

NOW = Moment(1767225600.0, 1000.0, "boot-1")
OPTIONS = {
    "run": "run-1",
    "number": 3,
    "holder": {"kind": "run", "run": "run-1", "job": "77", "controller": "ctl1"},
    "endpoint": "http://imds.test",
}


def a_mark(**changes):
    call = {"options": OPTIONS, "steps": [step("nginx", "service", password="secret")]}
    return dict(first_mark(call, ["E1"], 120.0, {"service nginx": {"ran": True}}, NOW), **changes)


def after(seconds, boot_id="boot-1"):
    return Moment(NOW.wall + seconds, NOW.uptime + seconds, boot_id)


def options(number, run="run-1", kind="run"):
    return {"run": run, "number": number, "holder": {"kind": kind}}


def test_a_mark_says_who_since_when_and_what_but_no_secrets():
    mark = a_mark()
    assert mark["holder"] == {"kind": "run", "run": "run-1", "job": "77", "controller": "ctl1"}
    assert (mark["since"], mark["renewed"]) == ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z")
    assert mark["lease"] == {"uptime": 1000.0, "boot_id": "boot-1", "until": 1120.0}
    assert mark["steps"][0]["before"] == {"ran": True}
    assert mark["steps"][0]["words"] == "do nginx"
    assert "secret" not in json.dumps(mark)


def test_it_is_read_as_it_was_written():
    assert parsed(json.dumps(a_mark())) == a_mark()


def test_the_schema_has_all_that_a_mark_is_read_by():
    step_schema = MARK["$defs"]["step"]
    assert {"format", *_FORM} <= set(MARK["required"]) and set(_STEP_FORM) <= set(step_schema["required"])
    assert MARK["properties"]["format"] == {"const": FORMAT}
    assert MARK["properties"]["phase"]["enum"] == list(PHASES)
    assert step_schema["properties"]["state"]["enum"] == list(STATES)


@pytest.mark.parametrize(
    "text, why",
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ("{}", "of which format"),
        (json.dumps(a_mark(format=True)), "of which format"),
        (json.dumps(a_mark(number="3")), "its number is '3'"),
        (json.dumps(a_mark(holder=None)), "its holder is None"),
        (json.dumps(a_mark(holder={"kind": "run"})), "its holder run is None"),
        (json.dumps(a_mark(phase="gone")), "its phase is 'gone'"),
        (json.dumps(a_mark(events=[1])), "its events are no texts"),
        (json.dumps(a_mark(note=[])), r"its note is \[\]"),
        (json.dumps(a_mark(steps=[{}])), "its of a step key is None"),
        (json.dumps(a_mark(steps=[dict(a_mark()["steps"][0], state="odd")])), "service nginx can't be understood"),
        (json.dumps(a_mark(lease={"uptime": 1, "boot_id": "b", "until": None})), "its lease until is None"),
    ],
)
def test_what_is_no_mark_is_not_taken_for_one(text, why):
    with pytest.raises(MarkUnreadable, match=why) as error:
        parsed(text)
    assert not error.value.is_newer


def test_a_newer_format_is_said_and_told_apart():
    with pytest.raises(MarkUnreadable, match="of format 2.*use the version that made it") as error:
        parsed('{"format": 2}')
    assert error.value.is_newer


def test_a_later_call_of_the_same_run_may_and_an_earlier_one_may_not():
    assert objection(a_mark(), options(4), after(5)) == ""
    for number in (3, 2):
        assert "comes too late" in objection(a_mark(), options(number), after(5))


def test_another_run_is_kept_off_while_the_holder_is_alive_and_hears_who_he_is():
    why = objection(a_mark(), options(9, "run-2"), after(100), take="run-1")
    assert "owned by run run-1 (job 77) on ctl1, since 2026-01-01T00:00:00Z" in why
    assert "another 20 s" in why


@pytest.mark.parametrize("moment", [after(120), after(5, "boot-2")], ids=["silent", "rebooted"])
def test_a_mark_that_was_not_renewed_is_taken_over_by_whoever_names_its_run(moment):
    assert objection(a_mark(), options(1, "run-2"), moment, take="run-1") == ""
    assert "name that run to take it over" in objection(a_mark(), options(1, "run-2"), moment)
    assert "name that run" in objection(a_mark(), options(1, "run-2"), moment, take="run-7")


def test_by_force_a_living_run_loses_its_mark_too():
    assert objection(a_mark(), options(1, "run-2"), after(5), take="run-1", forced=True) == ""
    assert objection(a_mark(), options(1, "run-2"), after(5), take="run-7", forced=True) != ""


def test_what_role_drain_took_out_its_own_recover_takes_back_and_a_run_does_not():
    drained = a_mark(phase="prepared", holder={"kind": "drain", "run": "d1", "job": "", "controller": "c"})
    assert objection(drained, options(1, "d2", "drain"), after(5)) == ""
    assert "only role drain's own recovery" in objection(drained, options(1, "run-2"), after(999), take="d1")
    assert objection(drained, options(1, "run-2"), after(999), take="d1", forced=True) == ""
    assert "taken to be alive" not in objection(drained, options(1, "run-2"), after(5))


def test_a_watchers_mark_is_the_watchers_however_long_it_has_been_silent():
    held = a_mark(holder={"kind": "watcher", "run": "watcher", "job": "", "controller": "web_1"})
    assert objection(held, options(4, "watcher", "watcher"), after(9999, "boot-9")) == ""
    for take in ("", "watcher"):
        why = objection(held, options(9, "run-2"), after(9999, "boot-9"), take=take)
        assert why.startswith("The machine is owned by its watcher, since 2026-01-01T00:00:00Z: only the machine's")
        assert why.endswith("own watcher takes that back, or a recovery that names this run and is forced to.")
    assert objection(held, options(9, "run-2"), after(5), take="watcher", forced=True) == ""
    assert objection(held, options(9, "run-2"), after(5), take="run-1", forced=True) != ""


def test_two_drains_at_once_keep_off_each_other():
    draining = a_mark(holder={"kind": "drain", "run": "d1", "job": "", "controller": "c"})
    assert objection(draining, options(1, "d2", "drain"), after(5)) != ""
    assert objection(draining, options(1, "d2", "drain"), after(120)) == ""


def test_taking_it_over_changes_whose_it_is_and_nothing_of_the_outage():
    taken = held_by(a_mark(), another_run(number=1), after(200))
    assert taken["holder"]["run"] == "run-2"
    assert taken["lease"] == {"uptime": 1200.0, "boot_id": "boot-1", "until": 1320.0}
    assert taken["since"] == a_mark()["since"]
    assert taken["steps"] == a_mark()["steps"]


def test_whoever_takes_it_over_goes_by_his_own_metadata_service_and_whoever_renews_it_does_not():
    """What an interrupted rehearsal left is the real run's from then on; a watcher whose endpoint was changed keeps what it wrote."""
    assert held_by(a_mark(), dict(another_run(number=1), endpoint=""), after(200))["endpoint"] == ""
    mark = a_mark()
    assert held_by(mark, dict(options(9), endpoint="http://other"), after(200))["endpoint"] == "http://imds.test"


def test_a_job_is_called_the_same_by_every_run_and_otherwise_the_next_time():
    mark, entry = a_mark(), a_mark()["steps"][0]
    name = job_name(mark, entry, "do")
    assert name == job_name(held_by(mark, another_run(), after(9)), entry, "do")
    others = {
        job_name(mark, entry, "undo"),
        job_name(mark, dict(entry, tries=1), "do"),
        job_name(dict(mark, since="2026-01-02T00:00:00Z"), entry, "do"),
        job_name(dict(mark, boot_id="boot-2"), entry, "do"),
    }
    assert len(others | {name}) == 5
    assert name.isalnum()


def test_events_are_merged_whatever_their_case():
    assert merged(["a", "B"], ["A", "c", "b"]) == ["a", "B", "c"]
