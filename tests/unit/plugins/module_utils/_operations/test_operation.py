# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.endpoint import Found
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._operations.operating import (
    EMPTY,
    ONE,
    STARTED,
    URL,
    failed,
    ids,
    run_approve,
    run_info,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    NAME_PATH,
    events_path,
    get,
    look,
    own_name,
    sent,
)


def elsewhere(*paths_and_outcomes):
    return [get(url + events_path(), *outcome) for url, outcome in paths_and_outcomes]


FOUND = Found(("http://168.63.129.16", "http://168.63.129.16:8080"), ())


def not_called():
    raise AssertionError("looked for endpoints")


def test_nothing_is_looked_for_unless_told(transport):
    transport.expect(*[look(Unreachable("No connection.", url=URL)) for _each in range(6)])
    assert failed(run_info, transport, find=not_called).kind == "unreachable"


def test_nothing_is_looked_for_when_the_endpoint_answers(transport):
    transport.expect(look(200, EMPTY), own_name())
    run_info(transport, find=not_called, discover=True)


@pytest.mark.parametrize("status, kind", [(403, "denied"), (200, "not_azure")])
def test_nothing_is_looked_for_when_somebody_answers(transport, status, kind):
    transport.expect(look(status, b"[1]"))
    assert failed(run_info, transport, find=not_called, discover=True).kind == kind


def test_an_endpoint_that_is_only_busy_is_asked_again(transport):
    transport.expect(look(503), look(200, EMPTY), own_name())
    run_info(transport, find=not_called, discover=True)


@pytest.mark.parametrize("error", [Unreachable("No."), AnswerTimeout("Late.")])
@pytest.mark.parametrize("wait_for_it", [True, False])
def test_the_first_endpoint_that_answers_is_used(transport, error, wait_for_it):
    port_8080 = "http://168.63.129.16:8080"
    transport.expect(look(error), *elsewhere(("http://168.63.129.16", (Unreachable("No."),)), (port_8080, (200, ONE))))
    transport.expect(get(port_8080 + NAME_PATH, 200, b"web1"))
    result = run_info(transport, find=lambda: FOUND, discover=True, wait=wait_for_it)
    assert (result["endpoint"], result["polls"], ids(result["events"])) == (port_8080, 3, ["ID-1"])
    assert transport.clock.elapsed == 0
    assert len(result["warnings"]) == 1 and port_8080 in result["warnings"][0]


def test_a_wait_at_a_discovered_endpoint_survives_a_reset(transport):
    transport.expect(
        look(Unreachable("No.")),
        *elsewhere(
            ("http://168.63.129.16", (200, EMPTY)),
            ("http://168.63.129.16", (Unreachable("cut"),)),
            ("http://168.63.129.16", (200, ONE)),
        ),
    )
    transport.script.insert(2, get("http://168.63.129.16" + NAME_PATH, 200, b"web1"))
    run_info(transport, find=lambda: FOUND, discover=True, wait=True)


def test_no_endpoint_anywhere(transport):
    transport.expect(
        look(Unreachable("No connection.", url=URL)),
        *elsewhere(("http://168.63.129.16", (Unreachable("No."),)), ("http://168.63.129.16:8080", (200, b"<html>"))),
    )
    error = failed(run_info, transport, find=lambda: FOUND, discover=True)
    assert error.failure() == {"kind": "unreachable", "status": None, "url": URL}
    assert "http://168.63.129.16 (unreachable), http://168.63.129.16:8080 (not_azure)" in error.message
    assert (error.result["endpoint"], error.result["polls"]) == (ENDPOINT, 3)


@pytest.mark.parametrize(
    "find, words",
    [
        (None, "no DHCP lease"),
        (lambda: Found((), ()), "no DHCP lease"),
        (lambda: Found((), ("/var/lib/dhcp: Permission denied",)), "/var/lib/dhcp: Permission denied"),
    ],
)
def test_nothing_is_found(transport, find, words):
    transport.expect(look(Unreachable("No connection.", url=URL)))
    error = failed(run_info, transport, find=find, discover=True)
    assert words in error.message and "No connection." in error.message


def test_approving_at_a_discovered_endpoint(transport):
    other = "http://168.63.129.16"
    transport.expect(
        look(Unreachable("No.")),
        get(other + events_path(), 200, ONE),
        get(other + NAME_PATH, 200, b"web1"),
        sent("ID-1"),
        get(other + events_path(), 200, STARTED),
    )
    transport.script[3].url = other + events_path()
    assert run_approve(transport, "ID-1", discover=True, find=lambda: FOUND)["endpoint"] == other
