# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports in the watcher's form, sent by what sends a watcher's reports."""

import json
import time

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.post_transport import (
    Way,
    post,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_daemon import (
    sending,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.destinations import (
    Destination,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.saying import (
    MACHINE,
    a_report,
    an_event,
)


class Sender:
    """:arg secret: of the receiver; it is written into a file of this folder"""

    def __init__(self, folder, url, secret):
        file = folder / "sender-secret"
        file.write_text(secret, encoding="ascii")
        file.chmod(0o600)
        self._send = sending(Destination(url, str(file)), {}, MACHINE.version, post, Way())

    def send(self, report):
        """The status of the answer; 0 where there was none."""
        outcome = self._send(json.dumps(report).encode("ascii"), "")
        return 200 if outcome.what == "taken" else outcome.status


def report(event, host, group="", happened="scheduled", moment=None):
    """:arg group: its scope and capacity group; "" where the inventory names none"""
    moment = moment or Moment(time.time(), 5000.0, f"boot-{host}")
    found = a_report(happened, moment=moment, event=an_event(event_id=event, resources=(host,)))
    labels = {"inventory_hostname": host, **({"scope": group, "capacity_group": group} if group else {})}
    return dict(found, labels=labels)
