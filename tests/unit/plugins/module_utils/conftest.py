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
