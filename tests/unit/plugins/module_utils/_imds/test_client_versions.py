# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Deadline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import VERSIONS, Client
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.conversation import (
    EMPTY,
    ONE,
    failure,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    document,
    event,
    events_path,
    get,
    look,
    post,
)


@pytest.mark.parametrize("asked", VERSIONS)
def test_every_version_may_be_asked(transport, asked):
    transport.expect(get(events_path(asked), 200, EMPTY))
    client = Client(transport, ENDPOINT, asked)
    client.document()
    assert (client.api_version_used, client.warnings) == (asked, [])


def test_a_refused_version_falls_back_to_the_next_older_ones(transport, client):
    newest = b'{"error": "Bad request", "newest-versions": ["2025-04-07", "2024-07-17"]}'
    transport.expect(
        look(400, newest), get(events_path("2019-08-01"), 400, newest), get(events_path("2019-04-01"), 200, EMPTY)
    )
    client.document()
    assert client.api_version_used == "2019-04-01"
    assert len(client.warnings) == 1 and "2020-07-01" in client.warnings[0] and "2019-04-01" in client.warnings[0]
    # and stays there, POSTs included
    transport.expect(get(events_path("2019-04-01"), 200, EMPTY), post(events_path("2019-04-01"), 200))
    client.document()
    client.approve(["A"])


def test_the_preview_is_asked_only_when_told(transport):
    client = Client(transport, ENDPOINT, "2024-07-09")
    preview = events_path("2024-07-09")
    transport.expect(get(preview, 404), look(200, EMPTY), get(preview, 404))
    client.document()
    assert client.api_version_used == "2020-07-01"


def test_a_404_that_was_an_update_does_not_lead_to_an_older_version(transport, client):
    transport.expect(
        look(404), get(events_path("2019-08-01"), 200, document(1)), look(200, document(2)), look(200, document(3))
    )
    assert client.document().incarnation == 2
    assert client.document().incarnation == 3
    assert (client.api_version_used, client.warnings) == ("2020-07-01", [])


def test_the_underscore_of_the_oldest_version_goes(transport, client):
    older = [version for version in VERSIONS if version < "2020-07-01"]
    transport.expect(look(400), *[get(events_path(version), 400) for version in older[:-1]])
    transport.expect(get(events_path("2017-03-01"), 200, document(1, event(resources=["_web1"]))))
    assert client.document().events[0].resources == ("web1",)


def refusing(*statuses):
    versions = [version for version in VERSIONS if version <= "2020-07-01"]
    statuses += (statuses[-1],) * (len(versions) - len(statuses))
    return [get(events_path(version), status, b"Bad request") for version, status in zip(versions, statuses)]


def test_all_versions_refused_is_final(transport, client):
    transport.expect(*refusing(400))
    error = failure(client.document)
    assert (error.kind, error.status) == ("version_refused", 400)
    assert "X-Forwarded-For" in error.message
    assert "Bad request" in error.message


@pytest.mark.parametrize("statuses", [(404,), (400, 404), (404, 400)])
def test_all_versions_missing_may_be_an_update(transport, client, statuses):
    transport.expect(*refusing(*statuses))
    transport.expect(look(200, EMPTY, at=1))
    client.document()
    assert client.api_version_used == "2020-07-01"


def test_all_versions_missing_for_long_is_unavailable(transport, client):
    # five requests a second are allowed, and all versions are seven: they are not asked at every retry
    transport.expect(*refusing(404))
    transport.expect(*[look(404, at=at) for at in (1, 3, 7, 15, 23)])
    transport.expect(*refusing(404))
    error = failure(client.document)
    assert (error.kind, error.status, transport.clock.elapsed) == ("unavailable", 404, 30.0)
    assert client.polls == 19


def test_an_older_version_is_found_when_an_update_of_the_service_is_over(transport, client):
    transport.expect(*refusing(404))
    transport.expect(look(404, at=1), look(404, at=3), look(404, at=7), look(404, at=15), look(404, at=23))
    transport.expect(look(404, at=31), get(events_path("2019-08-01"), 200, EMPTY), look(404))
    client.document(Deadline(transport.clock, 60.0))
    assert client.api_version_used == "2019-08-01"


def test_a_version_that_is_refused_leads_to_the_older_ones_at_every_retry(transport, client):
    transport.expect(*refusing(404))
    transport.expect(look(400, at=1), get(events_path("2019-08-01"), 200, EMPTY))
    client.document()
    assert client.api_version_used == "2019-08-01"


def test_another_failure_on_the_way_down_starts_it_anew(transport, client):
    transport.expect(
        look(400), get(events_path("2019-08-01"), 503), look(400), get(events_path("2019-08-01"), 200, EMPTY)
    )
    client.document()
    assert client.api_version_used == "2019-08-01"


def test_once_answered_a_404_does_not_change_the_version(transport, client):
    transport.expect(look(200, EMPTY), look(404), look(200, ONE))
    client.document()
    client.document()
    assert client.api_version_used == "2020-07-01"
