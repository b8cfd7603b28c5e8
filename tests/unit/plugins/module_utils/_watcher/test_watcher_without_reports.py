# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher does never depends on what it has reported: all vectors, with every report removed."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher import stories
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.beside import Beside
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


@pytest.mark.parametrize("case", cases("watcher.json"))
def test_a_watcher_that_reports_nothing_does_the_same(case, monkeypatch):
    monkeypatch.setattr(stories, "Engine", Beside)
    stories.told(case)
