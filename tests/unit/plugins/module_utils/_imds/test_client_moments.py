# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How old a document is, and its request; since when nobody has looked away; and what time it is for the service."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Deadline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    ScheduledEventsError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import Moments
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.conversation import EMPTY, ONE
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    WALL,
    events_path,
    get,
    look,
)

START = 5000.0  # of the scripted clock


def moments(*seconds):
    return Moments(*(START + second for second in seconds))


def wait(client, clock, seconds=60.0):
    return client.changed_document(client.document(), 1.0, Deadline(clock, seconds))


def test_a_document_alone(transport, client):
    transport.expect(look(200, ONE, takes=0.5))
    client.document()
    assert client.moments == moments(0, 0, 0.5)


def test_there_are_none_before_the_first_document(transport, client):
    transport.expect(look(200, ONE, takes=0.5))
    assert client.moments is None
    client.document()


def test_a_row_of_looks_began_with_its_first_one(transport, client, clock):
    transport.expect(
        look(200, ONE, takes=0.5), look(200, ONE, takes=0.5), look(304, takes=0.5), look(200, EMPTY, takes=2.0)
    )
    wait(client, clock)
    assert client.moments == moments(0, 4.5, 6.5)


def test_one_answer_that_hangs_breaks_it(transport, client, clock):
    transport.expect(look(200, ONE), look(200, ONE, takes=9.5), look(200, EMPTY, takes=0.5))
    wait(client, clock)
    assert client.moments == moments(11.5, 11.5, 12.0)


def test_a_failure_on_the_way_breaks_it_only_when_it_lasts(transport, client, clock):
    transport.expect(look(200, ONE), look(200, ONE), look(503), look(200, EMPTY))
    wait(client, clock)
    first, asked, came = client.moments
    assert first == START < asked == came < START + 10
    transport.expect(*[look(503)] * 6, look(200, ONE))
    client.document()
    assert client.moments.asked - asked > 10 and client.moments.first == client.moments.asked


def test_what_was_seen_before_a_failure_belongs_to_it(transport, client, clock):
    """The wait of a Transport ends with its first failure: all of its looks until then went well."""
    same = [look(200, ONE) for _second in range(15)]
    transport.expect(look(200, ONE), *same, look(Unreachable("cut.")), look(200, EMPTY))
    wait(client, clock)
    assert client.moments.first == START < client.moments.came - 15


@pytest.mark.parametrize("header", [{}, {"date": "Thu, 01 Jan 2026 00:00:00 GMT"}])
def test_the_time_of_what_was_seen_before_a_failure_moves_on_with_it(transport, client, clock, header):
    """Else the not-before of its events would seem to be as much later as the wait went well: they are reckoned from both."""
    same = [look(200, ONE, header) for _second in range(15)]
    transport.expect(look(200, ONE, header), *same, look(AnswerTimeout("It hangs."), takes=60.0))
    before = client.document()
    began, looked_at = client.moments.came, client.looked_at
    with pytest.raises(ScheduledEventsError, match="It hangs"):
        client.changed_document(before, 1.0, Deadline(clock, 60.0))
    assert client.moments.came - began == 15.0 and client.looked_at - looked_at == 15.0


def test_an_older_version_whose_newer_one_is_asked_a_second_time(transport, client):
    older = get(events_path("2019-08-01"), 200, ONE, takes=1.0)
    transport.expect(look(404, takes=1.0), older, look(404, takes=1.0))
    client.document()
    assert client.moments == moments(1.0, 1.0, 2.0)


@pytest.mark.parametrize("ahead", [-3600.0, 0.0, 3600.0])
def test_the_service_says_what_time_it_is(transport, client, clock, ahead):
    clock.wall = lambda: WALL + clock.elapsed + ahead
    transport.expect(look(200, ONE, {"date": "Thu, 01 Jan 2026 00:00:07 GMT"}))
    client.document()
    assert client.looked_at == WALL + 7.5


@pytest.mark.parametrize("date", ["", "soon"])
def test_the_machine_does_where_it_does_not(transport, client, date):
    transport.expect(look(200, ONE, {"date": date}, takes=2.0))
    client.document()
    assert client.looked_at == WALL + 2.0


def test_the_time_of_a_wait_is_that_of_its_last_answer(transport, client, clock):
    dates = [{"date": f"Thu, 01 Jan 2026 00:00:{second:02} GMT"} for second in (1, 2, 3)]
    transport.expect(*[look(200, ONE, date) for date in dates[:2]], look(200, EMPTY, dates[2]))
    wait(client, clock)
    assert client.looked_at == WALL + 3.5
