# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run keeps while Ansible goes through the user's own task files, and what it learns from them."""

from __future__ import annotations

import os
import stat

import pytest
from ansible import constants

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import between_entries
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.between_entries import Answer
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import of_hosts

ASKED = {"number": 1, "lost": "", "elsewhere": {"key": "tasks own.yml", "left": 60.0}}
ANSWERS = {"web1": Answer(ASKED, [{"changed": True}])}
RESULT = {"failed": True, "msg": "password"}


@pytest.fixture
def before(tmp_path, monkeypatch):
    """What the task has returned for two hosts, of three."""
    monkeypatch.setattr(constants, "DEFAULT_LOCAL_TMP", str(tmp_path))
    own = {host: between_entries.wanted("own.yml", ANSWERS["web1"]) for host in ("web1", "web2")}
    umask = os.umask(0)
    try:
        return between_entries.returned("run-1", own, {"record": 7}, ANSWERS, ["web3"])
    finally:
        os.umask(umask)


def kept(before, **noted):
    return between_entries.kept(of_hosts({host: noted.get(host, {}) for host in ("web1", "web2", "web3")}), before)


def ended(before, **more):
    return {"__drain_ended": {"entry": before["entry"], **more}}


def test_what_is_kept_is_read_once_and_by_nobody_else(before):
    assert stat.S_IMODE(os.stat(before["state"]).st_mode) == 0o600
    found = kept(before, web1=ended(before), web2=ended(before))
    assert (found.data, found.answers, found.failures, found.left) == ({"record": 7}, ANSWERS, {}, ["web3"])
    assert not os.path.exists(before["state"])


def test_who_has_not_come_to_the_end_of_its_file_has_left_the_play(before):
    assert kept(before, web1=ended(before)).left == ["web3", "web2"]


def test_what_was_noted_before_is_of_another_file(before):
    earlier = {"__drain_ended": {"entry": "earlier", "result": RESULT, "secret": False}}
    found = kept(before, web1=earlier, web2=ended(before))
    assert found.failures == {} and found.left == ["web3", "web1"]


@pytest.mark.parametrize("no_log, secret", [(False, False), (True, True), ("{{ is_secret }}", True)])
def test_a_task_that_failed_may_be_secret(before, no_log, secret):
    found = kept(before, web1=ended(before, result=RESULT, secret=no_log), web2=ended(before))
    assert found.failures == {"web1": {"result": RESULT, "secret": secret}}
