# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedTransport


@pytest.fixture
def transport():
    """A Transport whose whole script must have been played when the test is over."""
    scripted = ScriptedTransport()
    yield scripted
    scripted.finish()


@pytest.fixture
def clock(transport):
    return transport.clock
