# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run calls itself, which answers it takes, and what it prints while it moves on."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import run
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils import ticking
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import mark, put
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import begun, ticked


def test_each_run_has_a_name_of_its_own():
    assert begun("web1").run.name != begun("web1").run.name


@pytest.mark.parametrize(
    "answer, lost",
    [
        ({"number": 7}, None),
        ({"number": "7"}, None),
        ({"number": 6}, run.SILENT),
        ({"number": 6, "msg": "no Python there"}, "no Python there"),
        ({"number": 7, "lost": "the connection was cut"}, "the connection was cut"),
        ({}, run.SILENT),
    ],
)
def test_an_answer_to_another_call_is_none(answer, lost):
    assert run.checked(7, answer).get("lost") == lost


def test_the_first_mark_is_named_while_something_can_be_said(capsys):
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert "taken out of service" not in capsys.readouterr().out
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1"), mark_on="web1"))
    said = capsys.readouterr().out
    assert f"web1: marked by {record.run.name}, and being taken out of service." in " ".join(said.split())
    assert "begin the same command again" in " ".join(said.split()) and "rehearse" not in said
    ticked(record, ticking.answers(record, ticking.reboot("vm1"), mark_on="web1"))
    assert capsys.readouterr().out == ""


def test_it_is_said_again_when_machines_are_marked_after_none_was(capsys):
    record = begun("web1")
    said = run.Announced(record)
    for found in (mark(record.run.name, ["A"]), None, mark(record.run.name, ["B"])):
        put(record.hosts["web1"], said__mark=found)
        said.go_on()
        said.go_on()
    assert capsys.readouterr().out.count("and being taken out of service.") == 2


def test_a_rehearsal_is_not_begun_again_but_cleaned_up(capsys):
    record = begun("web1", "web2")
    answers = ticking.answers(record, ticking.reboot("vm1"), mark_on="web1")
    answers["web1"]["mark"]["endpoint"] = "http://10.0.0.11:8780/vm/web1"
    ticked(record, answers)
    said = " ".join(capsys.readouterr().out.split())
    assert (
        "rehearse with -e rehearse_state=absent recovers its machines" in said and "begin the same command" not in said
    )


def test_what_happens_is_said_when_it_happens(capsys):
    record = begun("web1", "web2")
    record = ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in said if line[:2] == "20"] == ["shown", "planned"]
    ticked(record, ticking.answers(record, ticking.reboot("vm1")))
    assert capsys.readouterr().out == ""
