# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One event as JSON, for whoever is to hear of it: the same keys wherever this collection hands an event on.

Private to this collection.
"""

from typing import Any, Dict, Optional

from .._clock import iso_utc
from .event import Event


def notification(event: Event, notice: Optional[float]) -> Dict[str, Any]:
    """What an event is, without what is about one machine.

    :arg notice: the seconds from when it was first seen to its not-before; None where nobody knows
    """
    return {
        "id": event.event_id,
        "type": event.event_type,
        "status": event.event_status,
        "source": event.source,
        "resource_type": event.resource_type,
        "resources": list(event.resources),
        "raw_resources": list(event.raw_resources),
        "not_before": event.not_before,
        "not_before_utc": None if event.not_before_time is None else iso_utc(event.not_before_time),
        "notice": notice,
        "duration": event.duration,
        "description": event.description,
    }
