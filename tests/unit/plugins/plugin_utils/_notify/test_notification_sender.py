# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sender does about one receiver, in this process: hooks, tasks and URLs, and what cannot be sent."""

from __future__ import annotations

import io
import json
import sys

import pytest
from ansible.parsing.dataloader import DataLoader

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify import sender
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._notify.receivers import receivers_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report

# Stands in for ansible-playbook: keeps what it was given
PLAYBOOK = """
import pathlib, sys
inventory, variables, playbook = sys.argv[2], sys.argv[4], sys.argv[5]
kept = pathlib.Path(__file__).with_suffix(".log")
kept.write_text(inventory + "\\n" + pathlib.Path(variables[1:]).read_text() + pathlib.Path(playbook).read_text())
"""


class Sender:
    """The folder of a run, with what waits in it."""

    def __init__(self, folder, *entries):
        self.folder = folder / "run"
        self.receivers = receivers_of(list(entries))
        (folder / "playbook.py").write_text(PLAYBOOK)
        self.work = sender.Work(
            str(self.folder), 30.0, "1.2.3", self.receivers, [sys.executable, str(folder / "playbook.py")]
        )

    def wait(self, *reports):
        for one in self.receivers:
            (self.folder / one.key).mkdir(parents=True, exist_ok=True)
            for number, report in enumerate(reports, 1):
                (self.folder / one.key / f"{number:012}.json").write_text(json.dumps(report))
        return self

    def state(self):
        (one,) = self.receivers
        return json.loads((self.folder / one.key / "state.json").read_text())


def test_a_hook_gets_the_variables_and_the_file(tmp_path):
    hook = tmp_path / "hook"
    hook.write_text(
        f'#!/bin/sh\necho "$AZURE_MAINTENANCE_MESSAGE" >> {tmp_path}/out\ncat "$AZURE_MAINTENANCE_FILE" >> {tmp_path}/out\n'
    )
    hook.chmod(0o700)
    report = a_report("prepared")
    one = Sender(tmp_path, {"hook": str(hook)}).wait(report)
    sender.run(one.work)
    message, file = (tmp_path / "out").read_text().splitlines()
    assert message == report["message"] and json.loads(file) == report
    assert one.state() == {"sent": 1, "given_up": 0, "problem": ""}


def test_tasks_get_what_was_said_as_text_and_never_as_a_template(tmp_path):
    tasks = tmp_path / "tell.yml"
    tasks.touch()
    report = a_report("prepared", message="{{ lookup('env', 'HOME') }}")
    one = Sender(tmp_path, {"tasks": str(tasks), "vars": {"token": "t"}}).wait(report)
    sender.run(one.work)
    inventory, variables, token, playbook = (tmp_path / "playbook.log").read_text().splitlines()
    assert inventory == "localhost,"
    name, _colon, value = variables.partition(": ")
    assert name == '"maintenance"' and json.loads(value.replace("!unsafe ", "")) == report
    assert f'"message": !unsafe {json.dumps(report["message"])}' in value and '"web1", "web2"' not in value
    assert token == '"token": !unsafe "t"'
    assert json.loads(playbook)[0]["tasks"][0]["ansible.builtin.include_tasks"] == str(tasks)
    assert (one.folder / f"{one.receivers[0].key}.json").stat().st_mode & 0o777 == 0o600


def test_tasks_get_every_character_as_it_was_sent(tmp_path):
    tasks = tmp_path / "tell.yml"
    tasks.touch()
    words = 'Größe \U0001f680 \u2028\u0085\ufeff\x7f\x00\n\t \\ "quoted" {{ 1 }}'
    one = Sender(tmp_path, {"tasks": str(tasks), "vars": {words: [words, 1, 0.5, None, True]}})
    one.wait(dict(a_report("prepared"), said=words, half="half \ud83d"))
    sender.run(one.work)
    found = DataLoader().load_from_file(str(one.folder / f"{one.receivers[0].key}.json"))
    assert one.state()["sent"] == 1
    assert found[words] == [words, 1, 0.5, None, True]
    assert found["maintenance"]["said"] == words and found["maintenance"]["half"] == "half ?"


def test_a_program_that_fails_is_not_run_again(tmp_path):
    hook = tmp_path / "hook"
    hook.write_text(f"#!/bin/sh\necho run >> {tmp_path}/out; echo no chat today; exit 3\n")
    hook.chmod(0o700)
    one = Sender(tmp_path, {"hook": str(hook)}).wait(a_report())
    sender.run(one.work)
    assert (tmp_path / "out").read_text() == "run\n"
    assert one.state() == {"sent": 0, "given_up": 1, "problem": "it ended with exit code 3: no chat today"}


def test_a_url_is_sent_what_waits_and_what_is_too_old_is_given_up(tmp_path, monkeypatch):
    with Receiver(200, otherwise=503) as stand_in:
        one = Sender(tmp_path, {"url": stand_in.url, "secret": "s"}).wait(a_report(), a_report("prepared"))
        monkeypatch.setattr(sender, "KEPT", -1.0)
        sender.run(one.work)
        assert len(stand_in.requests) == 2 and "X-Hub-Signature-256" in stand_in.requests[0][0]
    assert one.state() == {"sent": 1, "given_up": 1, "problem": "HTTP 503 Service Unavailable"}


def test_what_can_not_be_read_does_not_hold_up_what_comes_after(tmp_path):
    one = Sender(tmp_path, {"hook": "/bin/true"}).wait(a_report(), a_report("prepared"))
    next((one.folder / one.receivers[0].key).glob("*1.json")).write_text("{")
    sender.run(one.work)
    assert one.state()["sent"] == 1 and one.state()["given_up"] == 1


@pytest.mark.parametrize("is_there", [True, False])
def test_it_ends_when_the_run_is_over(tmp_path, is_there):
    one = Sender(tmp_path, {"hook": str(tmp_path / "hook")})
    if is_there:
        one.wait(a_report())
        (one.folder / sender.STOP).touch()
    sender.run(one.work)
    assert not (tmp_path / "out").exists()


def test_another_one_that_sends_already_is_left_alone(tmp_path):
    one = Sender(tmp_path, {"hook": "/bin/true"}).wait(a_report())
    with open(one.folder / sender.LOCK, "w") as lock:
        sender.native.lock(lock.fileno())
        sender.run(one.work)
    assert not (one.folder / one.receivers[0].key / "state.json").exists()


def test_its_work_comes_by_standard_input(tmp_path, monkeypatch):
    one = Sender(tmp_path, {"hook": "/bin/true"}).wait(a_report())
    given = {**one.work._asdict(), "receivers": [each._asdict() for each in one.receivers]}
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(given)))
    sender.main()
    assert one.state()["sent"] == 1
