# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which topics the roles notify, for the handlers of the user's play: when a machine was prepared, and when it was recovered.

Private to this collection.

An action can only notify for the host that its task runs for, and one task of ours acts for all hosts. So it returns the topics of each host, for
a task that is gone through by every host.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._ansible import listened
from .._fleet.recap import handled_by
from .._fleet.state import Record

PREPARED, RECOVERED = "azure maintenance prepared", "azure maintenance recovered"

_TOPIC_OF = {"prepared": PREPARED, "recovered": RECOVERED, "reverted": RECOVERED}
"""Of what happens to a machine."""


def of_run(task: Any, record: Record, notified: int) -> dict[str, list[str]]:
    """The topics to notify, by host; of machines that nobody else handles, and only those that a handler listens to.

    :arg notified: how many of its happenings were notified before
    """
    found: dict[str, list[str]] = {}
    for one in record.happenings[notified:]:
        host, topic = one.host, _TOPIC_OF.get(one.what)
        if host and topic and topic not in found.get(host, ()) and not handled_by(record, record.hosts[host]):
            found.setdefault(host, []).append(topic)
    return _listened(task, found)


def of_hosts(task: Any, topic: str, hosts: Iterable[str]) -> dict[str, list[str]]:
    """The same of hosts for which one thing went well."""
    return _listened(task, {host: [topic] for host in hosts})


def _listened(task: Any, topics: dict[str, list[str]]) -> dict[str, list[str]]:
    heard = [topic for topic in (PREPARED, RECOVERED) if listened(task, topic)]
    found = {host: [topic for topic in some if topic in heard] for host, some in topics.items()}
    return {host: some for host, some in found.items() if some}
