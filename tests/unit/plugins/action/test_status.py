# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbook status, played."""

from __future__ import annotations

import sys

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import scenario
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import emulator, playbook

HOSTS = "".join(
    f"{name} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for name in ("linux1", "win1")
)


def test_it_shows_the_scopes_of_the_inventory_and_where_their_machines_are(tmp_path):
    (tmp_path / "play.yml").write_text("- import_playbook: cloudops.azure_maintenance.status\n")
    with emulator(tmp_path, dict(scenario(900, 100), events=[])) as (address, _control):
        variables = {
            "azure_maintenance_endpoint": address + "/vm/{{ inventory_hostname }}",
            "azure_maintenance_scope": "web",
            "azure_maintenance_folder": str(tmp_path / "marks"),
        }
        printed, status = playbook(tmp_path, tmp_path / "play.yml", HOSTS, variables)
    assert status == 0, printed
    assert "scope web by the inventory: linux1 (fault domain 0), win1 (fault domain 0)" in printed
