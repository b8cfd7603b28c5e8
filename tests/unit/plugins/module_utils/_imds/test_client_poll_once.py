# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks of somebody who looks every second: conditional, without retries; and the rate that several threads share."""

import threading
import time

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import SharedRateLimit
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._imds.conversation import (
    EMPTY,
    METADATA,
    ONE,
    failure,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    WALL,
    ScriptedClock,
    events_path,
    get,
    look,
)

KNOWN = {"Metadata": "true", "If-None-Match": '"2"'}
DATED = {"etag": '"2"', "date": "Thu, 01 Jan 2026 00:00:07 GMT"}


def test_looks_after_the_first_are_conditional(transport, client):
    transport.expect(
        look(200, ONE, DATED, headers=METADATA, timeout=125.0),
        look(304, headers=KNOWN, timeout=10.0),
        look(200, EMPTY, headers=KNOWN),
        look(200, EMPTY, headers=METADATA),
    )
    first = client.poll_once()
    assert client.poll_once() is first
    assert client.poll_once().events == ()
    client.poll_once()
    assert client.looked_at == WALL


def test_the_time_of_the_service(transport, client):
    transport.expect(look(200, ONE, DATED), look(304, b"", {"date": "Thu, 01 Jan 2026 00:00:08 GMT"}), look(304))
    client.poll_once()
    assert client.server_time() == WALL + 7
    client.poll_once()
    assert client.server_time() == WALL + 8
    client.poll_once()
    assert client.server_time() is None


@pytest.mark.parametrize("outcome", [(Unreachable("cut."),), (503,), (429,), (404,)])
def test_no_failure_is_tried_again(transport, client, outcome):
    transport.expect(look(200, ONE, DATED), look(*outcome), look(304, headers=KNOWN))
    first = client.poll_once()
    failure(client.poll_once)
    assert transport.clock.sleeps == []
    assert client.poll_once() is first, "what was seen before still counts"


def test_an_empty_answer_takes_back_no_event(transport, client):
    transport.expect(look(200, ONE), look(200, b""))
    client.poll_once()
    assert failure(client.poll_once).kind == "malformed"


def test_nor_one_that_was_seen_before_this_conversation(transport, client):
    client.expect_events()
    transport.expect(look(200, b""))
    assert failure(client.poll_once).kind == "malformed"


def test_after_a_day_the_answer_may_take_its_time_again(transport, client):
    transport.expect(look(200, ONE), look(200, ONE, timeout=10.0), look(200, ONE, timeout=125.0))
    client.poll_once()
    client.poll_once()
    client.poll_once(patient=True)


def test_a_version_that_is_chosen_anew(transport, client):
    older = events_path("2019-08-01")
    transport.expect(look(400), get(older, 200, ONE), get(older, 200, ONE), look(200, ONE))
    client.poll_once()
    client.poll_once()
    assert client.api_version_used == "2019-08-01"
    client.choose_version_anew()
    client.poll_once()
    assert client.api_version_used == "2020-07-01"


def test_a_rate_that_is_shared():
    clock = ScriptedClock()
    rate = SharedRateLimit(clock, 2)
    rate.wait()  # hangs
    began = []
    for _each in range(4):
        rate.wait()
        began.append(clock.elapsed)
        rate.ended()
    assert began[0] == 0.0
    assert all(later - earlier > 0.99 for earlier, later in zip(began, began[1:]))
    rate.ended()


class Watched(ScriptedClock):
    """Time passes when a test says so; it knows who waits."""

    def __init__(self):
        super().__init__()
        self.waiting = set()

    def sleep(self, seconds):
        self.waiting.add(threading.current_thread().name)
        time.sleep(0.001)


def test_who_came_first_is_served_first():
    """Else looks that use all that is allowed would keep an approval waiting."""
    clock, served = Watched(), []
    rate = SharedRateLimit(clock, 1)

    def ask():
        rate.wait()
        served.append(threading.current_thread().name)
        rate.ended()

    rate.wait()
    rate.ended()
    names = [str(number) for number in range(6)]
    threads = [threading.Thread(target=ask, name=name, daemon=True) for name in names]
    for thread in threads:
        thread.start()
        while thread.name not in clock.waiting:
            time.sleep(0.001)
    for count in range(1, 7):
        clock.elapsed += 1.5
        while len(served) < count:
            time.sleep(0.001)
    assert served == names
