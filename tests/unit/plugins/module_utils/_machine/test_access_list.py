# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which files and folders of a Windows machine are its administrators' alone."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.access_list import (
    ABOVE,
    READING,
    WRITING,
    distrust,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.trust import way
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


@pytest.mark.parametrize("case", cases("windows_folders.json"))
def test_who_may_write_there(case):
    assert distrust(case["sddl"], case["link"], case["user"], case.get("what", WRITING)) == case["distrust"]


def test_each_folder_on_the_way_is_looked_at():
    assert way(r"C:\ProgramData\AzureMaintenance\hooks\10-app.cmd", READING) == [
        (r"C:\ProgramData\AzureMaintenance\hooks\10-app.cmd", READING),
        (r"C:\ProgramData\AzureMaintenance\hooks", WRITING),
        (r"C:\ProgramData\AzureMaintenance", ABOVE),
        (r"C:\ProgramData", ABOVE),
        ("C:\\", ABOVE),
    ]
    assert way(r"C:\ProgramData\AzureMaintenance") == [
        (r"C:\ProgramData\AzureMaintenance", WRITING),
        (r"C:\ProgramData", ABOVE),
        ("C:\\", ABOVE),
    ]
