# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import Client
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ENDPOINT


@pytest.fixture
def client(transport):
    return Client(transport, ENDPOINT)
