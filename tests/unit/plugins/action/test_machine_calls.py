# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action machine over a real connection, to this machine: calls that hang, are killed, or drown in noise."""

import json
import os
import pathlib
import stat
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import playbook

CALLS = pathlib.Path(__file__).with_name("calls")
PLAY = """
- hosts: all
  gather_facts: false
  tasks:
    - call_machine:
        work: machine
        call:
          requests: "{{ requests }}"
          run: r1
          number: 7
          seconds: "{{ seconds | default(omit) }}"
        options:
          folder: "{{ folder | default('') }}"
"""


def call(folder, cases, *, check_mode=False, **environment):
    """Run the action for each of these hosts at once; returns what it returned for each, and what was printed."""
    lines = []
    for host, variables in cases.items():
        words = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
        words.update(variables)
        lines.append(" ".join([host, *(f"{name}='{value}'" for name, value in words.items() if value)]))
    (folder / "play.yml").write_text(PLAY + ("  check_mode: true\n" if check_mode else ""))
    printed, status = playbook(
        folder,
        folder / "play.yml",
        "\n".join(lines) + "\n",
        {},
        ANSIBLE_ACTION_PLUGINS=str(CALLS),
        CALLS_FOLDER=str(folder),
        ANSIBLE_FORKS="10",
        **environment,
    )
    assert status == 0, printed
    assert "unreachable=1" not in printed and "failed=1" not in printed, printed
    return {host: json.loads((folder / f"{host}.json").read_text()) for host in cases}, printed


def plays(play, **more):
    return {"requests": json.dumps([dict(do="look", play=play)]), **more}


def runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_calls_of_all_kinds(tmp_path):
    found, printed = call(
        tmp_path,
        {
            "quick": plays(""),
            "hangs": plays("hang", seconds=500, folder=tmp_path / "hanging"),
            "killed": plays("killed"),
            "broken": plays("broken"),
            "silent": plays("silent"),
            "noisy": plays("noise"),
            "no_python": plays("", ansible_python_interpreter="/nowhere/python3"),
            "other_program": plays("", ansible_python_interpreter="/bin/cat"),
        },
    )
    quick = found["quick"]
    assert quick["lost"] == "" and quick["number"] == 7 and quick["boot_id"] == "b" and quick["mark"] is None
    assert [answer["msg"] for answer in quick["answers"]] == ["played:"]
    assert 0.5 < quick["answers"][0]["age"] < 600  # longer by what it took on the way
    assert quick["answers"][0]["began"] - quick["answers"][0]["age"] == pytest.approx(0.5)
    assert found["noisy"]["lost"] == "" and found["noisy"]["answers"][0]["msg"] == "played: noise"

    assert found["hangs"]["lost"] == (
        "It gave no answer within 500 s, and the call was ended: the machine or the network to it hangs."
    )
    pids = (tmp_path / "hanging").read_text().split()
    assert len(pids) == 2 and [pid for pid in pids if runs(pid)] == []
    assert found["hangs"]["answers"] is None and found["hangs"]["ask"] is None

    assert "killed there by signal 9" in found["killed"]["lost"]
    assert found["broken"]["lost"].endswith("with status 1: RuntimeError: it is broken.")
    assert found["silent"]["lost"] == "The program ended there without an answer, with status 3."
    assert found["no_python"]["lost"].startswith("There is no Python at /nowhere/python3 (")
    assert found["other_program"]["lost"] != ""
    assert "unreachable=0" in printed


def test_the_program_is_put_there_once(tmp_path):
    call(tmp_path, {"web1": plays("")})
    (folder,) = (tmp_path / "remote").glob("azure-maintenance-*")
    (program,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700 and stat.S_IMODE(program.stat().st_mode) == 0o600
    before = program.stat().st_mtime_ns
    call(tmp_path, {"web1": plays("")})
    assert program.stat().st_mtime_ns == before and len(list(folder.iterdir())) == 1


def test_an_interpreter_is_looked_for_once(tmp_path):
    found, _printed = call(
        tmp_path, {"web1": dict(plays(""), ansible_python_interpreter="auto_silent")}, PATH="/usr/bin:/bin"
    )
    assert found["web1"]["lost"] == ""
    assert os.path.isabs(found["web1"]["ansible_facts"]["discovered_interpreter_python"])


def test_check_mode_changes_nothing(tmp_path):
    requests = [{"do": "look"}, {"do": "go"}, {"do": "approve", "ids": ["x"]}, {"do": "take_off"}, {"do": "hello"}]
    found, _printed = call(tmp_path, {"web1": {"requests": json.dumps(requests)}}, check_mode=True)
    look, go, approve, take_off, hello = found["web1"]["answers"]
    assert look["msg"] == "played:" and hello["resource_name"] == "vm1"
    assert go["state"] == "refused" and go["why"] == take_off["problem"] == "check mode: nothing is changed"
    assert [entry["reason"] for entry in approve["not_approved"]] == ["check_mode"]
