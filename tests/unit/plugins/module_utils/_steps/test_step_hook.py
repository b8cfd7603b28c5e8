# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.hook import variables

EVENT = {
    "id": "E1",
    "type": "Reboot",
    "status": "Scheduled",
    "source": "Platform",
    "resources": ["web_1", "web_2"],
    "not_before_utc": "2026-01-01T00:15:00Z",
    "duration": -1,
}


def test_what_a_hook_finds_in_its_environment():
    context = {"happened": "scheduled", "message": "It is planned.", "event": EVENT, "machine": {"name": "web_1"}}
    assert variables("prepare", context) == {
        "AZURE_MAINTENANCE_PHASE": "prepare",
        "AZURE_MAINTENANCE_HAPPENED": "scheduled",
        "AZURE_MAINTENANCE_MESSAGE": "It is planned.",
        "AZURE_MAINTENANCE_ID": "E1",
        "AZURE_MAINTENANCE_TYPE": "Reboot",
        "AZURE_MAINTENANCE_STATUS": "Scheduled",
        "AZURE_MAINTENANCE_SOURCE": "Platform",
        "AZURE_MAINTENANCE_RESOURCES": "web_1,web_2",
        "AZURE_MAINTENANCE_NAME": "web_1",
        "AZURE_MAINTENANCE_NOT_BEFORE": "2026-01-01T00:15:00Z",
        "AZURE_MAINTENANCE_DURATION": "-1",
    }


@pytest.mark.parametrize("context", [{}, {"event": None, "machine": None}])
def test_what_is_not_known_is_empty(context):
    found = variables("recover", context)
    assert found.pop("AZURE_MAINTENANCE_PHASE") == "recover"
    assert len(found) == 10 and set(found.values()) == {""}


def test_what_the_wire_says_is_one_line_that_the_system_takes():
    found = variables("notify", {"event": {"id": "a\0b\n\ud800c", "resources": ["x" * 1000] * 1000}})
    assert found["AZURE_MAINTENANCE_ID"] == "a b c"
    assert len(found["AZURE_MAINTENANCE_RESOURCES"]) == 100000
