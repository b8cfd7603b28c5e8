# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of Ansible that is killed: while its approval waits for its turn, or between two steps of role drain. Nothing is done after that."""

import json
import os
import pathlib
import signal
import sys
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, start

ID = "0B7D7A24-9C1A-4B8E-8E5C-0B8C2A8F0C11"
SCENARIO = {
    "settings": {"rate_limit": 0},
    "vms": [{"name": "web1"}],
    "resources": ["web1"],
    "events": [{"type": "Reboot", "id": ID, "notice": 900, "tail": "never"}],
}
PLAY = """
- hosts: web1
  gather_facts: false
  tasks:
    - cloudops.azure_maintenance.scheduled_events_approve:
        endpoint: "{{ emulator }}"
        event_ids: ["{{ id }}"]
        rank: 1
        takeover: "{{ takeover }}"
        wait_sleep: 0.2
        wait: false
"""
HOSTS = f"web1 ansible_connection=local ansible_python_interpreter={sys.executable}\n"

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are looked up in /proc")


def parents():
    """The parent of every process."""
    found = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if words[0] != "Z":
            found[int(stat.parent.name)] = int(words[1])
    return found


def descendants(pid):
    found, parent_of = {pid}, parents()
    while True:
        more = {child for child, parent in parent_of.items() if parent in found} - found
        if not more:
            return found - {pid}
        found |= more


def journal(folder, kind):
    path = folder / "journal"
    lines = path.read_text().splitlines() if path.exists() else []
    return [entry for entry in map(json.loads, lines) if entry["kind"] == kind]


def until(what):
    end = time.monotonic() + 120
    while not what():
        assert time.monotonic() < end
        time.sleep(0.05)


def play(folder, takeover, signals):
    """Run the play and, when it looks for its turn to come, send it these signals; returns the POSTs that arrived until it was gone,
    and all of them."""
    (folder / "play.yml").write_text(PLAY)
    with emulator(folder, SCENARIO) as (address, _control):
        variables = {"emulator": address + "/vm/web1", "id": ID, "takeover": takeover}
        with start(folder, folder / "play.yml", HOSTS, variables) as run:
            until(lambda: len(journal(folder, "request")) > 3)
            started = descendants(run.pid)
            assert started or journal(folder, "post")  # it may be over already
            for number in signals:
                run.send_signal(number)
            run.wait(120)
        before = journal(folder, "post")
        until(lambda: not started.intersection(parents()))
        return before, journal(folder, "post")


def test_a_run_that_goes_on_approves(tmp_path):
    _before, posts = play(tmp_path, 1, [])
    assert [entry["vm"] for entry in posts] == ["web1"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_was_interrupted_does_not(tmp_path, number):
    # Whoever was killed tells nobody: its task sees that when its turn has come. Where that was before the kill, the next has more time.
    for takeover in (5, 20, 60) if number == signal.SIGKILL else (60,):
        folder = tmp_path / str(takeover)
        folder.mkdir()
        before, posts = play(folder, takeover, [number])
        if not before:
            break
    assert posts == []


DRAINS = """
- hosts: web1
  gather_facts: false
  roles: [cloudops.azure_maintenance.drain]
"""
WAITS = "touch $0/began; until [ -e $0/ends ]; do sleep 0.1; done; touch $0/ended"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_role_drain_begins_no_other_step(tmp_path, number):
    (tmp_path / "play.yml").write_text(DRAINS)
    steps = [{"type": "command", "do": ["sh", "-c", WAITS, str(tmp_path)]}]
    steps.append({"type": "command", "do": ["touch", str(tmp_path / "second")]})
    marks = str(tmp_path / "marks")
    variables = {"drain_steps": steps, "azure_maintenance_folder": marks}
    with start(tmp_path, tmp_path / "play.yml", HOSTS, variables) as run:
        until((tmp_path / "began").exists)
        started = descendants(run.pid)
        run.send_signal(number)
        run.wait(120)
    until(lambda: not started.intersection(parents()))
    (tmp_path / "ends").touch()
    until((tmp_path / "ended").exists)
    assert not (tmp_path / "second").exists()
