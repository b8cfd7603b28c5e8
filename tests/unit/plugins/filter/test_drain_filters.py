# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The role's filters: what they hand to the plain Python behind them, and what they make of files and systems."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter import drain_record, drain_steps

GROUPS = {"all": ["web1", "lb1"]}
OPTIONS = {
    "host": "web1",
    "list": "prepare",
    "budgets": {"prepare": "300.0", "recover": "600", "revert": 120},
    "check_mode": "False",
    "may_fail": "yes",
}
COMMAND = {"type": "command", "name": "one", "do": "a b"}


def plan(steps, **more):
    return drain_steps.drain_steps(steps, **dict({"host": "web1", "system": "linux", "groups": GROUPS}, **more))


@pytest.mark.parametrize("module", [drain_record, drain_steps])
def test_each_file_has_the_filter_of_its_name(module):
    name = module.__name__.rsplit(".", 1)[1]
    assert module.FilterModule().filters() == {name: getattr(module, name)}


def test_the_steps_time_is_the_one_asked_for():
    assert plan([{"type": "service", "name": "x"}], timeout="7")["prepare"][0]["timeout"] == 7.0


def test_a_system_that_is_none():
    with pytest.raises(AnsibleFilterError, match="system is 'mac'; it is one of linux, windows"):
        plan([], system="mac")


def test_task_files_are_looked_for_in_order(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
    (tmp_path / "two" / "mine.yml").write_text("[]")
    search = ["", str(tmp_path / "one"), str(tmp_path / "two")]
    step = {"type": "tasks", "do": "mine.yml"}
    assert plan([step], search=search)["prepare"][0]["do"] == str(tmp_path / "two" / "mine.yml")
    (tmp_path / "one" / "mine.yml").write_text("[]")
    assert plan([step], search=search)["prepare"][0]["do"] == str(tmp_path / "one" / "mine.yml")
    (tmp_path / "one" / "mine.yml").unlink()
    absolute = {"type": "tasks", "do": str(tmp_path / "two" / "mine.yml")}
    assert plan([absolute])["prepare"][0]["do"] == absolute["do"]
    assert "is not there: mine.yml" in plan([step])["errors"][0]


def test_the_system_of_a_delegate_is_told_by_its_variables():
    step = dict(COMMAND, delegate_to="lb1")
    assert plan([step])["prepare"][0]["files"]["do"] == "steps/command/linux.yml"
    hostvars = {"lb1": {"ansible_connection": "winrm"}}
    assert plan([step], hostvars=hostvars)["prepare"][0]["files"]["do"] == "steps/command/windows.yml"


def test_a_step_is_not_changed_by_planning_it():
    step = {"type": "http", "do": {"url": "http://a/", "until": {}}}
    plan([step])
    assert step == {"type": "http", "do": {"url": "http://a/", "until": {}}}


def test_a_run_by_its_record():
    """Every move of a run, with numbers and truth values as templates of older ansible-cores make them."""
    made = plan([COMMAND, {"type": "connections", "port": 443}])
    record = drain_record.drain_record(OPTIONS, "begun", at="1000.5")
    assert record["ends"] == 1300.5 and record["check_mode"] is False and record["may_fail"] is True

    def move(happened, at, **known):
        return drain_record.drain_record(record, happened, at=at, **known)

    record = move("planned", "1001", plan=made)
    record = move("started", "1002")
    record = move("did", "1003.5", step=made["prepare"][0], result={"changed": True})
    record = move("started", "1004")
    assert move("waited", "1005")["todo"]["wait"] == 59
    record = move("saw", "1006", step=made["prepare"][1], result={"result": {"left": 1}}, about="gone")
    assert record["todo"]["look_again"] and record["todo"]["stop"]
    record = move("failed", "1007", step=made["prepare"][1], result={"failed": True, "msg": record["todo"]["stop"]})
    record = move("reverting", "1008")
    assert record["todo"]["rounds"] == 0
    result = move("ended", "1009")["result"]
    assert result["steps"][0]["seconds"] == 1.5 and result["failed_step"] == "connections of port 443"
    assert move("stopped", "1009", result={"msg": "template error"})["trouble"] == "template error"


def test_something_that_can_not_happen():
    with pytest.raises(AnsibleFilterError, match="drain_record knows no 'hapened'; it knows begun, planned"):
        drain_record.drain_record({}, "hapened", at=1)
