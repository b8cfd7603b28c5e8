# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every odd life of an event, and what the watcher does in it: tests/vectors/watcher.json."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import told
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


@pytest.mark.parametrize("case", cases("watcher.json"))
def test_a_life(case):
    done, wanted = told(case)
    assert done == wanted
