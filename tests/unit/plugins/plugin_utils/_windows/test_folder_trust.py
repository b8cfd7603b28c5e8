# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which folders of a Windows machine are its administrators' alone."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.folder_trust import distrust
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


@pytest.mark.parametrize("case", cases("windows_folders.json"))
def test_who_may_write_there(case):
    assert distrust(case["sddl"], case["link"], case["user"]) == case["distrust"]
