# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the client have in common: documents, failures that may pass, and how a call fails."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    BrokenAnswer,
    ScheduledEventsError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    document,
    event,
    events_path,
)

METADATA = {"Metadata": "true"}
EMPTY = document(1)
ONE = document(2, event())
URL = ENDPOINT + events_path()


def failure(call, *args):
    """What the call fails with; its message must be whole sentences."""
    with pytest.raises(ScheduledEventsError) as caught:
        call(*args)
    assert caught.value.message.endswith(".")
    return caught.value


def transient():
    """Every failure that may pass by itself: its outcome in a script, and its kind."""
    statuses = {
        404: "unavailable",
        408: "unavailable",
        410: "updating",
        429: "throttled",
        500: "unavailable",
        502: "unavailable",
        503: "unavailable",
        504: "unavailable",
    }
    found = [pytest.param((status,), kind, id=str(status)) for status, kind in statuses.items()]
    found.append(pytest.param((Unreachable("No connection.", url=URL),), "unreachable", id="reset"))
    found.append(pytest.param((AnswerTimeout("Late.", url=URL),), "timeout", id="timeout"))
    found.append(pytest.param((BrokenAnswer("Broken off.", url=URL),), "malformed", id="truncated"))
    found.append(pytest.param((200, b'{"DocumentIncarnation": 1, "Eve'), "malformed", id="broken JSON"))
    found.append(pytest.param((200, b"{}"), "malformed", id="no document"))
    found.append(pytest.param((200, b"[]"), "malformed", id="an empty list"))
    return found
