# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    ScheduledEventsError,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.approve import approve
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.info import info
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._operations.operating import (
    EMPTY,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    NAME_PATH,
    events_path,
    get,
    look,
    own_name,
)

NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize("operation", [info, approve])
@pytest.mark.parametrize(
    "name, value, words",
    [
        ("endpoint", "169.254.169.254", "endpoint"),
        ("api_version", "2021-02-01", "2020-07-01"),
        ("api_version", "latest", "2017-03-01"),
        ("timeout", 0.0, "0.1"),
        ("timeout", -1.0, "timeout"),
        ("timeout", NOT_A_NUMBER, "timeout"),
        ("timeout", float("inf"), "timeout"),
        ("first_timeout", 0.0, "first_timeout"),
        ("resource_name", " ", "resource_name"),
        ("resource_name", "", "resource_name"),
        ("wait_timeout", -0.1, "wait_timeout"),
        ("wait_timeout", NOT_A_NUMBER, "wait_timeout"),
        ("wait_sleep", 0.1, "0.2"),
        ("wait_sleep", 0.0, "wait_sleep"),
        ("event_ids", [], "event_ids"),
        ("event_ids", ["A", " "], "blank"),
        ("event_ids", [""], "event_ids"),
    ],
)
def test_options_out_of_range(transport, operation, name, value, words):
    options = {"event_ids": ["A"], name: value}
    with pytest.raises(ScheduledEventsError) as caught:
        operation(options, transport, transport.clock)
    assert caught.value.kind == "invalid"
    assert name in caught.value.message and words in caught.value.message


@pytest.mark.parametrize(
    "options, words",
    [
        ({"affecting": "others"}, "any, self"),
        ({"event_ids": [], "wait": True}, "empty list"),
        ({"event_ids": [], "wait_for": "gone"}, "empty list"),
        ({"wait_for": "end"}, "event, started, gone, change"),
        ({"types": [""]}, "types"),
        ({"statuses": [" "]}, "statuses"),
        ({"sources": ["User", ""]}, "sources"),
        ({"since_incarnation": 3}, "wait_for=change"),
        ({"since_incarnation": 0, "wait": True}, "wait_for=change"),
        ({"since_incarnation": 3, "wait_for": "change"}, "wait=true"),
        ({"wait": True, "wait_for": "started", "statuses": ["Scheduled"]}, "Started"),
    ],
)
def test_options_of_info(transport, options, words):
    with pytest.raises(ScheduledEventsError) as caught:
        info(options, transport, transport.clock)
    assert caught.value.kind == "invalid"
    assert words in caught.value.message


@pytest.mark.parametrize(
    "options, words",
    [
        ({"event_ids": None}, "event_ids"),
        ({}, "event_ids"),
        ({"rank": -1}, "rank"),
        ({"takeover": -1.0}, "takeover"),
        ({"prepared_resources": ["web1", ""]}, "prepared_resources"),
        ({"allow_unknown": [" "]}, "allow_unknown"),
    ],
)
def test_options_of_approve(transport, options, words):
    with pytest.raises(ScheduledEventsError) as caught:
        approve(dict({"event_ids": ["A"]} if options else {}, **options), transport, transport.clock)
    assert caught.value.kind == "invalid"
    assert words in caught.value.message


def test_options_that_are_left_out_have_their_defaults(transport):
    transport.expect(
        get("http://169.254.169.254" + events_path(), 200, EMPTY, timeout=125.0),
        get("http://169.254.169.254" + NAME_PATH, 200, b"web1", timeout=10.0),
    )
    assert info({"types": None, "timeout": None}, transport, transport.clock)["endpoint"] == "http://169.254.169.254"


def test_the_callers_options_stay_as_they_are(transport):
    options = {
        "endpoint": ENDPOINT + "/",
        "event_ids": [" ID-1 "],
        "prepared_resources": [" web1"],
        "resource_name": " web1 ",
    }
    copy = {name: list(value) if isinstance(value, list) else value for name, value in options.items()}
    transport.expect(look(200, EMPTY), own_name())
    approve(options, transport, transport.clock)
    assert options == copy
