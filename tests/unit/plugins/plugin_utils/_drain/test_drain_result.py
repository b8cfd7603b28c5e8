# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports of steps in, ``drain_result`` out."""

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.report import (
    planned_step,
    result_of_check,
    result_of_run,
)

GOOD = {"name": "one", "type": "service", "ok": True, "changed": True, "seconds": 1.0, "message": ""}
BAD = {
    "name": "two",
    "type": "command",
    "ok": False,
    "changed": False,
    "seconds": 1.0,
    "message": "web1, step 2: broken.",
}


def result(reports, reverts=None, trouble=""):
    return result_of_run(reports, reverts, trouble, 3.21)


def test_a_run_that_went_well():
    assert result([GOOD]) == {
        "ok": True,
        "seconds": 3.2,
        "steps": [GOOD],
        "failed_step": "",
        "message": "",
        "reverted": False,
        "revert_errors": [],
    }


def test_a_run_that_was_undone():
    found = result([GOOD, BAD], reverts=[GOOD])
    assert not found["ok"] and found["failed_step"] == "two" and found["steps"] == [GOOD, BAD]
    assert found["reverted"] and found["revert_errors"] == []
    assert found["message"] == "web1, step 2: broken. What was done is undone."


def test_a_run_of_which_nothing_had_to_be_undone():
    found = result([BAD], reverts=[])
    assert found["reverted"] and found["message"] == "web1, step 2: broken. What was done is undone."


def test_a_run_that_could_not_be_undone():
    found = result([GOOD, BAD], reverts=[GOOD, dict(BAD, message="web1, step 1: stuck")])
    assert not found["reverted"] and found["revert_errors"] == ["web1, step 1: stuck"]
    assert found["message"] == "web1, step 2: broken. Undoing it failed as well: web1, step 1: stuck."


def test_every_failure_is_reported():
    found = result([BAD, GOOD, dict(BAD, name="three", message="web1, step 1: gone")])
    assert found["failed_step"] == "two" and found["message"] == "web1, step 2: broken. web1, step 1: gone."


def test_steps_that_could_not_be_run():
    found = result([], trouble="web1: drain_steps, step 1: wrong.")
    assert not found["ok"] and found["message"] == "web1: drain_steps, step 1: wrong." and not found["reverted"]


def test_check_mode_says_what_would_be_done():
    found = result_of_check([planned_step("one", "command", "run app drain")], 0.04)
    assert found["ok"] and found["message"] == "Check mode: nothing was run." and found["seconds"] == 0.0
    assert found["steps"] == [
        {
            "name": "one",
            "type": "command",
            "ok": True,
            "changed": False,
            "seconds": 0.0,
            "message": "would run app drain",
        }
    ]
