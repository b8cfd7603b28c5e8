# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run keeps while Ansible goes through the user's own task files."""

from __future__ import annotations

import os
import stat

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ticking import fleet_run
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ticking.calls import Answer
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import begun


def test_what_is_kept_is_read_once_and_by_nobody_else(tmp_path):
    path = str(tmp_path / "run.json")
    answers = {"web1": Answer({"number": 1, "elsewhere": {"key": "tasks own.yml"}}, [{"changed": True}])}
    run = fleet_run.FleetRun(None, {"ansible_play_batch": ["web1"]}, {}, begun("web1"), answers, list)
    before = os.umask(0)
    try:
        fleet_run.keep(path, run, {"preflight": ["web1 has no steps"]})
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert fleet_run.kept(path) == {"record": run.record, "answers": answers, "preflight": ["web1 has no steps"]}
    assert not os.path.exists(path)
