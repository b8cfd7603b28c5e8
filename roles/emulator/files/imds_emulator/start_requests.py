# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The body of an approval."""

import json
from typing import List, Tuple


def read(body: bytes) -> Tuple[List[str], str]:
    """The ids of an approval, or what is wrong with it. Its content type doesn't matter."""
    try:
        payload = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return [], "it is not JSON"
    if not isinstance(payload, dict):
        return [], "it is not an object"
    if isinstance(payload.get("DocumentIncarnation", 0), (bool, dict, list)):
        return [], "DocumentIncarnation is neither a text nor a number"
    requests = payload.get("StartRequests")
    if not isinstance(requests, list) or not requests:
        return [], "StartRequests is not a list of requests"
    event_ids = []
    for request in requests:
        event_id = request.get("EventId") if isinstance(request, dict) else None
        if not isinstance(event_id, str) or not event_id:
            return [], "a start request has no EventId"
        event_ids.append(event_id)
    return event_ids, ""
