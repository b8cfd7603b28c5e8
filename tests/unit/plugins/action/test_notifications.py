# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""maintain_notify in whole plays: who is told what, that no receiver holds up a run, and that no secret is shown."""

import hashlib
import hmac
import json
import socket
import sys
import threading

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import ID, MAINTAIN
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, playbook
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import REPORT, wrong

HOSTS = f"linux1 ansible_connection=local ansible_python_interpreter={sys.executable}\n"
SECRET = "the-secret-of-the-receiver"
TOKEN = "the-token-of-the-chat"
SCENARIO = {
    "settings": {"rate_limit": 0},
    "vms": [{"name": "linux1", "scope": "web"}],
    "resources": ["linux1"],
    # Text from the wire must never be a template
    "events": [
        {
            "type": "Reboot",
            "id": ID,
            "notice": 900,
            "tail": 1,
            "duration": 1,
            "description": "{{ lookup('env', 'HOME') }}",
        }
    ],
}
HOOK = """#!/bin/sh
echo "$AZURE_MAINTENANCE_HAPPENED $AZURE_MAINTENANCE_PHASE $AZURE_MAINTENANCE_TYPE $AZURE_MAINTENANCE_ID" >> "{folder}/hook"
"""
TASKS = """
- name: Keep it
  ansible.builtin.lineinfile:
    path: "{{ folder }}/tasks"
    create: true
    mode: "0600"
    line: "{{ maintenance.happened }} {{ token }} {{ maintenance.event.description | default('') if maintenance.event else '' }}"
"""
WHOLE = ["scheduled", "planned", "prepared", "approved", "started", "ended", "recovered"]


def run(folder, notify, **variables):
    with emulator(folder, SCENARIO) as (address, _control):
        variables = {
            **MAINTAIN,
            "azure_maintenance_hosts": "all",
            "emulator": address,
            "azure_maintenance_folder": str(folder / "marks"),
            "maintain_notify": notify,
            "maintain_max_unavailable": "100%",
            **variables,
        }
        printed, status = playbook(folder, "cloudops.azure_maintenance.maintain", HOSTS, variables)
    return printed, status


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """A run with receivers of every kind: one that takes all, and others that hang, refuse, are down, or fail."""
    folder = tmp_path_factory.mktemp("told")
    for name, text in (("hook.sh", HOOK), ("tasks.yml", TASKS), ("fails.sh", "#!/bin/sh\necho it is broken; exit 3\n")):
        (folder / name).write_text(text.replace("{folder}", str(folder)))
        (folder / name).chmod(0o700)
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        let_go = threading.Event()
        with (
            Receiver() as takes,
            Receiver(otherwise=lambda handler: let_go.wait(60)) as hangs,
            Receiver(otherwise=422) as refuses,
        ):
            notify = [
                {"url": f"{takes.url}?token={TOKEN}", "secret": "{{ the_secret }}"},
                {"url": hangs.url},
                {"url": refuses.url},
                {"url": f"http://127.0.0.1:{nobody.getsockname()[1]}/down"},
                {"hook": str(folder / "hook.sh")},
                {"hook": str(folder / "fails.sh")},
                {"tasks": str(folder / "tasks.yml"), "vars": {"folder": str(folder), "token": TOKEN}},
            ]
            printed, status = run(folder, notify, the_secret=SECRET)
            let_go.set()
    return folder, printed, status, takes.requests, hangs.requests


def test_the_run_ends_well(told):
    assert told[2] == 0, told[1]


def test_the_receiver_gets_all_of_it_in_order(told):
    reports = [json.loads(body) for _headers, body, _path in told[3]]
    assert [report["happened"] for report in reports] == WHOLE
    assert [found for report in reports for found in wrong(report, REPORT)] == []
    assert {report["event"]["id"] for report in reports} == {ID}
    assert all(report["run"]["rehearsal"] and report["watcher"] == "maintain" for report in reports)
    assert reports[2]["labels"] == {"inventory_hostname": "linux1", "scope": "web"}
    assert reports[5]["outcome"] == "completed"


def test_each_is_signed_and_has_an_id_of_its_own(told):
    for headers, body, _path in told[3]:
        assert headers["X-Hub-Signature-256"] == "sha256=" + hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    assert len({headers["Idempotency-Key"] for headers, _body, _path in told[3]}) == len(WHOLE)


def test_hooks_and_tasks_are_run_for_each(told):
    lines = (told[0] / "hook").read_text().splitlines()
    assert lines == [f"{happened} notify Reboot {ID}" for happened in WHOLE]
    lines = (told[0] / "tasks").read_text().splitlines()
    # On a busy machine the end of the run does not wait for the last of them
    assert lines and [line.split()[0] for line in lines] == WHOLE[: len(lines)]
    assert len(lines) == len(WHOLE) or f"tasks.yml: {len(WHOLE) - len(lines)} of 7 were not sent" in told[1]
    assert lines[0].split(" ", 1)[1] == f"{TOKEN} {SCENARIO['events'][0]['description']}"


def test_what_could_not_be_sent_is_a_note_for_each_receiver(told):
    printed = told[1]
    assert printed.count("Notifications to http://127.0.0.1:") == 3
    assert "of 7 were not sent: no whole answer within 10 s" in printed
    assert "7 of 7 were not sent: HTTP 422" in printed
    assert "7 of 7 were not sent: no connection, or it was cut: Connection refused" in printed
    assert f"{told[0]}/fails.sh: 7 of 7 were not sent: it ended with exit code 3: it is broken" in printed
    assert len(told[4]) >= 1


def test_nothing_secret_is_shown(told):
    assert SECRET not in told[1] and TOKEN not in told[1]


def test_nothing_is_left_behind(told):
    assert list((told[0] / "local").glob("**/azure-maintenance-run*")) == []


def test_a_lookup_that_fails_in_the_middle_of_a_maintenance_is_a_note(tmp_path):
    """A vault that is sealed at night, say: here a file that the first notification removes."""
    (tmp_path / "token").write_text(TOKEN)
    (tmp_path / "seal.sh").write_text(f"#!/bin/sh\nrm -f {tmp_path}/token\n")
    (tmp_path / "seal.sh").chmod(0o700)
    (tmp_path / "tasks.yml").write_text("[]\n")
    token = f"{{{{ lookup('ansible.builtin.file', '{tmp_path}/token') }}}}"
    tasks = {"tasks": str(tmp_path / "tasks.yml"), "vars": {"token": token}}
    printed, status = run(tmp_path, [{"hook": str(tmp_path / "seal.sh")}, tasks])
    assert status == 0 and "recovered" in printed, printed
    assert (
        "Not all notifications could be sent while the run went on: a template in maintain_notify failed (" in printed
    )
    assert "Notifications could not be sent at the end of the run: a template in maintain_notify failed (" in printed
    assert f"{tmp_path}/token" not in printed
