# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    BrokenAnswer,
    ScheduledEventsError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.discovery import Found
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._operations.operation import (
    OperationFailed,
    approve,
    info,
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
    sent,
)

EMPTY = document(1)
ONE = document(2, event())
STARTED = document(3, event(status="Started"))
URL = ENDPOINT + events_path()

INFO_KEYS = {
    "changed",
    "incarnation",
    "events",
    "unusable_events",
    "resource_name",
    "placement_group",
    "api_version",
    "endpoint",
    "elapsed",
    "polls",
    "looked_at",
    "transitions",
    "warnings",
}
APPROVE_KEYS = {
    "changed",
    "approved",
    "already",
    "not_approved",
    "confirmed",
    "events",
    "unusable_events",
    "incarnation",
    "resource_name",
    "api_version",
    "endpoint",
    "elapsed",
    "polls",
    "looked_at",
    "diff",
    "warnings",
}


def run_info(transport, find=None, **options):
    result = info(dict(options, endpoint=ENDPOINT), transport, transport.clock, find)
    assert set(result) == INFO_KEYS
    return result


def run_approve(transport, *event_ids, **options):
    check_mode = options.pop("check_mode", False)
    find = options.pop("find", None)
    result = approve(
        dict(options, endpoint=ENDPOINT, event_ids=list(event_ids)), transport, transport.clock, check_mode, find
    )
    assert set(result) == APPROVE_KEYS
    return result


def failed(call, *args, **options):
    with pytest.raises(OperationFailed) as caught:
        call(*args, **options)
    assert set(caught.value.result) == (INFO_KEYS if call is run_info else APPROVE_KEYS)
    assert caught.value.message.endswith(".")
    return caught.value


def ids(events):
    return [each["id"] for each in events]


# --- info: one look ---


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


MIXED = document(
    9,
    event("ID-1", resources=["web1", "web2"]),
    event("ID-2", "Started", ["WEB1"], EventType="Freeze", EventSource="User"),
    event("ID-3", resources=["web10"], EventType="Redeploy", EventSource=None),
)


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


# --- info: waiting ---


def wait(transport, wait_for="event", **options):
    return run_info(transport, wait=True, wait_for=wait_for, resource_name="web1", **options)


def give_up(transport, wait_for="event", **options):
    error = failed(run_info, transport, wait=True, wait_for=wait_for, resource_name="web1", **options)
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
    assert "held entry 1, which can't be read: it has no Resources" in error.message


def test_an_unreadable_event_that_nobody_asked_for_does_not_count(transport):
    transport.expect(look(200, document(3, event("ID-2", resources=[]))))
    wait(transport, "gone", event_ids=["ID-1"])


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
    transport.expect(look(200, EMPTY), look(200, ONE), *[look(200, b"{") for _each in range(4)])
    error = failed(run_info, transport, wait=True, wait_for="started", wait_timeout=5.0, resource_name="web1")
    assert error.failure() == {"kind": "malformed", "status": 200, "url": URL}
    assert ids(error.result["events"]) == ["ID-1"]
    assert error.result["transitions"][0]["kind"] == "shown"
    assert error.result["elapsed"] == 5.0


def test_a_hiccup_without_a_body_is_not_the_end_of_an_event(transport):
    transport.expect(look(200, STARTED), look(200, b""), look(200, STARTED), look(200, EMPTY))
    assert wait(transport, "gone")["elapsed"] == 3.0


# --- discovery ---


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
    run_info(transport, find=lambda: FOUND, discover=True, wait=True, resource_name="web1")


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


# --- approve ---


def test_an_approval_that_is_confirmed(transport):
    transport.expect(
        look(200, ONE, at=0), own_name(), sent("ID-1", at=0), look(200, ONE, at=1), look(200, STARTED, at=2)
    )
    result = run_approve(transport, "id-1")
    assert result["changed"]
    assert (result["approved"], result["confirmed"], result["already"], result["not_approved"]) == (
        ["ID-1"],
        ["ID-1"],
        [],
        [],
    )
    assert (result["incarnation"], result["polls"], result["elapsed"], result["resource_name"]) == (3, 3, 2.0, "web1")
    assert result["events"][0]["status"] == "Started"
    assert result["diff"] == {"before": {"events": {"ID-1": "Scheduled"}}, "after": {"events": {"ID-1": "approved"}}}


def test_several_events_are_one_post(transport):
    transport.expect(
        look(200, document(1, event("b"), event("A"), event("C"))),
        own_name(),
        sent("A", "b"),
        look(200, document(2, event("b", "Started"), event("C"))),
    )
    result = run_approve(transport, "a", "B", " A ")
    assert (result["approved"], result["confirmed"]) == (["A", "b"], ["A", "b"])


def test_without_waiting_nothing_is_confirmed(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"))
    result = run_approve(transport, "ID-1", wait=False)
    assert (result["changed"], result["approved"], result["confirmed"]) == (True, ["ID-1"], [])


def test_check_mode_sends_nothing_and_does_not_wait(transport):
    transport.expect(look(200, document(1, event(), event("ID-2", "Started"))), own_name())
    result = run_approve(transport, "ID-1", "ID-2", "ID-3", check_mode=True, rank=3)
    assert (result["changed"], result["approved"], result["already"], result["confirmed"]) == (
        True,
        ["ID-1"],
        ["ID-2"],
        [],
    )
    assert result["not_approved"][0]["reason"] == "gone"
    assert result["diff"]["after"] == {"events": {"ID-1": "approved"}}


@pytest.mark.parametrize("check_mode", [False, True])
def test_what_has_started_or_is_gone_is_no_change(transport, check_mode):
    transport.expect(look(200, STARTED), own_name())
    result = run_approve(transport, "ID-1", "gone-1", check_mode=check_mode)
    assert (result["changed"], result["approved"], result["already"]) == (False, [], ["ID-1"])
    assert [(each["id"], each["reason"]) for each in result["not_approved"]] == [("gone-1", "gone")]
    assert result["diff"] == {"before": {"events": {}}, "after": {"events": {}}}


def declined(transport, wire_event, **options):
    """Why an event is not approved."""
    transport.expect(look(200, document(1, wire_event)), own_name(b"web1"))
    result = run_approve(transport, "id-1", **options)
    assert not result["changed"]
    (entry,) = result["not_approved"]
    written = "ID-1" if wire_event["Resources"] else "id-1"  # as Azure has it, or as the caller
    assert entry["id"] == written and f"Event {written} was" in entry["message"]
    return entry


def test_machines_that_nobody_prepared(transport):
    entry = declined(transport, event(resources=["web1", "WEB2", "web3"]), prepared_resources=["web2", "web30"])
    assert entry["reason"] == "unknown_machines"
    assert "web3" in entry["message"] and "WEB2" not in entry["message"]


def test_a_similar_name_is_another_machine(transport):
    assert declined(transport, event(resources=["web10"]))["reason"] == "unknown_machines"


@pytest.mark.parametrize(
    "wire_event",
    [
        event(EventType="SpotRebalanceRecommendation"),
        event(EventType="spotrebalancerecommendation", EventStatus="Advisory"),
        event(EventStatus="Advisory"),
    ],
)
def test_advice_is_never_approved(transport, wire_event):
    assert declined(transport, wire_event, force=True)["reason"] == "advice"


def test_only_a_machine_itself_approves_its_deletion(transport):
    entry = declined(
        transport, event(EventType="Terminate", resources=["web2"]), force=True, prepared_resources=["web2"]
    )
    assert entry["reason"] == "not_own_terminate"
    assert "web1" in entry["message"] and "web2" in entry["message"]


def test_an_event_whose_machines_can_not_be_read(transport):
    assert declined(transport, event(resources=[]), force=True)["reason"] == "unknown_machines"


@pytest.mark.parametrize(
    "wire_event, options",
    [
        (event(resources=["web1", "web2"]), {"prepared_resources": ["WEB2"]}),
        (event(resources=["web2"]), {"prepared_resources": ["web2"]}),
        (event(resources=["web1", "stranger"]), {"force": True}),
        (event(EventType="Terminate", resources=["WEB1"]), {}),
        (event(EventType="Preempt"), {}),
        (event(EventType="Hibernate", EventStatus="Planned"), {}),
    ],
)
def test_what_is_approved(transport, wire_event, options):
    transport.expect(look(200, document(1, wire_event)), own_name(), sent("ID-1"), look(200, EMPTY))
    assert run_approve(transport, "ID-1", **options)["confirmed"] == ["ID-1"]


@pytest.mark.parametrize(
    "wire_event, options",
    [(event(), {}), (event(EventType="Terminate"), {"force": True, "prepared_resources": ["web1"]})],
)
def test_a_name_that_matters_must_be_had(transport, wire_event, options):
    transport.expect(look(200, document(1, wire_event)), get(NAME_PATH, 200, b""))
    error = failed(run_approve, transport, "ID-1", **options)
    assert error.kind == "malformed"
    assert error.result["approved"] == []


@pytest.mark.parametrize(
    "wire_event, options",
    [
        (event(), {"force": True}),
        (event(), {"prepared_resources": ["web1"]}),
        (event(status="Started"), {}),
        (event("ID-2"), {}),
        (event(EventStatus="Advisory"), {}),
    ],
)
def test_a_name_that_does_not_matter_may_be_missing(transport, wire_event, options):
    transport.expect(look(200, document(1, wire_event)), get(NAME_PATH, 404))
    if options:
        transport.expect(sent("ID-1"), look(200, EMPTY))
    result = run_approve(transport, "ID-1", **options)
    assert len(result["warnings"]) == 1
    assert result["changed"] == bool(options)


def test_an_approval_that_is_not_confirmed_stands(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), *[look(200, ONE) for _each in range(3)])
    error = failed(run_approve, transport, "ID-1", wait_timeout=3.0)
    assert error.kind == "timeout"
    assert (error.result["changed"], error.result["approved"], error.result["confirmed"]) == (True, ["ID-1"], [])
    assert "the approval stands" in error.message and "ID-1" in error.message and "3 s" in error.message


def test_what_is_confirmed_in_part_is_told(transport):
    transport.expect(
        look(200, document(1, event(), event("ID-2"))),
        own_name(),
        sent("ID-1", "ID-2"),
        *[look(200, document(2, event("ID-1", "Started"), event("ID-2"))) for _each in range(2)],
    )
    error = failed(run_approve, transport, "ID-1", "ID-2", wait_timeout=2.0)
    assert error.result["confirmed"] == ["ID-1"]
    assert "ID-2" in error.message and "ID-1" not in error.message


def test_an_event_that_can_not_be_read_after_its_approval_is_not_confirmed(transport):
    transport.expect(
        look(200, ONE), own_name(), sent("ID-1"), *[look(200, document(2, event(resources=[]))) for _each in range(2)]
    )
    error = failed(run_approve, transport, "ID-1", wait_timeout=2.0)
    assert error.result["confirmed"] == []
    assert [unusable["id"] for unusable in error.result["unusable_events"]] == ["ID-1"]


def test_an_event_that_stands_there_twice_and_once_unreadable_is_not_approved(transport):
    transport.expect(look(200, document(1, event(), event(resources=[]))), own_name())
    result = run_approve(transport, "ID-1")
    assert result["approved"] == []
    assert [entry["reason"] for entry in result["not_approved"]] == ["unknown_machines"]


def test_a_confirmation_survives_failures(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), look(503), look(Unreachable("cut")), look(200, STARTED))
    assert run_approve(transport, "ID-1")["confirmed"] == ["ID-1"]


def test_without_time_there_is_one_look_after_the_approval(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), look(200, STARTED))
    assert run_approve(transport, "ID-1", wait_timeout=0.0)["confirmed"] == ["ID-1"]


def test_a_confirmation_that_fails_says_that_the_approval_was_taken(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), look(403))
    error = failed(run_approve, transport, "ID-1")
    assert error.kind == "denied"
    assert "took the approval of ID-1" in error.message
    assert (error.result["changed"], error.result["approved"]) == (True, ["ID-1"])


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


# --- options ---

NOT_A_NUMBER = float("nan")


@pytest.mark.parametrize("operation", [info, approve])
@pytest.mark.parametrize(
    "name, value, words",
    [
        ("endpoint", "169.254.169.254", "endpoint"),
        ("api_version", "2021-02-01", "2020-07-01"),
        ("api_version", "latest", "2017-03-01"),
        ("timeout", 0.0, "0.1"),
        ("timeout", -1.0, "timeout"),
        ("timeout", NOT_A_NUMBER, "timeout"),
        ("timeout", float("inf"), "timeout"),
        ("first_timeout", 0.0, "first_timeout"),
        ("resource_name", " ", "resource_name"),
        ("resource_name", "", "resource_name"),
        ("wait_timeout", -0.1, "wait_timeout"),
        ("wait_timeout", NOT_A_NUMBER, "wait_timeout"),
        ("wait_sleep", 0.1, "0.2"),
        ("wait_sleep", 0.0, "wait_sleep"),
        ("event_ids", [], "event_ids"),
        ("event_ids", ["A", " "], "blank"),
        ("event_ids", [""], "event_ids"),
    ],
)
def test_options_out_of_range(transport, operation, name, value, words):
    options = {"event_ids": ["A"], name: value}
    with pytest.raises(ScheduledEventsError) as caught:
        operation(options, transport, transport.clock)
    assert caught.value.kind == "invalid"
    assert name in caught.value.message and words in caught.value.message


@pytest.mark.parametrize(
    "options, words",
    [
        ({"affecting": "others"}, "any, self"),
        ({"wait_for": "end"}, "event, started, gone, change"),
        ({"types": [""]}, "types"),
        ({"statuses": [" "]}, "statuses"),
        ({"sources": ["User", ""]}, "sources"),
        ({"since_incarnation": 3}, "wait_for=change"),
        ({"since_incarnation": 0, "wait": True}, "wait_for=change"),
        ({"since_incarnation": 3, "wait_for": "change"}, "wait=true"),
        ({"wait": True, "wait_for": "started", "statuses": ["Scheduled"]}, "Started"),
    ],
)
def test_options_of_info(transport, options, words):
    with pytest.raises(ScheduledEventsError) as caught:
        info(options, transport, transport.clock)
    assert caught.value.kind == "invalid"
    assert words in caught.value.message


@pytest.mark.parametrize(
    "options, words",
    [
        ({"event_ids": None}, "event_ids"),
        ({}, "event_ids"),
        ({"rank": -1}, "rank"),
        ({"takeover": -1.0}, "takeover"),
        ({"prepared_resources": ["web1", ""]}, "prepared_resources"),
    ],
)
def test_options_of_approve(transport, options, words):
    with pytest.raises(ScheduledEventsError) as caught:
        approve(dict({"event_ids": ["A"]} if options else {}, **options), transport, transport.clock)
    assert caught.value.kind == "invalid"
    assert words in caught.value.message


def test_options_that_are_left_out_have_their_defaults(transport):
    transport.expect(
        get("http://169.254.169.254" + events_path(), 200, EMPTY, timeout=125.0),
        get("http://169.254.169.254" + NAME_PATH, 200, b"web1", timeout=10.0),
    )
    assert info({"types": None, "timeout": None}, transport, transport.clock)["endpoint"] == "http://169.254.169.254"


def test_the_callers_options_stay_as_they_are(transport):
    options = {
        "endpoint": ENDPOINT + "/",
        "event_ids": [" ID-1 "],
        "prepared_resources": [" web1"],
        "resource_name": " web1 ",
    }
    copy = {name: list(value) if isinstance(value, list) else value for name, value in options.items()}
    transport.expect(look(200, EMPTY))
    approve(options, transport, transport.clock)
    assert options == copy
