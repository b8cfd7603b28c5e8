# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._operations.operating import (
    EMPTY,
    MIXED,
    URL,
    failed,
    ids,
    run_info,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    GROUP_PATH,
    NAME_PATH,
    document,
    event,
    events_path,
    get,
    look,
    own_name,
)


def test_a_look(transport):
    transport.expect(look(200, document(7, event(), {"EventId": "ID-2"}), takes=0.25), own_name(takes=0.125))
    result = run_info(transport)
    assert result == {
        "changed": False,
        "incarnation": 7,
        "resource_name": "web1",
        "placement_group": None,
        "api_version": "2020-07-01",
        "endpoint": ENDPOINT,
        "elapsed": 0.375,
        "polls": 1,
        "looked_at": "2026-01-01T00:00:00Z",
        "transitions": [],
        "warnings": [],
        "unusable_events": [{"position": 2, "id": "ID-2", "reason": "it has no Resources", "raw": {"EventId": "ID-2"}}],
        "events": [
            {
                "id": "ID-1",
                "type": "Reboot",
                "status": "Scheduled",
                "resource_type": "VirtualMachine",
                "resources": ["web1"],
                "raw_resources": ["web1"],
                "not_before": "Thu, 01 Jan 2026 00:15:00 GMT",
                "not_before_utc": "2026-01-01T00:15:00Z",
                "notice": 899,
                "source": "Platform",
                "description": "",
                "duration": -1,
                "affects_self": True,
            }
        ],
    }


@pytest.mark.parametrize(
    "options, found",
    [
        ({}, ["ID-1", "ID-2", "ID-3"]),
        ({"event_ids": ["id-3", " ID-1 "]}, ["ID-1", "ID-3"]),
        ({"event_ids": ["ID"]}, []),
        ({"types": ["freeze", "Redeploy"]}, ["ID-2", "ID-3"]),
        ({"types": []}, ["ID-1", "ID-2", "ID-3"]),
        ({"statuses": ["STARTED"]}, ["ID-2"]),
        ({"sources": ["platform"]}, ["ID-1"]),
        ({"affecting": "self"}, ["ID-1", "ID-2"]),
        ({"affecting": "self", "types": ["Reboot"], "statuses": ["Scheduled"]}, ["ID-1"]),
        ({"types": ["Reboot"], "statuses": ["Started"]}, []),
    ],
)
def test_filters(transport, options, found):
    transport.expect(look(200, MIXED), own_name())
    assert ids(run_info(transport, **options)["events"]) == found


def test_a_given_name_is_not_asked_for(transport):
    transport.expect(look(200, MIXED))
    result = run_info(transport, resource_name=" web10 ", affecting="self")
    assert (ids(result["events"]), result["resource_name"]) == (["ID-3"], "web10")


@pytest.mark.parametrize("outcome", [(404,), (200, b""), (500,), (403,)])
def test_without_a_name_there_is_a_warning(transport, outcome):
    transport.expect(look(200, MIXED), get(NAME_PATH, *outcome))
    result = run_info(transport)
    assert result["resource_name"] is None
    assert [each["affects_self"] for each in result["events"]] == [None, None, None]
    assert len(result["warnings"]) == 1 and NAME_PATH in result["warnings"][0]


def test_without_a_name_nobody_can_tell_what_affects_it(transport):
    transport.expect(look(200, MIXED), get(NAME_PATH, 200, b""))
    error = failed(run_info, transport, affecting="self")
    assert error.failure() == {"kind": "malformed", "status": 200, "url": ENDPOINT + NAME_PATH}
    assert error.result["incarnation"] == 9


def test_the_placement_group(transport):
    transport.expect(look(200, EMPTY), own_name(), get(GROUP_PATH, 200, b"5f1c"))
    assert run_info(transport, placement_group=True)["placement_group"] == "5f1c"


def test_options_reach_the_client(transport):
    transport.expect(get(events_path("2019-08-01"), 200, EMPTY, timeout=20.0), own_name(timeout=5.0))
    result = run_info(transport, api_version="2019-08-01", timeout=5.0, first_timeout=20.0)
    assert result["api_version"] == "2019-08-01"


def test_failures_on_the_way_are_reported(transport):
    transport.expect(look(503), look(200, EMPTY), own_name())
    result = run_info(transport)
    assert (result["polls"], result["elapsed"]) == (2, 1.0)
    assert len(result["warnings"]) == 1 and "HTTP 503" in result["warnings"][0]


def test_a_version_that_is_not_served_is_reported(transport):
    transport.expect(look(400), get(events_path("2019-08-01"), 200, EMPTY), own_name())
    assert "2019-08-01" in run_info(transport)["warnings"][0]


def test_a_failure_has_all_returns(transport):
    transport.expect(look(403))
    error = failed(run_info, transport)
    assert error.failure() == {"kind": "denied", "status": 403, "url": URL}
    assert error.result == {
        "changed": False,
        "incarnation": None,
        "events": [],
        "unusable_events": [],
        "resource_name": None,
        "placement_group": None,
        "api_version": "",
        "endpoint": ENDPOINT,
        "elapsed": 0.0,
        "polls": 1,
        "looked_at": None,
        "transitions": [],
        "warnings": [],
    }
