# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``command``."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.commands import COMMAND
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import is_verified
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import completed


def test_a_line_is_split_into_arguments_and_never_goes_to_a_shell():
    step, words = completed("command", do="echo 'a b' $(id) ; rm", undo=["sleep", 5])
    assert step["do"] == {"argv": ["echo", "a b", "$(id)", ";", "rm"]}
    assert step["undo"] == {"argv": ["sleep", "5"]}
    assert (words.does, words.undoes) == ("run echo 'a b' '$(id)' ';' rm", "run sleep 5")
    assert words.subject == "echo 'a b' '$(id)' ';' rm"


def test_a_windows_line_is_left_as_it_is():
    step, words = completed("command", "windows", do=r'"C:\Program Files\app.exe" /drain', undo=["app.exe", "a b"])
    assert step["do"] == {"cmd": r'"C:\Program Files\app.exe" /drain'}
    assert step["undo"] == {"argv": ["app.exe", "a b"]}
    assert words.does == r'run "C:\Program Files\app.exe" /drain'


def test_either_is_enough():
    assert completed("command", do="one")[1] == ("one", "run one", "")
    assert completed("command", undo="two")[1] == ("two", "", "run two")


@pytest.mark.parametrize("system", ["linux", "windows"])
@pytest.mark.parametrize("command", ["login --password geheim", ["login", "geheim"]])
def test_a_secret_one_is_not_shown(command, system):
    assert "geheim" not in "".join(completed("command", system, do=command, no_log=True)[1])


def test_an_environment_is_of_texts():
    assert completed("command", do="x", environment={1: 2})[0]["environment"] == {"1": "2"}


@pytest.mark.parametrize(
    "options, words",
    [
        ({"do": {"cmd": "x"}}, "do is a dictionary, not a command line or a list of arguments"),
        ({"do": ["x", ["y"]]}, "do is a list, not a command line"),
        ({"do": True}, "do is true or false, not a command line"),
        ({"do": "echo 'open"}, "do can't be split into arguments: No closing quotation"),
        ({"do": "x", "undo": "  "}, "undo names no program"),
        ({"do": "x", "check": ""}, "check names no program"),
        ({"do": "x", "check": False}, "check is true or false, not a command line"),
        ({"undo": "x", "check": "y"}, "the step has no do"),
        ({"do": "x", "check": "y", "creates": "/z"}, "check and creates don't go together"),
    ],
)
def test_what_is_no_command(options, words):
    with pytest.raises(StepError, match=words):
        completed("command", **options)


def test_the_program_timeout_says_that_it_ended_the_command():
    assert COMMAND.timed_out({"rc": 124, "cmd": ["timeout", "-k", "5", "5", "app"]})
    assert not COMMAND.timed_out({"rc": 124, "cmd": ["app"]}) and not COMMAND.timed_out({"rc": 1, "cmd": ["timeout"]})


def test_an_empty_check_is_none_on_windows_either():
    with pytest.raises(StepError, match="check names no program"):
        completed("command", "windows", do="app.exe", check=" ")


def test_its_check_is_a_command_of_the_same_form():
    assert completed("command", do="x", check="ctl 'is drained'")[0]["check"] == {"argv": ["ctl", "is drained"]}
    assert completed("command", "windows", do="x", check=r"C:\ctl.exe /q")[0]["check"] == {"cmd": r"C:\ctl.exe /q"}


@pytest.mark.parametrize("more, is_one", [({}, False), ({"check": "ctl"}, True)])
def test_it_is_verified_where_it_has_a_check(more, is_one):
    assert is_verified(dict(completed("command", do="x", **more)[0], type="command")) is is_one
