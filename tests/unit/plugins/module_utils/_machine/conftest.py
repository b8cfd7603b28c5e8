# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import jobs
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import LONG


@pytest.fixture(autouse=True)
def begun_at_once(monkeypatch):
    """A job that was begun is there: on a busy machine, too, where the next call would see that it is, and begin it anew."""
    monkeypatch.setattr(jobs, "LONGEST_BEGINNING", LONG)
