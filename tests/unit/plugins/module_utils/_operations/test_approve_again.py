# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    BrokenAnswer,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._operations.operating import (
    EMPTY,
    ONE,
    STARTED,
    URL,
    failed,
    run_approve,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    document,
    event,
    look,
    own_name,
    sent,
)

# --- approve: a POST that got no 200 ---

LOST = [
    (Unreachable("Cut."),),
    (AnswerTimeout("Late."),),
    (BrokenAnswer("Broken off."),),
    (404,),
    (408,),
    (410,),
    (500,),
    (503,),
]


@pytest.mark.parametrize("outcome", LOST)
def test_a_lost_approval_is_sent_again(transport, outcome):
    transport.expect(
        look(200, ONE),
        own_name(),
        sent("ID-1", outcome=outcome),
        look(200, ONE, at=1),
        sent("ID-1", at=1),
        look(200, STARTED),
    )
    result = run_approve(transport, "ID-1")
    assert (result["approved"], result["confirmed"]) == (["ID-1"], ["ID-1"])


@pytest.mark.parametrize("outcome", LOST)
@pytest.mark.parametrize("after", [STARTED, EMPTY])
def test_a_lost_approval_that_arrived_is_not(transport, outcome, after):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=outcome), look(200, after, at=1))
    result = run_approve(transport, "ID-1")
    assert (result["changed"], result["approved"], result["confirmed"]) == (True, ["ID-1"], ["ID-1"])
    assert (result["already"], result["not_approved"]) == ([], [])


def test_only_what_is_still_open_is_sent_again(transport):
    transport.expect(
        look(200, document(1, event(), event("ID-2"))),
        own_name(),
        sent("ID-1", "ID-2", outcome=(500,)),
        look(200, document(2, event(status="Started"), event("ID-2"))),
        sent("ID-2"),
        look(200, EMPTY),
    )
    result = run_approve(transport, "ID-1", "ID-2")
    assert result["approved"] == result["confirmed"] == ["ID-1", "ID-2"]


def test_an_event_that_grew_is_not_sent_again(transport):
    transport.expect(
        look(200, ONE),
        own_name(),
        sent("ID-1", outcome=(500,)),
        look(200, document(2, event(resources=["web1", "web2"]))),
    )
    result = run_approve(transport, "ID-1")
    assert (result["approved"], [each["reason"] for each in result["not_approved"]]) == ([], ["unknown_machines"])


def test_approvals_that_get_lost_again_and_again(transport):
    transport.expect(
        look(200, ONE),
        own_name(),
        sent("ID-1", outcome=(503,), at=0),
        look(200, ONE, at=1),
        sent("ID-1", outcome=(503,), at=1),
        look(200, ONE, at=3),
        sent("ID-1", outcome=(503,), at=3),
        look(200, ONE, at=5),
        sent("ID-1", outcome=(503, b'{"error": "busy"}'), at=5),
        look(200, ONE, at=5),
    )
    error = failed(run_approve, transport, "ID-1", wait_timeout=5.0)
    assert error.failure() == {"kind": "unavailable", "status": 503, "url": URL}
    assert error.message.startswith("Approving ID-1 failed: ")
    assert "busy" in error.message and "may or may not have arrived" in error.message
    assert (error.result["changed"], error.result["approved"], error.result["incarnation"]) == (False, [], 2)


def test_pauses_between_lost_approvals_grow(transport):
    transport.expect(look(200, ONE), own_name())
    for sent_at, looked_at in ((0, 1), (1, 3), (3, 7), (7, 15), (15, 23)):
        transport.expect(sent("ID-1", outcome=(503,), at=sent_at), look(200, ONE, at=looked_at))
    transport.expect(sent("ID-1", at=23), look(200, STARTED))
    run_approve(transport, "ID-1")


def test_without_waiting_a_lost_approval_is_sent_again_too(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=(500,)), look(200, ONE), sent("ID-1"))
    assert run_approve(transport, "ID-1", wait=False)["approved"] == ["ID-1"]


def test_a_throttled_approval_waits_as_told(transport):
    transport.expect(
        look(200, ONE),
        own_name(),
        sent("ID-1", outcome=(429, b"", {"retry-after": "7"})),
        look(200, ONE, at=7),
        sent("ID-1", outcome=(429,), at=7),
        look(200, ONE, at=11),
        sent("ID-1", at=11),
        look(200, STARTED),
    )
    run_approve(transport, "ID-1")


def test_a_throttled_approval_that_would_wait_too_long(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=(429, b"", {"retry-after": "61"})))
    error = failed(run_approve, transport, "ID-1")
    assert (error.kind, transport.clock.elapsed) == ("throttled", 0.0)
    assert "61 s" in error.message


@pytest.mark.parametrize("status, kind", [(401, "denied"), (403, "denied"), (302, "not_azure"), (405, "not_azure")])
def test_a_refused_approval_is_not_sent_again(transport, status, kind):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=(status,)))
    error = failed(run_approve, transport, "ID-1")
    assert (error.kind, error.status) == (kind, status)
    assert "pproving ID-1 failed" in error.message
    assert not error.result["changed"]


def test_a_rejected_approval_of_an_event_that_stays(transport):
    transport.expect(
        look(200, ONE), own_name(), sent("ID-1", outcome=(400, b'{"error": "payload malformed"}')), look(200, ONE, at=0)
    )
    error = failed(run_approve, transport, "ID-1")
    assert error.failure() == {"kind": "rejected", "status": 400, "url": URL}
    assert "payload malformed" in error.message and "still holds it as not started" in error.message


@pytest.mark.parametrize(
    "after, reason", [(EMPTY, "gone"), (document(2, event(resources=["web1", "x"])), "unknown_machines")]
)
def test_a_rejected_approval_of_an_event_that_left(transport, after, reason):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=(400,)), look(200, after))
    result = run_approve(transport, "ID-1")
    assert (result["changed"], [each["reason"] for each in result["not_approved"]]) == (False, [reason])


def test_one_that_left_does_not_hold_up_the_others(transport):
    transport.expect(
        look(200, document(1, event(), event("ID-2"), event("ID-3"))),
        own_name(),
        sent("ID-1", "ID-2", "ID-3", outcome=(400,)),
        look(200, document(2, event("ID-2"), event("ID-3", "Started"))),
        sent("ID-2"),
        look(200, EMPTY),
    )
    result = run_approve(transport, "ID-1", "ID-2", "ID-3")
    assert (result["approved"], result["already"]) == (["ID-2"], ["ID-3"])
    assert [each["id"] for each in result["not_approved"]] == ["ID-1"]


def test_all_of_several_rejected(transport):
    two = document(1, event(), event("ID-2"))
    transport.expect(look(200, two), own_name(), sent("ID-1", "ID-2", outcome=(400,)), look(200, two))
    assert "all of them" in failed(run_approve, transport, "ID-1", "ID-2").message


def test_nobody_can_tell_whether_it_arrived(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=(AnswerTimeout("Late."),)), look(403))
    error = failed(run_approve, transport, "ID-1")
    assert error.kind == "denied"
    assert "Late." in error.message and "Whether it arrived can't be seen" in error.message


# --- approve: rank and takeover ---


def test_a_stand_in_waits_its_turn(transport):
    transport.expect(look(200, ONE, at=0), own_name(), *[look(200, ONE, at=at) for at in range(1, 21)])
    transport.expect(sent("ID-1", at=20), look(200, STARTED, at=21))
    assert run_approve(transport, "ID-1", rank=2, takeover=10.0)["confirmed"] == ["ID-1"]


@pytest.mark.parametrize("after, already, reasons", [(STARTED, ["ID-1"], []), (EMPTY, [], ["gone"])])
def test_a_stand_in_that_is_not_needed(transport, after, already, reasons):
    transport.expect(look(200, ONE, at=0), own_name(), look(200, ONE, at=1), look(200, after, at=2))
    result = run_approve(transport, "ID-1", rank=1, takeover=30.0)
    assert (result["changed"], result["already"]) == (False, already)
    assert [each["reason"] for each in result["not_approved"]] == reasons


def test_a_stand_in_approves_what_is_left(transport):
    both = document(1, event(), event("ID-2"))
    transport.expect(
        look(200, both, at=0),
        own_name(),
        look(200, document(2, event(status="Started"), event("ID-2")), at=1),
        look(200, document(3, event("ID-2")), at=2),
        sent("ID-2", at=2),
        look(200, document(4, event("ID-2", "Started"))),
    )
    result = run_approve(transport, "ID-1", "ID-2", rank=1, takeover=2.0)
    # ID-1 has started: that it is gone now is not worth a word
    assert (result["approved"], result["already"], result["not_approved"]) == (["ID-2"], ["ID-1"], [])


def test_no_takeover_time_is_no_wait(transport):
    transport.expect(look(200, ONE, at=0), own_name(), sent("ID-1", at=0), look(200, STARTED))
    run_approve(transport, "ID-1", rank=5, takeover=0.0)


def test_a_stand_in_looks_once_more_when_it_could_not_see(transport):
    transport.expect(
        look(200, ONE, at=0),
        own_name(),
        look(503, at=1),
        look(503, at=2),
        look(503, at=2),
        look(200, ONE, at=3),
        sent("ID-1", at=3),
        look(200, STARTED),
    )
    run_approve(transport, "ID-1", rank=1, takeover=2.0)


def test_a_stand_in_that_is_forbidden_to_look(transport):
    transport.expect(look(200, ONE), own_name(), look(403))
    assert failed(run_approve, transport, "ID-1", rank=1).kind == "denied"


def test_the_wait_for_others_is_not_taken_from_the_confirmation(transport):
    transport.expect(
        look(200, ONE, at=0),
        own_name(),
        look(200, ONE, at=1),
        look(200, ONE, at=2),
        look(200, ONE, at=3),
        sent("ID-1", at=3),
        look(200, ONE, at=4),
        look(200, STARTED, at=5),
    )
    run_approve(transport, "ID-1", rank=1, takeover=3.0, wait_timeout=2.0)
