# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One poll, the name, an approval."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Deadline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import Client
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.conversation import (
    EMPTY,
    METADATA,
    ONE,
    URL,
    failure,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    GROUP_PATH,
    NAME_PATH,
    WALL,
    get,
    look,
    own_name,
    sent,
)


def test_a_look(transport, client):
    transport.expect(look(200, ONE, headers=METADATA, timeout=125.0, takes=2.0))
    found = client.document()
    assert (found.incarnation, [each.event_id for each in found.events]) == (2, ["ID-1"])
    assert (client.api_version_used, client.polls, client.failures, client.warnings) == ("2020-07-01", 1, 0, [])
    assert (client.last_url, client.looked_at, client.endpoint) == (URL, WALL + 2.0, ENDPOINT)


def test_only_the_first_answer_may_take_long(transport, client):
    transport.expect(
        look(Unreachable("cut"), timeout=125.0),
        look(500, timeout=125.0),
        look(200, EMPTY, timeout=10.0),
        look(200, EMPTY, timeout=10.0),
    )
    client.document()
    client.document()


@pytest.mark.parametrize("seconds, timeout", [(300.0, 125.0), (60.0, 60.0), (3.0, 10.0), (0.0, 10.0)])
def test_a_short_wait_is_not_held_by_the_first_answer(transport, client, seconds, timeout):
    transport.expect(look(200, EMPTY, timeout=timeout))
    client.document(Deadline(transport.clock, seconds))


def test_a_long_timeout_is_for_the_first_answer_too(transport):
    transport.expect(look(200, EMPTY, timeout=30.0), look(200, EMPTY, timeout=30.0))
    client = Client(transport, ENDPOINT, timeout=30.0, first_timeout=20.0)
    client.document()
    client.document()


def test_a_name_may_be_the_first_answer(transport, client):
    transport.expect(own_name(timeout=125.0), look(200, EMPTY, timeout=10.0))
    client.resource_name()
    client.document()


# --- approving ---


def test_an_approval(transport, client):
    transport.expect(
        look(200, ONE),
        sent("id-1", "ID-2", headers=dict(METADATA, **{"Content-Type": "application/json"}), timeout=10.0),
    )
    client.document()
    client.approve(["id-1", "ID-2"])
    assert client.last_url == URL


@pytest.mark.parametrize("body", [b"", b"\xff\xfe{", b"<html>"])
def test_the_answer_to_an_approval_is_not_read(transport, client, body):
    transport.expect(sent("A", outcome=(200, body)))
    client.approve(["A"])


@pytest.mark.parametrize(
    "status, kind",
    [
        (302, "not_azure"),
        (400, "rejected"),
        (401, "denied"),
        (403, "denied"),
        (404, "unavailable"),
        (405, "not_azure"),
        (408, "unavailable"),
        (410, "updating"),
        (429, "throttled"),
        (500, "unavailable"),
        (503, "unavailable"),
    ],
)
def test_an_approval_is_never_sent_twice_here(transport, client, status, kind):
    transport.expect(sent("A", outcome=(status, b'{"error": "no"}')))
    error = failure(client.approve, ["A"])
    assert error.failure() == {"kind": kind, "status": status, "url": URL}


# --- names ---


@pytest.mark.parametrize(
    "body, name",
    [
        (b"web1", "web1"),
        (b'"web1"', "web1"),
        (b" web_4\r\n", "web_4"),
        (b'" web1 "', "web1"),
        (b"FrontEnd_IN_0", "FrontEnd_IN_0"),
    ],
)
def test_the_own_name(transport, client, body, name):
    transport.expect(own_name(body, headers=METADATA))
    assert client.resource_name() == name
    assert client.resource_name() == name  # asked once
    assert client.polls == 0


def test_the_name_can_be_asked_for_beside_the_document(transport, client):
    # also by who believes to know it: names of two hosts may be swapped in an inventory
    transport.expect(look(200, ONE), own_name(b"web2"))
    client.document()
    assert client.resource_name() == "web2"
    assert client.polls == 1


@pytest.mark.parametrize("body", [b"", b'""', b" \n"])
def test_an_empty_name_is_an_error_that_helps(transport, client, body):
    transport.expect(own_name(body))
    error = failure(client.resource_name)
    assert error.failure() == {"kind": "malformed", "status": 200, "url": ENDPOINT + NAME_PATH}
    assert "resource_name" in error.message
    assert ENDPOINT + NAME_PATH in error.message


@pytest.mark.parametrize(
    "body", [b'{"name": "web1"}', b"two words", b"a\x00b", b"x" * 300, b'"web1', b"a\nb", b"web\xff1"]
)
def test_what_can_not_be_a_name_is_refused(transport, client, body):
    transport.expect(*[own_name(body) for _each in range(6)])
    assert failure(client.resource_name).kind == "malformed"


def test_a_web_page_is_no_name(transport, client):
    transport.expect(own_name(b"<html>"))
    assert failure(client.resource_name).kind == "not_azure"


def test_the_name_is_asked_for_again(transport, client):
    transport.expect(get(NAME_PATH, 404), get(NAME_PATH, 429), own_name())
    assert client.resource_name() == "web1"


def test_a_name_that_is_only_nice_to_have_is_not_waited_for(transport, client):
    transport.expect(get(NAME_PATH, 429), get(NAME_PATH, 404))
    assert failure(client.resource_name, ("unavailable",)).kind == "unavailable"


@pytest.mark.parametrize("body, group", [(b"", ""), (b"5f1c2a4e", "5f1c2a4e"), (b'"5f1c2a4e"', "5f1c2a4e")])
def test_the_placement_group(transport, client, body, group):
    transport.expect(get(GROUP_PATH, 200, body))
    assert client.placement_group() == group
