# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the metadata service refuses, and how; who asks; the other paths."""

import base64
import json

import pytest
from emulator_harness import EVENTS, LATEST, METADATA

PATH = EVENTS + "?api-version=" + LATEST


def test_headers_of_an_answer(emulator):
    reply = emulator.look()
    assert reply.headers["content-type"] == "application/json; charset=utf-8"
    assert reply.headers["server"].startswith("IMDS/")
    assert reply.headers["content-length"] == str(len(reply.body))
    assert reply.headers["etag"].startswith('"')
    assert "date" in reply.headers and "connection" not in reply.headers


@pytest.mark.parametrize("headers", [{}, {"Metadata": "false"}, {"Metadata": ""}, {"X-Metadata": "true"}])
@pytest.mark.parametrize(
    "path",
    [
        PATH,
        EVENTS + "?api-version=2017-08-01",
        EVENTS,
        "/metadata/versions",
        "/metadata/instance?api-version=2021-02-01",
    ],
)
def test_the_metadata_header_is_needed(emulator, headers, path):
    reply = emulator.ask(path, headers=headers)
    assert (reply.status, reply.json) == (400, {"error": "Bad request. Required metadata header not specified"})


def test_the_metadata_header_is_needed_for_posts(emulator):
    event_id = emulator.inject("Reboot")
    assert emulator.approve(event_id, headers={}).status == 400
    assert emulator.statuses() == ["Scheduled"]


def test_the_first_version_does_without_the_header(emulator):
    event_id = emulator.inject("Reboot")
    assert emulator.ask(EVENTS + "?api-version=2017-03-01", headers={}).status == 200
    assert emulator.approve(event_id, headers={}, version="2017-03-01").status == 200
    assert emulator.ask("/metadata/instance/compute?api-version=2017-03-01", headers={}).status == 400


@pytest.mark.parametrize("headers", [{"metadata": "TRUE"}, {"METADATA": "True"}])
@pytest.mark.parametrize(
    "path", ["/metadata/scheduledEvents", "/Metadata/SCHEDULEDEVENTS", "/metadata/scheduledevents/"]
)
def test_case_does_not_matter(emulator, headers, path):
    assert emulator.ask(path + "?api-version=" + LATEST, headers=headers).status == 200


@pytest.mark.parametrize("version", ["2017-03-01", LATEST])
@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("value", ["10.0.0.1", ""])
def test_forwarded_requests_are_refused(emulator, version, method, value):
    reply = emulator.ask(
        EVENTS + "?api-version=" + version, method=method, headers=dict(METADATA, **{"X-Forwarded-For": value})
    )
    assert reply.status == 400
    assert "X-Forwarded-For" in reply.json["error"]


@pytest.mark.parametrize(
    "query",
    [
        "?api-version=2020-07-01&api-version=2020-07-01",
        "?api-version=2020-07-01&API-Version=2019-08-01",
        "?a=1&a=2&api-version=2020-07-01",
    ],
)
def test_duplicate_parameters_are_refused(emulator, query):
    assert emulator.ask(EVENTS + query).status == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"])
@pytest.mark.parametrize(
    "path, allowed",
    [(PATH, "GET, POST"), ("/metadata/instance?api-version=2021-02-01", "GET"), ("/metadata/versions", "GET")],
)
def test_other_verbs(emulator, method, path, allowed):
    reply = emulator.ask(path, method=method)
    assert (reply.status, reply.headers["allow"]) == (405, allowed)


def test_a_post_elsewhere(emulator):
    assert emulator.ask("/metadata/instance?api-version=2021-02-01", method="POST").status == 405


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/metadata",
        "/metadata/",
        "/metadata/latest/scheduledevents",
        "/metadata/scheduledevents/more?api-version=2020-07-01",
        "/metadata/scheduledevent",
        "/latest/meta-data/",
        "/state",
        "/journal",
        "/metadata/instance/nothing?api-version=2021-02-01",
    ],
)
def test_unknown_paths(emulator, path):
    assert emulator.ask(path).status == 404


@pytest.mark.parametrize("path", ["/state", "/", "/events", "/journal", "/clock"])
def test_the_control_api_is_not_on_the_metadata_port(emulator, path):
    for vm in ("", "web1"):
        assert emulator.ask(path, vm).status == 404


def test_unknown_callers_are_refused(emulator):
    reply = emulator.ask(PATH, vm="")
    assert (reply.status, "127.0.0.1" in reply.json["error"]) == (404, True)
    reply = emulator.ask(PATH, vm="web3")
    assert (reply.status, "web3" in reply.json["error"]) == (404, True)


def test_a_source_address_tells_who_asks(start):
    emulator = start(vms=[{"name": "web1"}, {"name": "other", "address": ["10.0.0.9", "127.0.0.1"]}])
    assert emulator.ask("/metadata/instance/compute/name?api-version=2021-02-01&format=text", vm="").body == b"other"
    assert emulator.ask("/metadata/instance/compute/name?api-version=2021-02-01&format=text", vm="WEB1").body == b"web1"


def test_the_only_vm_is_everybody(start):
    assert start(vms=[{"name": "only"}]).ask(PATH, vm="").status == 200
    assert start(vms=[{"name": "only", "address": "10.0.0.9"}]).ask(PATH, vm="").status == 404


def test_a_default_vm(start):
    emulator = start(settings={"default_vm": "LONE"})
    assert emulator.ask("/metadata/instance/compute/name?api-version=2021-02-01&format=text", vm="").body == b"lone"


# -- conditional requests


def test_not_modified(emulator):
    etag = emulator.look().headers["etag"]
    reply = emulator.look(**{"If-None-Match": etag})
    assert (reply.status, reply.body, reply.headers["etag"]) == (304, b"", etag)
    assert "content-length" not in reply.headers
    emulator.inject("Reboot", ["web2"])
    changed = emulator.look(**{"If-None-Match": etag})
    assert changed.status == 200 and changed.headers["etag"] != etag
    assert emulator.control("GET", "/vms/web1")["requests"]["not_modified"] == 1


@pytest.mark.parametrize(
    "tags, status", [("0", 200), ("*", 304), ('"x", {etag}', 304), ("W/{etag}", 304), ('"1"', 200), ("", 200)]
)
def test_forms_of_if_none_match(emulator, tags, status):
    etag = emulator.look().headers["etag"]
    assert emulator.look(**{"If-None-Match": tags.format(etag=etag)}).status == status


def test_each_version_has_an_etag_of_its_own(emulator):
    """Versions show different members: a client that changes its version must not get 304."""
    etag = emulator.look(version="2017-08-01").headers["etag"]
    assert emulator.look(version="2020-07-01", **{"If-None-Match": etag}).status == 200
    assert emulator.look(version="2017-08-01", **{"If-None-Match": etag}).status == 304


# -- the limit


def stop_the_watch(emulator):
    """The limit counts real seconds; a slow machine must not matter here."""
    emulator.service.world.timeline.clock.real = lambda: 0.0


def test_the_sixth_request_within_a_second_is_throttled(start):
    emulator = start(settings={"rate_limit": 5})
    stop_the_watch(emulator)
    replies = [emulator.look() for _number in range(6)]
    assert [reply.status for reply in replies] == [200] * 5 + [429]
    assert replies[-1].body == b"Throttle Result: Too Many Requests"
    assert replies[-1].headers["content-type"].startswith("text/plain")
    assert "retry-after" not in replies[-1].headers
    assert emulator.look("web2").status == 200  # each VM has its own
    assert emulator.control("GET", "/vms/web1")["requests"]["throttled"] == 1


def test_the_limit_is_shared_by_all_paths_and_verbs(start):
    emulator = start(settings={"rate_limit": 2})
    stop_the_watch(emulator)
    assert emulator.ask("/metadata/versions").status == 200
    assert emulator.post({}).status == 400
    assert emulator.look().status == 429


def test_a_throttled_approval_is_not_executed(start):
    emulator = start(settings={"rate_limit": 1})
    stop_the_watch(emulator)
    event_id = emulator.inject("Reboot")
    assert emulator.look().status == 200
    assert emulator.approve(event_id).status == 429
    (post,) = emulator.journal("post")
    assert (post["status"], post["requests"][0]["result"], post["executed"]) == (429, "not_executed", False)


def test_errors_on_purpose_are_throttled_as_real_ones(start):
    emulator = start(settings={"rate_limit": 3})
    stop_the_watch(emulator)
    emulator.fault("status", status=503, count=4)
    assert [emulator.look().status for _number in range(5)] == [503, 503, 503, 429, 429]
    emulator.service.world.timeline.clock.real = lambda: 2.0
    assert [emulator.look().status for _number in range(2)] == [503, 200]  # those throttled were not broken
    assert len(emulator.journal("fault")) == 4


def test_a_post_that_is_throttled_before_its_fault_is_journaled_as_throttled(start):
    emulator = start(settings={"rate_limit": 1})
    stop_the_watch(emulator)
    event_id = emulator.inject("Reboot")
    emulator.fault("status", status=503)
    assert [emulator.approve(event_id).status for _number in range(2)] == [503, 429]
    assert [(post["fault"], post["status"]) for post in emulator.journal("post")] == [("status", 503), ("", 429)]


def test_what_never_arrives_is_not_throttled(start):
    emulator = start(settings={"rate_limit": 1})
    stop_the_watch(emulator)
    emulator.fault("html", count=3)
    assert [emulator.look().status for _number in range(5)] == [200, 200, 200, 200, 429]


# -- the rest of the service


def test_versions(emulator):
    versions = emulator.ask("/metadata/versions").json["apiVersions"]
    assert versions == sorted(versions) and "2021-02-01" in versions
    assert "2020-07-01" not in versions  # scheduled events have a list of their own


@pytest.fixture
def described(start):
    return start(
        vms=[
            {
                "name": "issue_0",
                "scope": "s",
                "scale_set": "issue",
                "computer_name": "issue000000",
                "location": "northeurope",
                "address": ["10.0.0.4", "fd00::4"],
                "compute": {"zone": "2", "tags": "team:web;stage:"},
            },
            {"name": "web1", "scope": "t", "placement_group": "group"},
            {"name": "flex_0a1b2c3d", "scope": "f", "scale_set": "flex"},
        ]
    )


INSTANCE = "/metadata/instance"
TEXT = "?api-version=2021-02-01&format=text"


@pytest.mark.parametrize(
    "path, expected",
    [
        ("/compute/name", b"issue_0"),
        ("/compute/NAME", b"issue_0"),
        ("/compute/vmScaleSetName", b"issue"),
        ("/compute/osProfile/computerName", b"issue000000"),
        ("/compute/location", b"northeurope"),
        ("/compute/zone", b"2"),
        ("/compute/priority", b"Regular"),
        ("", b"compute/\nnetwork/"),
        ("/network/interface/0/ipv4/ipAddress/0/privateIpAddress", b"10.0.0.4"),
        ("/network/interface/0/ipv4/subnet/0/address", b"10.0.0.0"),
        ("/network/interface/0/ipv6/ipAddress/0/privateIpAddress", b"fd00::4"),
    ],
)
def test_texts(described, path, expected):
    reply = described.ask(INSTANCE + path + TEXT, "issue_0")
    assert (reply.status, reply.body, reply.headers["content-type"]) == (200, expected, "text/plain; charset=utf-8")


def test_placement_groups(described):
    path = INSTANCE + "/compute/placementGroupId" + TEXT
    assert len(described.ask(path, "issue_0").body) == 36  # a scale set has one
    assert described.ask(path, "web1").body == b"group"


def test_without_one_it_is_empty(emulator):
    assert emulator.ask(INSTANCE + "/compute/placementGroupId" + TEXT).body == b""


def test_folders_are_json_and_all_texts(described):
    reply = described.ask(INSTANCE + "/compute?api-version=2021-02-01", "issue_0")
    compute = reply.json
    assert reply.headers["content-type"] == "application/json; charset=utf-8"
    assert compute["name"] == "issue_0"
    assert compute["resourceId"].endswith("/Microsoft.Compute/virtualMachineScaleSets/issue/virtualMachines/0")
    other = described.ask(INSTANCE + "/compute?api-version=2021-02-01").json
    assert other["resourceId"].endswith("/Microsoft.Compute/virtualMachines/web1")
    assert all(isinstance(value, (str, dict)) for name, value in compute.items() if name != "tagsList")
    assert described.ask(INSTANCE + "?api-version=2021-02-01", "issue_0").json["compute"] == compute


def test_a_vm_of_a_flexible_scale_set_is_a_resource_of_its_own(described):
    """S5: only a Uniform set's VM is named SET_NUMBER, and only that number ends its resourceId."""
    compute = described.ask(INSTANCE + "/compute?api-version=2021-03-01", "flex_0a1b2c3d").json
    assert compute["resourceId"].endswith("/Microsoft.Compute/virtualMachines/flex_0a1b2c3d")
    assert compute["virtualMachineScaleSet"]["id"].endswith("/Microsoft.Compute/virtualMachineScaleSets/flex")
    uniform = described.ask(INSTANCE + "/compute?api-version=2021-03-01", "issue_0").json
    assert uniform["virtualMachineScaleSet"] == {"id": ""}


@pytest.mark.parametrize(
    "query", ["?api-version=2021-02-01", "?api-version=2021-02-01&format=json", "?api-version=2021-02-01&format=xml"]
)
def test_a_leaf_must_be_asked_for_as_text(described, query):
    assert described.ask(INSTANCE + "/compute/name" + query).status == 400


def test_members_come_with_versions(described):
    def members(version):
        return described.ask(INSTANCE + "/compute?api-version=" + version).json

    assert "vmScaleSetName" not in members("2017-08-01") and "vmScaleSetName" in members("2017-12-01")
    assert "osProfile" not in members("2020-06-01") and "osProfile" in members("2020-07-15")


def test_tags_are_a_list_too(described):
    path = INSTANCE + "/compute/tagsList?api-version="
    assert described.ask(path + "2019-06-04", "issue_0").json == [
        {"name": "team", "value": "web"},
        {"name": "stage", "value": ""},
    ]
    assert described.ask(path + "2019-06-04", "web1").json == []
    assert described.ask(path + "2019-06-01", "issue_0").status == 404


def test_each_interface_has_an_address_of_its_own(described):
    path = INSTANCE + "/network/interface/0/macAddress" + TEXT
    macs = {described.ask(path, name).body for name in ("issue_0", "web1")}
    assert len(macs) == 2 and all(len(mac) == 12 and int(mac, 16) for mac in macs)


def test_a_vm_without_an_address_has_no_subnet(described):
    interface = described.ask(INSTANCE + "/network/interface/0?api-version=2021-02-01", "web1").json
    assert (interface["ipv4"], interface["ipv6"]) == ({"ipAddress": [], "subnet": []}, {"ipAddress": []})


ATTESTED = "/metadata/attested/document"


def test_the_attested_document_is_that_of_the_vm(described):
    answer = described.ask(ATTESTED + "?api-version=2021-02-01&nonce=123", "issue_0").json
    document = json.loads(base64.b64decode(answer["signature"]))
    vm_id = described.ask(INSTANCE + "/compute/vmId" + TEXT, "issue_0").body.decode()
    assert (answer["encoding"], document["nonce"], document["vmId"]) == ("pkcs7", "123", vm_id)


@pytest.mark.parametrize(
    "path, status",
    [
        ("/metadata/attested?api-version=2021-02-01", 404),
        (ATTESTED + "/more?api-version=2021-02-01", 404),
        (ATTESTED, 400),
        (ATTESTED + "?api-version=2018-04-02", 400),
    ],
)
def test_what_is_no_attested_document(emulator, path, status):
    assert emulator.ask(path).status == status


@pytest.mark.parametrize("query", ["", "?api-version=2020-07-01", "?api-version=2017-11-01"])
def test_versions_of_scheduled_events_are_none_of_the_instance(emulator, query):
    reply = emulator.ask(INSTANCE + query)
    assert reply.status == 400 and "newest-versions" in reply.json
