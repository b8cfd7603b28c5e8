# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command ``report test``: what arrives, and what it says of each receiver."""

import io
import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.cli import (
    FINE,
    WRONG,
    CliContext,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands.reports import run_report
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_daemon import signature
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.receiver import Receiver
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import REPORT, wrong

SECRET = "s3cret-0f-nobody"


@pytest.fixture(name="call")
def _call(tmp_path):
    settings, secret = tmp_path / "watcher.json", tmp_path / "secret"
    secret.write_text(SECRET, encoding="ascii")
    secret.chmod(0o600)

    def call(*urls, is_root=True):
        reports = [{"url": url, "secret_file": str(secret)} for url in urls]
        labels = {"inventory_hostname": "web1"}
        files.replace(
            str(settings), {"format": 1, "folder": str(tmp_path / "state"), "reports": reports, "labels": labels}
        )
        here = CliContext(str(settings), "0.2.0", {}, Clock(), io.StringIO(), io.StringIO())
        here.is_root = is_root
        return run_report(None, here), here.out.getvalue() + here.err.getvalue()

    return call


def test_it_arrives_signed_and_anew_each_time(call):
    with Receiver() as receiver:
        for _time in range(2):
            code, words = call(receiver.url)
            assert code == FINE and words.endswith(": accepted (HTTP 200 OK)\n"), words
    ids = set()
    for headers, body, _path in receiver.requests:
        assert headers["X-Hub-Signature-256"] == signature(body, SECRET.encode("ascii"))
        report = json.loads(body.decode("ascii"))
        assert wrong(report, REPORT) == []
        assert report["happened"] == "test" and report["event"] is None
        assert report["labels"] == {"inventory_hostname": "web1"}
        ids.add(report["id"])
    assert len(ids) == 2


def test_each_receiver_is_named_with_its_answer(call):
    with Receiver() as takes, Receiver(403) as refuses:
        code, words = call(takes.url, refuses.url)
    assert code == WRONG
    assert ": accepted (HTTP 200 OK)" in words and "NOT ACCEPTED (HTTP 403" in words
    assert "/hook" not in words, "a URL may hold what nobody should read"


def test_without_receivers_or_rights_nothing_is_sent(call):
    assert call() == (WRONG, "No receiver is named in the settings (watcher_reports): nothing was sent.\n")
    with Receiver() as receiver:
        code, words = call(receiver.url, is_root=False)
    assert code == WRONG and words.startswith("Only root may send a report")
    assert not receiver.requests
