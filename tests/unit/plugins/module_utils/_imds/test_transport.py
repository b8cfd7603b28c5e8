# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Polling until something changes, as every Transport does it."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import Transport
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    ScriptedTransport,
    get,
)

URL = ENDPOINT + "/x"


def until_changed(transport, limit, interval=1.0, known=b"A"):
    return transport.get_until_changed(URL, {"H": "v"}, 10.0, known, interval, limit)


def test_polls_until_the_body_differs(transport):
    transport.expect(
        get("/x", 200, b"A", at=0, headers={"H": "v"}, timeout=10.0),
        get("/x", 304, at=1),
        get("/x", 200, b"B", at=2, headers={"H": "v"}, timeout=10.0),
    )
    assert until_changed(transport, 60) == ((200, {}, b"B"), 3)


@pytest.mark.parametrize("status", [302, 404, 410, 429, 500])
def test_polls_until_the_status_is_another(transport, status):
    transport.expect(get("/x", 200, b"A"), get("/x", status, b"A"))
    answer, polls = until_changed(transport, 60)
    assert (answer.status, polls) == (status, 2)


def test_gives_the_last_answer_when_the_time_is_over(transport):
    transport.expect(get("/x", 200, b"A", at=0), get("/x", 200, b"A", at=1), get("/x", 304, b"", {"etag": "1"}, at=1.5))
    assert until_changed(transport, 1.5) == ((304, {"etag": "1"}, b""), 3)


def test_polls_once_without_time(transport):
    transport.expect(get("/x", 200, b"A"))
    assert until_changed(transport, 0) == ((200, {}, b"A"), 1)


def test_an_error_tells_how_many_polls_there_were(transport):
    transport.expect(get("/x", 200, b"A"), get("/x", 200, b"A"), get("/x", Unreachable("cut")))
    with pytest.raises(Unreachable) as caught:
        until_changed(transport, 60)
    assert caught.value.polls == 3


def test_a_transport_has_a_clock_of_its_own_unless_told():
    assert Transport().clock.now() > 0
    for call in (lambda bare: bare.get("u", {}, 1.0), lambda bare: bare.post("u", {}, b"", 1.0)):
        with pytest.raises(NotImplementedError):
            call(Transport())


def test_a_scripted_transport_complains():
    # the tests above and in other files rest on it
    transport = ScriptedTransport(get("/x", 200))
    with pytest.raises(AssertionError):
        transport.get(ENDPOINT + "/y", {}, 1.0)
    with pytest.raises(AssertionError):
        transport.get(URL, {}, 1.0)
    with pytest.raises(AssertionError):
        ScriptedTransport(get("/x", 200)).finish()


def test_it_says_since_when_it_has_polled_without_a_gap(transport):
    transport.expect(get("/x", 200, b"A", takes=0.5), get("/x", 304, takes=0.5), get("/x", 200, b"B", takes=0.5))
    until_changed(transport, 60)
    assert transport.moments == (5000.0, 5003.0, 5003.5)
    transport.expect(get("/x", 200, b"A"), get("/x", 200, b"A", takes=11.0), get("/x", 200, b"B"))
    until_changed(transport, 60)
    assert transport.moments == (5016.5, 5016.5, 5016.5)
