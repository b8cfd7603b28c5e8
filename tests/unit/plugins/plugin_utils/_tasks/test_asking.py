# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the playbooks of a person ask their machines, over lines that are real processes."""

from __future__ import annotations

import json
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines import lines as lines_module
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import asking as module
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.asking import Asking, Machines
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.host_variables import Reach

LONG = 30.0  # seconds
MARK = {"number": 6, "holder": {"kind": "run", "run": "r7"}}


class Far:
    """The far end of a line: writes down what it is called for, and answers once the file of a name is there."""

    def __init__(self, folder, host, waits_for):
        self.folder, self.host, self.waits_for = folder, host, waits_for

    def call(self, call, _limit):
        end = time.monotonic() + LONG
        while self.waits_for and not (self.folder / self.waits_for).exists() and time.monotonic() < end:
            time.sleep(0.01)
        with open(self.folder / self.host, "a", encoding="utf-8") as file:
            file.write(json.dumps(call["call"]) + "\n")
        return {"lost": "", "answers": [], "heard": {"uptime": 7.0}}

    def close(self):
        pass


@pytest.fixture
def machines(tmp_path, monkeypatch):
    """Machines whose answers wait for the file of a name, each as soon as it is called; "gone" has left the play."""

    def said_of(self, host, _types):
        said = Asked(host, True, "", {})
        return module._Machine(said, Reach({"call_timeout": "0"}, False), "no number" if host == "wrong" else "")

    monkeypatch.setattr(module, "OptionTypes", lambda *_: None)
    monkeypatch.setattr(Machines, "_said_of", said_of)

    def made(**waits):
        monkeypatch.setattr(
            Machines, "_connect", lambda self, target, _hung: lambda: Far(tmp_path, target.host, waits[target.host])
        )
        hosts = {"ansible_play_hosts_all": [*waits, "gone"], "ansible_play_batch": list(waits)}
        return Machines(None, hosts, "status")

    return made


def calls_of(folder, host):
    return [json.loads(line) for line in (folder / host).read_text().splitlines()]


def test_no_machine_waits_for_another(machines, tmp_path):
    with machines(web1="web2", web2="web3", web3="") as all_of_them:
        all_of_them.ask()
    assert {one.host: one.answer.get("lost") for one in all_of_them.asked} == {
        "web1": "",
        "web2": "",
        "web3": "",
        "gone": None,
    }


def test_one_that_hangs_costs_its_own_limit(machines, monkeypatch):
    monkeypatch.setattr(lines_module, "GRACE", 0.5 - module.SECONDS)
    began = time.monotonic()
    with machines(web1="never", web2="") as all_of_them:
        all_of_them.ask()
    assert all_of_them.answers["web1"]["lost"].startswith("It gave no answer within 30 s")
    assert all_of_them.answers["web2"]["lost"] == "" and time.monotonic() - began < LONG / 2


def test_one_is_called_again_until_it_is_enough_and_changes_something_once_it_was_heard(machines, tmp_path):
    asked = []

    def again(host, answer, times):
        asked.append((host, times))
        return 0.01 if host == "web1" and times < 3 else None

    with machines(web1="", web2="") as all_of_them:
        all_of_them.ask(["web1", "web2"], again=again)
        all_of_them.call({"web2": Asking([{"do": "take_off"}], MARK)})
    assert sorted(asked) == [("web1", 1), ("web1", 2), ("web1", 3), ("web2", 1)]
    first, second = calls_of(tmp_path, "web2")
    assert first["requests"] == [{"do": "hello"}, {"do": "look", "wait": 0}]
    assert (first["run"], first["number"], "heard" in first) == ("", 0, False)
    assert (second["run"], second["number"], second["heard"]) == ("r7", 7, {"uptime": 7.0})


def test_one_whose_options_can_not_be_used_is_not_called(machines, tmp_path):
    with machines(wrong="", web1="") as all_of_them:
        all_of_them.ask()
    assert all_of_them.hosts == ["web1"] and all_of_them.wrong == ["wrong"]
    assert all_of_them.answers["wrong"]["lost"] == "no number" and not (tmp_path / "wrong").exists()
