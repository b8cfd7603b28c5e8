# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    BrokenAnswer,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._operations.operating import (
    EMPTY,
    MIXED,
    ONE,
    STARTED,
    URL,
    failed,
    ids,
    run_info,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    document,
    event,
    look,
    own_name,
)


def wait(transport, wait_for="event", **options):
    transport.script.insert(1, own_name())
    return run_info(transport, wait=True, wait_for=wait_for, **options)


def give_up(transport, wait_for="event", **options):
    transport.script.insert(1, own_name())
    error = failed(run_info, transport, wait=True, wait_for=wait_for, **options)
    assert error.kind == "timeout"
    assert error.url == URL
    assert ENDPOINT in error.message
    return error


def test_waits_for_an_event(transport):
    transport.expect(look(200, EMPTY, at=0), look(200, EMPTY, at=1), look(200, ONE, at=2))
    result = wait(transport)
    assert (ids(result["events"]), result["elapsed"], result["polls"]) == (["ID-1"], 2.0, 3)
    assert result["looked_at"] == "2026-01-01T00:00:02Z"
    assert result["events"][0]["notice"] == 898
    assert result["transitions"] == [
        {"kind": "shown", "id": "ID-1", "type": "Reboot", "outcome": "", "affects_self": True}
    ]


def test_does_not_wait_for_what_is_there(transport):
    transport.expect(look(200, ONE))
    assert wait(transport)["transitions"] == []


def test_waits_for_an_event_that_passes_the_filters(transport):
    transport.expect(
        look(200, EMPTY),
        look(200, document(2, event(resources=["web10"]))),
        look(200, document(3, event(resources=["web10"]), event("ID-2"))),
    )
    result = wait(transport, affecting="self")
    assert ids(result["events"]) == ["ID-2"]
    assert [each["id"] for each in result["transitions"]] == ["ID-2"]


def test_the_interval_is_the_callers(transport):
    transport.expect(look(200, EMPTY, at=0), look(200, EMPTY, at=5), look(200, ONE, at=10))
    wait(transport, wait_sleep=5.0)


def test_gives_up_at_the_deadline_with_all_that_it_saw(transport):
    transport.expect(*[look(200, MIXED, at=at) for at in (0, 1, 2, 2.5)])
    error = give_up(transport, types=["Preempt", "Terminate"], affecting="self", wait_timeout=2.5)
    assert "No event came within 2.5 s" in error.message
    assert "(types=Preempt, Terminate, affecting web1)" in error.message
    assert "incarnation 9" in error.message
    assert "Freeze ID-2 Started of WEB1" in error.message
    result = error.result
    assert (result["incarnation"], result["elapsed"], result["polls"], result["events"]) == (9, 2.5, 4, [])


def test_no_time_is_one_look(transport):
    transport.expect(look(200, EMPTY))
    assert "held no event" in give_up(transport, wait_timeout=0.0).message


def test_a_change_at_the_deadline_that_is_not_the_one_is_the_last_look(transport):
    transport.expect(look(200, EMPTY, at=0), look(200, document(5), at=1))
    assert give_up(transport, wait_timeout=1.0).result["incarnation"] == 5


def test_waits_for_a_start(transport):
    transport.expect(look(200, ONE), look(200, document(3, event(), event("ID-2"))), look(200, STARTED))
    result = wait(transport, "started")
    assert result["events"][0]["status"] == "Started"
    assert [(each["kind"], each["id"]) for each in result["transitions"]] == [
        ("shown", "ID-2"),
        ("gone", "ID-2"),
        ("started", "ID-1"),
    ]


def test_an_event_that_starts_without_notice_has_started(transport):
    transport.expect(look(200, EMPTY), look(200, STARTED))
    assert [each["kind"] for each in wait(transport, "started")["transitions"]] == ["shown", "started"]


def test_a_named_event_that_is_gone_is_not_waited_for_to_start(transport):
    transport.expect(look(200, ONE), look(200, document(3, event("ID-2"))))
    result = wait(transport, "started", event_ids=["id-1"])
    assert result["events"] == []
    assert [(each["kind"], each["outcome"]) for each in result["transitions"]] == [("gone", "cancelled")]


def test_an_unnamed_one_is_not_enough_for_that(transport):
    transport.expect(look(200, ONE, at=0), look(200, EMPTY, at=1), look(200, EMPTY, at=2))
    assert "No event had started after 2 s" in give_up(transport, "started", wait_timeout=2.0).message


def test_one_of_several_named_ones_that_starts_is_enough(transport):
    transport.expect(look(200, document(3, event(), event("ID-2", "Started"))))
    wait(transport, "started", event_ids=["ID-1", "ID-2"])


def test_waits_until_events_are_gone(transport):
    transport.expect(look(200, ONE), look(200, STARTED), look(200, document(4, event("ID-2", resources=["web2"]))))
    result = wait(transport, "gone", affecting="self")
    assert result["events"] == []
    assert [(each["kind"], each["outcome"]) for each in result["transitions"]] == [
        ("started", ""),
        ("gone", "completed"),
    ]


def test_the_end_of_no_events_is_waited_for_without_a_request(transport):
    """Where nothing was approved, a playbook waits for the end of an empty list of events."""
    result = run_info(transport, event_ids=[], wait=True, wait_for="gone", placement_group=True, affecting="self")
    assert (result["events"], result["polls"], result["elapsed"], result["incarnation"]) == ([], 0, 0.0, None)


def test_the_status_filter_does_not_hide_what_happened(transport):
    transport.expect(look(200, ONE), look(200, STARTED))
    assert [each["kind"] for each in wait(transport, "gone", statuses=["Scheduled"])["transitions"]] == ["started"]


def test_all_named_events_must_be_gone(transport):
    transport.expect(
        look(200, document(1, event(), event("ID-2"), event("ID-3"))),
        look(200, document(2, event("ID-2"))),
        look(200, document(3, event("ID-3"))),
    )
    wait(transport, "gone", event_ids=["ID-1", "ID-2"])


@pytest.mark.parametrize(
    "wait_for, options", [("gone", {"event_ids": ["id-1"]}), ("gone", {}), ("started", {"event_ids": ["ID-1"]})]
)
def test_an_event_that_can_not_be_read_any_more_is_not_gone(transport, wait_for, options):
    transport.expect(
        look(200, ONE, at=0),
        look(200, document(3, event(resources=[])), at=1),
        look(200, document(3, event(resources=[])), at=2),
    )
    error = give_up(transport, wait_for, wait_timeout=2.0, **options)
    assert len(error.result["unusable_events"]) == 1
    assert "held entry 1, which can't be read: its Resources are an empty list" in error.message


UNREADABLE = [
    event(None),
    event(EventId=7),
    event(EventId=" "),
    event(EventId="ID-1 "),
    event(EventId="ID\0-1"),
    "ID-1",
]
WITHOUT_ID = [(None,)] + [(each,) for each in UNREADABLE]


@pytest.mark.parametrize("entries", WITHOUT_ID)
@pytest.mark.parametrize(
    "wait_for, options", [("gone", {"event_ids": ["id-1"]}), ("gone", {}), ("started", {"event_ids": ["ID-1"]})]
)
def test_an_entry_that_lost_its_id_may_be_the_event_that_is_waited_for(transport, entries, wait_for, options):
    lost = document(3, *entries)
    transport.expect(look(200, ONE, at=0), look(200, lost, at=1), look(200, lost, at=2))
    error = give_up(transport, wait_for, wait_timeout=2.0, **options)
    assert error.result["transitions"] == []
    assert "held entry 1, which can't be read" in error.message


@pytest.mark.parametrize("entries", WITHOUT_ID)
def test_the_end_of_an_event_is_seen_when_its_entry_can_be_read_again(transport, entries):
    transport.expect(look(200, STARTED), look(200, document(4, *entries)), look(200, STARTED), look(200, EMPTY))
    result = wait(transport, "gone")
    assert result["elapsed"] == 3.0
    assert [(each["kind"], each["outcome"]) for each in result["transitions"]] == [("gone", "completed")]


def test_the_end_of_an_event_is_seen_right_after_its_entry_could_not_be_read(transport):
    transport.expect(look(200, STARTED), look(200, document(4, None)), look(200, EMPTY))
    result = wait(transport, "gone")
    assert [(each["kind"], each["outcome"]) for each in result["transitions"]] == [("gone", "completed")]


def test_an_entry_that_lost_its_id_does_not_hide_a_start(transport):
    transport.expect(look(200, ONE), look(200, document(3, None, event(status="Started"))))
    assert wait(transport, "started", event_ids=["ID-1"])["elapsed"] == 1.0


@pytest.mark.parametrize(
    "options, members",
    [
        ({"types": ["Reboot"]}, {"EventType": None}),
        ({"types": ["Reboot"]}, {"EventType": "Reboot "}),
        ({"types": ["Reboot"]}, {"EventType": "\0"}),
        ({"sources": ["Platform"]}, {"EventSource": None}),
        ({"statuses": ["Scheduled"]}, {"EventStatus": None}),
        ({"affecting": "self"}, {"resources": ["web1 "]}),
        ({"affecting": "self"}, {"resources": ["web2", "\u200bweb1"]}),
        ({"affecting": "self", "types": ["Reboot"]}, {"resources": ["we\ufffdb1"], "EventType": None}),
    ],
)
@pytest.mark.parametrize("first", [ONE, None])
def test_an_event_is_not_gone_when_something_that_a_filter_looks_at_is_damaged(transport, options, members, first):
    damaged = document(2, event(**members))
    transport.expect(*[look(200, body) for body in (first or damaged, damaged, damaged)])
    assert "An event was still there after 2 s" in give_up(transport, "gone", wait_timeout=2.0, **options).message


def test_a_damaged_event_of_another_kind_is_not_waited_for(transport):
    transport.expect(look(200, document(2, event(EventType="Freeze", EventSource=None))))
    wait(transport, "gone", types=["Reboot"], sources=["Platform"])


def test_an_unreadable_event_that_nobody_asked_for_does_not_count(transport):
    transport.expect(look(200, document(3, event("ID-2", resources=[]))))
    wait(transport, "gone", event_ids=["ID-1"])


def test_a_long_document_is_described_in_part(transport):
    many = document(1, *[event(f"ID-{number}", resources=[f"web{n}" for n in range(30)]) for number in range(30)])
    transport.expect(*[look(200, many) for _each in range(3)])
    message = give_up(transport, "gone", wait_timeout=2.0).message
    assert "web19 and 10 more" in message and "ID-19" in message and "ID-20" not in message
    assert message.endswith("; and 10 more.")


def test_an_event_that_stays_is_named(transport):
    transport.expect(*[look(200, ONE) for _each in range(3)])
    message = give_up(transport, "gone", event_ids=["ID-1"], wait_timeout=2.0).message
    assert "An event was still there after 2 s" in message and "Reboot ID-1 Scheduled of web1" in message


def test_waits_for_a_change(transport):
    transport.expect(look(200, ONE), look(200, ONE), look(200, document(1)))
    result = wait(transport, "change", types=["Freeze"])  # filters do not matter
    assert (result["incarnation"], result["transitions"]) == (1, [])


@pytest.mark.parametrize("known", [1, 3])
def test_a_document_that_the_caller_does_not_know_is_a_change(transport, known):
    transport.expect(look(200, ONE))
    assert wait(transport, "change", since_incarnation=known)["incarnation"] == 2


def test_a_document_that_the_caller_knows_is_none(transport):
    transport.expect(*[look(200, ONE) for _each in range(3)])
    assert "did not change within 2 s" in give_up(transport, "change", since_incarnation=2, wait_timeout=2.0).message


def test_a_wait_survives_failures_and_reports_them(transport):
    transport.expect(look(200, EMPTY), look(BrokenAnswer("Broken off.")), look(429), look(200, ONE))
    result = wait(transport)
    assert result["polls"] == 4
    assert len(result["warnings"]) == 1 and "2 of the requests" in result["warnings"][0]


def test_a_wait_that_ends_in_a_failure_keeps_what_it_saw(transport):
    transport.expect(look(200, EMPTY), own_name(), look(200, ONE), *[look(200, b"{") for _each in range(4)])
    error = failed(run_info, transport, wait=True, wait_for="started", wait_timeout=5.0)
    assert error.failure() == {"kind": "malformed", "status": 200, "url": URL}
    assert ids(error.result["events"]) == ["ID-1"]
    assert error.result["transitions"][0]["kind"] == "shown"
    assert error.result["elapsed"] == 5.0


def test_a_hiccup_without_a_body_is_not_the_end_of_an_event(transport):
    transport.expect(look(200, STARTED), look(200, b""), look(200, STARTED), look(200, EMPTY))
    assert wait(transport, "gone")["elapsed"] == 3.0
