# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A command at every change of an event."""

import json
import queue

import pytest
from emulator_program import VM, cli
from imds_emulator import on_change


def test_on_change(run, tmp_path):
    script = tmp_path / "note changes"
    script.write_text(
        '#!/bin/sh\nprintf "%s|" "$1" "$AZURE_EMULATOR_CHANGE" "$AZURE_EMULATOR_EVENT_ID" "$AZURE_EMULATOR_EVENT_NAME" "$AZURE_EMULATOR_EVENT_TYPE" '
        f'"$AZURE_EMULATOR_RESOURCES" "$AZURE_EMULATOR_SCOPE" "$AZURE_EMULATOR_OUTCOME" >> "{script}.out"\ncat >> "{script}.out"\necho >> "{script}.out"\n'
    )
    script.chmod(0o755)
    running = run("--speed", "0", "--on-change", f"'{script}' 'a $HOME; b'", *VM)
    event_id = cli(running, "inject", "Reboot", "web1", "web2", "name=mine", "--tail", "5", "notice=10").strip()
    cli(running, "clock", "--advance", "10")
    cli(running, "clock", "--advance", "5")
    entries = []
    while len(entries) < 3:
        since = str(entries[-1]["seq"] if entries else 0)
        news = cli(running, "journal", "--kind", "command", "--since", since, "--wait", "10").splitlines()
        assert news, "the command was not run"
        entries += [json.loads(line) for line in news]
    lines = [line.split("|", 8) for line in (tmp_path / "note changes.out").read_text().splitlines()]
    assert [line[:8] for line in lines] == [
        ["a $HOME; b", change, event_id, "mine", "Reboot", "web1 web2", "web", outcome]
        for change, outcome in (("scheduled", ""), ("started", ""), ("gone", "completed"))
    ]
    assert [json.loads(line[8])["status"] for line in lines] == ["Scheduled", "Started", "Gone"]
    assert [(entry["change"], entry["status"], entry["error"]) for entry in entries] == [
        ("scheduled", 0, ""),
        ("started", 0, ""),
        ("gone", 0, ""),
    ]


EVENT = {"id": "X", "name": "", "type": "Reboot", "resources": ["a"], "scope": "s", "outcome": ""}


@pytest.mark.parametrize(
    "command, time_limit, status, message",
    [
        ("/nothing/here", 30, None, "No such file"),
        ("sh -c 'echo oh >&2; exit 3'", 30, 3, "oh"),
        ("sleep 60", 0.2, None, "killed after 0.2 s"),
    ],
)
def test_commands_that_fail_are_reported(command, time_limit, status, message):
    ran = queue.Queue()
    on_change.OnChange(command, ran.put, time_limit).changed("started", EVENT)
    result = ran.get(timeout=120)
    assert result.status == status and message in result.error


def test_a_slow_command_holds_up_nothing(monkeypatch):
    monkeypatch.setattr(on_change, "WAITING", 2)
    ran = queue.Queue()
    runner = on_change.OnChange("sleep 60", ran.put, time_limit=5)
    for _number in range(8):
        runner.changed("started", EVENT)
    dropped = ran.get(timeout=120)
    assert "not run" in dropped.error and dropped.seconds == 0
