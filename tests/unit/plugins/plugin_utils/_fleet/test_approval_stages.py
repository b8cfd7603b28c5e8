# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook approve, from stage to stage: what is asked, shown and refused."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import steady
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import confirmation
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.confirmation import (
    MOST_TRIES,
    is_heard,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import (
    answer,
    event,
    machine,
    mark,
    watcher,
)

SHOWN = event("A-1", "vm1")
EXPIRED = {"mark": mark("A-1"), "uptime": 999.0}
LIVING = {"mark": mark("A-1"), "uptime": 20.0}
RECORDED = "The confirmation of event A-1 is recorded on web1."


def machines(answers):
    return [machine(host, came) for host, came in answers.items()]


def begun(answers, event="a-1", check=False):
    return confirmation.begun(machines(answers), event, ["7"], "ann on ctl", check)


def ticked(approval, answers):
    return confirmation.moved_on(approval, machines(answers), answers, steady())


def asked_again(*events, **changes):
    return dict(answer(*events, **changes), ended=steady())


def test_a_confirmation_from_its_beginning_to_its_end():
    record = begun({"web1": answer(SHOWN, **EXPIRED)})
    assert record["stage"] == "record" and record["show"] == record["problems"] == []
    assert record["calls"] == {"web1": {"requests": [{"do": "yes", "event": "A-1", "by": "ann on ctl"}], "mark": {}}}
    record = ticked(record, {"web1": {"answers": [{}]}})
    assert record["stage"] == "ask" and list(record["calls"]) == ["web1"] and record["show"] == []
    record = ticked(record, {"web1": asked_again(SHOWN, **EXPIRED)})
    assert record["stage"] == "approve" and record["show"][0] == RECORDED and "web1 approves it" in record["show"][1]
    call = record["calls"]["web1"]
    assert call["mark"] == EXPIRED["mark"] and call["requests"][0]["ids"] == ["A-1"]
    assert call["requests"][0]["own"] == ["A-1"] and call["requests"][0]["allow_unknown"] == ["7"]
    done = ticked(record, {"web1": {"answers": [{"approved": ["A-1"]}]}})
    assert (done["stage"], done["problems"], done["calls"]) == ("over", [], {})
    assert done["show"].startswith("web1 has approved event A-1.")
    failed = ticked(record, {"web1": {}})
    assert (
        failed["stage"] == "over" and failed["show"] == [] and "the task that was to do it failed" in failed["problems"]
    )


def test_a_machine_that_its_own_watcher_has_prepared_is_asked_in_nobody_s_name():
    said = dict(
        answer(SHOWN, mark=mark("A-1", kind="watcher", run="watcher")),
        watcher=watcher(),
    )
    record = ticked(begun({"web1": said}), {"web1": {"answers": [{}]}})
    record = ticked(record, {"web1": dict(said, ended=steady())})
    assert record["stage"] == "approve" and record["calls"]["web1"]["mark"] == {}
    assert record["calls"]["web1"]["requests"][0]["by_watcher"]


def test_a_living_run_is_waited_for():
    record = ticked(begun({"web1": answer(SHOWN, **LIVING)}), {"web1": {"answers": [{}]}})
    assert record["stage"] == "wait" and list(record["calls"]) == ["web1"]
    assert record["show"] == ["Waiting for its run to renew the mark of web1, for 3 min at most."]
    last = asked_again(SHOWN, **LIVING)
    assert not is_heard(record, "web1", last, 1)
    record = ticked(record, {"web1": last})
    assert record["stage"] == "ask"
    silent = ticked(record, {"web1": last})
    assert (
        silent["stage"] == "over"
        and silent["problems"][0] == RECORDED
        and "has not renewed its mark" in silent["problems"][-1]
    )
    heard = ticked(record, {"web1": asked_again(SHOWN, mark=dict(mark("A-1"), number=99), uptime=20.0)})
    assert heard["stage"] == "over" and heard["problems"] == [] and heard["show"][0] == RECORDED


@pytest.mark.parametrize(
    "changes",
    [
        {"tries": MOST_TRIES},
        {"lost": "refused"},
        {"mark": None},
        {"mark": {"unreadable": "?"}},
        {"mark": dict(mark("A-1"), number=99)},
        {"boot_id": "another"},
        {"uptime": 10000.0},
    ],
)
def test_whom_nobody_waits_for_any_more(changes):
    record = ticked(begun({"web1": answer(SHOWN, **LIVING)}), {"web1": {"answers": [{}]}})
    tries = changes.get("tries", 1)
    assert is_heard(record, "web1", {**answer(SHOWN, **LIVING), **changes}, tries)


def test_where_no_machine_takes_the_confirmation_nothing_is_approved():
    record = ticked(begun({"web1": answer(SHOWN, **EXPIRED)}), {"web1": {"lost": "refused"}})
    assert record["stage"] == "over" and "could not be recorded on any of its machines" in record["problems"]


def test_a_confirmation_is_kept_where_machines_are_not_prepared():
    record = begun({"web1": answer(SHOWN)})
    assert record["stage"] == "record"
    record = ticked(record, {"web1": {"answers": [{}]}})
    assert record["stage"] == "over" and record["problems"][0] == RECORDED and len(record["problems"]) > 1


@pytest.mark.parametrize("wanted, says", [("B-2", "No machine is shown an event 'B-2'"), ("A-1", "")])
def test_check_mode_only_shows(wanted, says):
    record = begun({"web1": answer(SHOWN, **EXPIRED)}, wanted, check=True)
    assert record["stage"] == "over" and record["show"] and record["show"][0].startswith(says)
    assert record["problems"] == (record["show"] if says else [])


def test_what_has_started_is_no_failure():
    record = begun({"web1": answer(event("A-1", "vm1", status="Started"))})
    assert record["stage"] == "over" and record["problems"] == [] and "has started" in record["show"][0]
