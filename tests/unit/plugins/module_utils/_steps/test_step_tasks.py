# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``tasks``, and the files that verify."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import VERIFICATION
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import completed, host


def test_its_files_are_found():
    step, words = completed("tasks", do="before.yml", undo="/files/after.yml")
    assert (step["do"], step["undo"]) == ("/files/before.yml", "/files/after.yml")
    assert words == ("before.yml", "run the tasks of before.yml", "run the tasks of /files/after.yml")
    assert completed("tasks", undo="after.yml")[1] == ("after.yml", "", "run the tasks of after.yml")


@pytest.mark.parametrize("direction", ["do", "undo"])
def test_a_file_that_is_not_there(direction):
    with pytest.raises(StepError, match="the file of " + direction + " is not there: nowhere.yml"):
        completed("tasks", **{direction: "nowhere.yml"})


def test_a_verification_only_undoes():
    step = {"type": "verify", "name": "", "undo": "after.yml"}
    assert VERIFICATION.complete(step, host(), "linux") == ("after.yml", "", "run the tasks of after.yml")
    assert step["undo"] == "/files/after.yml"
    with pytest.raises(StepError, match="the file is not there: nowhere.yml"):
        VERIFICATION.complete({"undo": "nowhere.yml"}, host(), "linux")
