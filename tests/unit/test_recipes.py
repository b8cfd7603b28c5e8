# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""docs/recipes, run as hooks are run, against stand-ins on loopback and a real Alertmanager and sendmail."""

from __future__ import annotations

import base64
import contextlib
import email
import email.header
import json
import pathlib
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.notify_hooks import (
    environment,
    run_hook,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import line_of
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import a_report

RECIPES = pathlib.Path(__file__).parents[2] / "docs" / "recipes"
RUN = {"run": "run-1", "job": "", "controller": "here", "rehearsal": False}


@pytest.fixture
def hook(tmp_path):
    """Runs a recipe for a report, under a name of its own with its settings beside it; what went wrong, or ""."""

    def run(recipe, settings, report, mode=0o600):
        program = tmp_path / f"10-{recipe}"
        shutil.copy(RECIPES / recipe, program)
        file = tmp_path / "report.json"
        file.write_bytes(line_of(report))
        lines = tmp_path / f"10-{recipe}.conf"
        lines.write_text("# a comment\n" + "".join(f"{key}={value}\n" for key, value in settings.items()))
        lines.chmod(mode)
        surroundings = dict(environment(report, str(file), None, 60), HOME=str(tmp_path))
        return run_hook([str(program)], surroundings, None, 60, Clock())

    return run


def posted(receiver):
    return [json.loads(body) for _headers, body, _path in receiver.requests]


def test_slack(hook):
    report = a_report("prepare_failed", message="It failed: a < b & c")
    with Receiver() as stand_in:
        assert hook("post", {"kind": "slack", "url": stand_in.url}, report) == ""
        (message,) = posted(stand_in)
    assert set(message) == {"text"}
    assert message["text"].startswith(
        "*Azure maintenance: prepare_failed on web1*\nIt failed: a &lt; b &amp; c\nEvent: Reboot "
    )


def test_teams(hook):
    report = dict(a_report("recovered"), run=dict(RUN, rehearsal=True))
    with Receiver(otherwise=202) as stand_in:
        assert hook("post", {"kind": "teams", "url": stand_in.url}, report) == ""
        (message,) = posted(stand_in)
    assert message["type"] == "message"
    (attachment,) = message["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert card["type"] == "AdaptiveCard"
    assert card["body"][0]["text"] == "[rehearsal] Azure maintenance: recovered on web1"
    assert {"title": "Machines", "value": "web1, web2"} in card["body"][2]["facts"]


@pytest.mark.parametrize(
    "begins, ends",
    [
        ("prepare_failed", "recovered"),
        ("recovery_failed", "recovered"),
        ("imds_unreachable", "imds_reachable"),
        ("degraded", "healthy"),
    ],
)
def test_pagerduty_is_triggered_and_resolved(hook, begins, ends):
    with Receiver(otherwise=202) as stand_in:
        settings = {"kind": "pagerduty", "key": "the-integration-key", "url": stand_in.url}
        for happened in ("scheduled", begins, "started", ends):
            assert hook("post", settings, a_report(happened)) == ""
        trigger, resolve = posted(stand_in)
    assert (trigger["event_action"], resolve["event_action"]) == ("trigger", "resolve")
    assert trigger["dedup_key"] == resolve["dedup_key"] and len(trigger["dedup_key"]) <= 255
    assert trigger["routing_key"] == resolve["routing_key"] == "the-integration-key"
    payload = trigger["payload"]
    assert payload["source"] == "web1" and payload["severity"] in ("error", "warning")
    assert payload["summary"].startswith(f"Azure maintenance: {begins} on web1: ")


def test_a_problem_of_a_run_is_one_incident_though_its_words_change(hook):
    with Receiver(otherwise=202) as stand_in:
        settings = {"kind": "pagerduty", "key": "k", "url": stand_in.url}
        for happened, words, rehearsal in (("problem", "for 30 s", True), ("problem_solved", "for 60 s", True)):
            report = a_report(happened, message=words, details={"subject": "event A: approval"}, event=None)
            report["machine"] = dict(report["machine"], name="")
            report["run"] = dict(RUN, rehearsal=rehearsal)
            assert hook("post", settings, report) == ""
        trigger, resolve = posted(stand_in)
    assert trigger["dedup_key"] == resolve["dedup_key"] and resolve["event_action"] == "resolve"
    assert trigger["payload"]["severity"] == "info"  # nobody is to be woken for a rehearsal


def test_what_is_refused_or_wrong_is_said_without_the_secret(hook):
    report = a_report("prepare_failed")
    with Receiver(otherwise=403) as stand_in:
        said = hook("post", {"kind": "slack", "url": stand_in.url + "/T0KEN"}, report)
        assert said == "it ended with exit code 1: slack answered 403:"
    said = hook("post", {"kind": "slack", "url": "http://127.0.0.1:1/T0KEN"}, report)
    assert "slack can't be reached" in said and "T0KEN" not in said
    assert "chmod 600" in hook("post", {"kind": "slack", "url": "http://127.0.0.1:1/"}, report, mode=0o644)
    assert "kind is 'slak', not one of slack, teams" in hook("post", {"kind": "slak"}, report)
    assert "have no 'key'" in hook("post", {"kind": "pagerduty"}, report)
    assert hook("post", {"kind": "slack", "only": "recovered prepared", "url": "http://127.0.0.1:1/"}, report) == ""


# ---- e-mail ----


class Smtp:
    """A mail server as small as it can be; keeps what it was given."""

    def __init__(self):
        self.mails = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection = self._socket.accept()[0]
                with connection, connection.makefile("rwb") as file:
                    self._talk(file)

    def _talk(self, file):
        def say(words):
            file.write(words.encode() + b"\r\n")
            file.flush()

        receivers = []
        say("220 stand-in")
        for line in iter(file.readline, b""):
            word = line[:4].upper()
            if word == b"RCPT":
                receivers.append(line.decode().partition("<")[2].partition(">")[0])
            if word == b"QUIT":
                say("221 bye")
                return
            say("354 go on" if word == b"DATA" else "250 fine")
            if word == b"DATA":
                lines = iter(lambda: file.readline().rstrip(b"\r\n"), b".")
                self.mails.append((receivers, b"\n".join(lines)))
                say("250 taken")

    def close(self):
        self._socket.close()


def test_e_mail_by_a_real_sendmail(hook, tmp_path):
    sendmail = shutil.which("msmtp")
    if not sendmail:
        pytest.skip("no msmtp: apt-get install msmtp")
    server = Smtp()
    try:
        account = tmp_path / ".msmtprc"
        account.write_text(f"account default\nhost 127.0.0.1\nport {server.port}\nfrom azure@example.com\n")
        account.chmod(0o600)
        settings = {"to": "ops@example.com, oncall@example.com", "from": "azure@example.com", "sendmail": sendmail}
        report = a_report("prepare_failed", message="The database « eins » did not stop.")
        assert hook("mail", settings, report) == ""
        assert hook("mail", dict(settings, only="recovered prepared"), report) == ""
    finally:
        server.close()
    ((receivers, content),) = server.mails
    assert receivers == ["ops@example.com", "oncall@example.com"]
    mail = email.message_from_bytes(content)
    subject = email.header.make_header(email.header.decode_header(mail["Subject"]))
    assert str(subject) == "Azure maintenance: prepare_failed web1 Reboot"
    body = base64.b64decode(mail.get_payload()).decode()
    assert body.startswith(report["message"] + "\n\nEvent: ") and json.loads(body.splitlines()[-1]) == report


def test_e_mail_without_settings(hook):
    assert "has no line to=" in hook("mail", {"from": "x"}, a_report())


# ---- Alertmanager ----


@pytest.fixture
def alertmanager(tmp_path):
    """Debian's, with a receiver of its own; yields its address and that receiver."""
    program = shutil.which("prometheus-alertmanager") or shutil.which("alertmanager")
    if not program:
        pytest.skip("no Alertmanager: apt-get install prometheus-alertmanager")
    with Receiver() as receiver, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        free.close()
        route = "route: {receiver: us, group_by: ['...'], group_wait: 0s, group_interval: 1s, repeat_interval: 1h}\n"
        hooks = f"receivers: [{{name: us, webhook_configs: [{{url: '{receiver.url}', send_resolved: true}}]}}]\n"
        (tmp_path / "alertmanager.yml").write_text(route + hooks)
        options = [
            f"--config.file={tmp_path}/alertmanager.yml",
            f"--storage.path={tmp_path}/data",
            f"--web.listen-address={address}",
            "--cluster.listen-address=",
        ]
        with subprocess.Popen([program, *options], stderr=subprocess.DEVNULL) as process:
            try:
                until(lambda: answers(f"http://{address}/-/ready"))
                yield f"http://{address}", receiver
            finally:
                process.terminate()


def answers(url):
    with contextlib.suppress(OSError):
        return urllib.request.urlopen(url, timeout=5).status == 200
    return False


def until(condition):
    for _dummy in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("it did not come about")


def test_alertmanager_fires_and_resolves(hook, alertmanager):
    address, receiver = alertmanager
    settings = {"kind": "alertmanager", "url": address}
    assert hook("post", settings, a_report("scheduled")) == ""
    assert hook("post", settings, a_report("recovery_failed", message="nginx did not start")) == ""
    until(lambda: receiver.requests)
    assert hook("post", settings, a_report("recovered")) == ""
    until(lambda: len(receiver.requests) == 2)
    firing, resolved = ((one["status"], one["alerts"][0]) for one in posted(receiver))
    assert (firing[0], resolved[0]) == ("firing", "resolved")
    assert firing[1]["labels"] == resolved[1]["labels"]
    assert firing[1]["labels"]["alertname"] == "AzureMaintenance" and firing[1]["labels"]["instance"] == "web1"
    assert firing[1]["annotations"]["description"] == "nginx did not start"
