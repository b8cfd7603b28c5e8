# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Events, sayings and reports for tests."""

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import Identity, Say
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report import (
    Machine,
    report_of,
)

WALL = 1767225600.0  # 2026-01-01T00:00:00Z
IDENTITY = Identity("web1", "11111111-2222-3333-4444-555555555555")
MOMENT = Moment(WALL + 0.7, 5000.0, "boot-1")
MACHINE = Machine("web1.example.com", "0.2.0")


def an_event(**members):
    found = {
        "event_id": "C7061BAC-AFDC-4513-B24B-AA5F13A16123",
        "event_type": "Reboot",
        "event_status": "Scheduled",
        "resource_type": "VirtualMachine",
        "resources": ("web1", "web2"),
        "raw_resources": ("web1", "_web2"),
        "not_before": "Thu, 01 Jan 2026 00:15:00 GMT",
        "not_before_time": WALL + 900,
        "description": "Host is being maintained",
        "source": "Platform",
        "duration": -1,
    }
    return Event(**dict(found, **members))


def a_report(happened="scheduled", uptime=5000.0, moment=MOMENT, **members):
    found = {"message": f"It was {happened}.", "event": an_event(), "notice": 900.0, "outage": "o1"}
    found.update(members)
    return report_of(Say(happened, **found), IDENTITY, moment._replace(uptime=uptime), MACHINE)
