# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs an operation on a scripted Transport, and sees that what it returns is complete."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.approve import approve
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.info import info
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.operation import OperationFailed
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    document,
    event,
    events_path,
)

EMPTY = document(1)
ONE = document(2, event())
STARTED = document(3, event(status="Started"))
MIXED = document(
    9,
    event("ID-1", resources=["web1", "web2"]),
    event("ID-2", "Started", ["WEB1"], EventType="Freeze", EventSource="User"),
    event("ID-3", resources=["web10"], EventType="Redeploy", EventSource=None),
)
URL = ENDPOINT + events_path()

INFO_KEYS = {
    "changed",
    "incarnation",
    "events",
    "unusable_events",
    "resource_name",
    "placement_group",
    "api_version",
    "endpoint",
    "elapsed",
    "polls",
    "looked_at",
    "transitions",
    "warnings",
}
APPROVE_KEYS = {
    "changed",
    "approved",
    "already",
    "not_approved",
    "confirmed",
    "events",
    "unusable_events",
    "incarnation",
    "resource_name",
    "api_version",
    "endpoint",
    "elapsed",
    "polls",
    "looked_at",
    "diff",
    "warnings",
}


def run_info(transport, find=None, **options):
    result = info(dict(options, endpoint=ENDPOINT), transport, transport.clock, find)
    assert set(result) == INFO_KEYS
    return result


def run_approve(transport, *event_ids, **options):
    check_mode = options.pop("check_mode", False)
    find = options.pop("find", None)
    caller = options.pop("caller", None)
    result = approve(
        {"endpoint": ENDPOINT, **options, "event_ids": list(event_ids)},
        transport,
        transport.clock,
        check_mode,
        find,
        caller,
    )
    assert set(result) == APPROVE_KEYS
    return result


def failed(call, *args, **options):
    with pytest.raises(OperationFailed) as caught:
        call(*args, **options)
    assert set(caught.value.result) == (INFO_KEYS if call is run_info else APPROVE_KEYS)
    assert caught.value.message.endswith(".")
    return caught.value


def ids(events):
    return [each["id"] for each in events]
