# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._operations.operating import (
    EMPTY,
    ONE,
    STARTED,
    failed,
    ids,
    run_approve,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    NAME_PATH,
    document,
    event,
    events_path,
    get,
    look,
    own_name,
    sent,
)


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
    assert result["diff"] == {
        "before": {"events": [{"id": "ID-1", "status": "Scheduled"}]},
        "after": {"events": [{"id": "ID-1", "status": "approved"}]},
    }


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
    assert result["diff"]["after"] == {"events": [{"id": "ID-1", "status": "approved"}]}


@pytest.mark.parametrize("check_mode", [False, True])
def test_what_has_started_or_is_gone_is_no_change(transport, check_mode):
    transport.expect(look(200, STARTED), own_name())
    result = run_approve(transport, "ID-1", "gone-1", check_mode=check_mode)
    assert (result["changed"], result["approved"], result["already"]) == (False, [], ["ID-1"])
    assert [(each["id"], each["reason"]) for each in result["not_approved"]] == [("gone-1", "gone")]
    assert result["diff"] == {"before": {"events": []}, "after": {"events": []}}


def declined(transport, wire_event, **options):
    """Why an event is not approved."""
    transport.expect(look(200, document(1, wire_event)), own_name(b"web1"))
    result = run_approve(transport, "id-1", **options)
    assert not result["changed"]
    (entry,) = result["not_approved"]
    written = "ID-1" if wire_event["Resources"] else "id-1"  # as Azure has it, or as the caller
    assert entry["id"] == written and f"Event {written} was" in entry["message"]
    assert result["warnings"].count(entry["message"]) == 1
    return entry


TWO = document(1, event(), event("ID-2", resources=["web1", "web2"]))


def test_the_others_are_approved_by_default(transport):
    transport.expect(look(200, TWO), own_name(), sent("ID-1"))
    result = run_approve(transport, "ID-1", "ID-2", wait=False)
    assert (result["approved"], ids(result["not_approved"])) == (["ID-1"], ["ID-2"])


@pytest.mark.parametrize("check_mode", [False, True])
def test_all_or_none(transport, check_mode):
    transport.expect(look(200, TWO), own_name())
    error = failed(run_approve, transport, "ID-1", "ID-2", fail_on_not_approved=True, check_mode=check_mode)
    assert error.kind == "not_approved"
    assert error.message.startswith("No approval was sent, because ") and "ID-1" not in error.message
    assert "it affects web2, too: prepare these machines" in error.message and "leave these events out" in error.message
    assert (error.result["changed"], error.result["approved"], error.result["warnings"]) == (False, [], [])
    assert [(each["id"], each["reason"]) for each in error.result["not_approved"]] == [
        ("ID-2", "unknown_machines"),
        ("ID-1", "not_all"),
    ]


def test_an_event_that_is_gone_is_a_warning_and_no_failure(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"))
    result = run_approve(transport, "ID-1", "gone-1", fail_on_not_approved=True, wait=False)
    assert result["approved"] == ["ID-1"]
    assert [warning[:31] for warning in result["warnings"]] == ["Event gone-1 was not approved: "]


def test_what_was_approved_before_it_failed_is_named(transport):
    transport.expect(
        look(200, document(1, event(), event("ID-2"))),
        own_name(),
        sent("ID-1", "ID-2", outcome=(500,)),
        look(200, document(2, event(status="Started"), event("ID-2", resources=["web1", "web2"]))),
    )
    error = failed(run_approve, transport, "ID-1", "ID-2", fail_on_not_approved=True)
    assert (error.result["changed"], error.result["approved"], error.kind) == (True, ["ID-1"], "not_approved")
    assert error.message.startswith("No approval was sent after that of ID-1, ID-2, because ")
    assert "Event ID-2 was not approved again (whether the first approval arrived is not known): " in error.message


def test_warnings_of_many_events_have_an_end(transport):
    transport.expect(look(200, ONE), own_name())
    warnings = run_approve(transport, *(f"gone-{number}" for number in range(12)))["warnings"]
    assert len(warnings) == 11 and warnings[10] == "2 more named events were not approved."


def test_machines_that_nobody_prepared(transport):
    entry = declined(transport, event(resources=["web1", "WEB2", "web3"]), prepared_resources=["web1", "web2", "web30"])
    assert entry["reason"] == "unknown_machines"
    assert "affects web3, too" in entry["message"] and "WEB2" not in entry["message"]


@pytest.mark.parametrize("prepared", [["web2"], []])
def test_whoever_names_the_prepared_machines_must_name_this_one_too(transport, prepared):
    """An event that grew while others were drained: the machine that it now affects as well must not approve it."""
    entry = declined(transport, event(resources=["web2", "web1"]), prepared_resources=prepared)
    assert entry["reason"] == "unknown_machines" and "web1" in entry["message"]


def test_a_machine_that_may_be_unknown_is_named(transport):
    entry = declined(transport, event(resources=["web1", "other", "new"]), allow_unknown=["other"])
    assert entry["reason"] == "unknown_machines"
    assert "affects new, too" in entry["message"] and "allow_unknown" in entry["message"]


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
    assert declined(transport, wire_event, allow_unknown=["web1"])["reason"] == "advice"


@pytest.mark.parametrize("event_type", ["Terminate", "terminate ", "", None, 7, "Term\0inate"])
def test_only_a_machine_itself_approves_its_deletion(transport, event_type):
    """Nor an event whose type can't be read: it may be one."""
    entry = declined(
        transport, event(EventType=event_type, resources=["web2"]), allow_unknown=["web2"], prepared_resources=["web2"]
    )
    assert entry["reason"] == "not_own_terminate"
    assert "web1" in entry["message"] and "web2" in entry["message"]


def test_an_event_whose_machines_can_not_be_read(transport):
    entry = declined(transport, event(resources=[]), allow_unknown=["web1"])
    assert entry["reason"] == "unreadable" and "its Resources are an empty list" in entry["message"]


def test_an_entry_that_lost_its_id_may_be_the_event_that_is_to_be_approved(transport):
    transport.expect(look(200, document(1, None)), own_name())
    assert [each["reason"] for each in run_approve(transport, "ID-1")["not_approved"]] == ["unreadable"]


@pytest.mark.parametrize(
    "wire_event, options",
    [
        (event(resources=["web1", "web2"]), {"prepared_resources": ["web1", "WEB2"]}),
        (event(resources=["web1", "web2"]), {"prepared_resources": ["web1"], "allow_unknown": ["WEB2"]}),
        (event(resources=["web2"]), {"prepared_resources": ["web2"]}),
        (event(resources=["web1", "other"]), {"allow_unknown": ["Other"]}),
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
    [
        (event(), {}),
        (event(), {"resource_name": "web1"}),
        (event(EventType="Terminate"), {"prepared_resources": ["web1"]}),
        (event(EventType="Terminate"), {"prepared_resources": ["web1"], "resource_name": "web1"}),
        (event(EventType=None), {"prepared_resources": ["web1"]}),
    ],
)
def test_a_name_that_matters_must_be_had(transport, wire_event, options):
    transport.expect(look(200, document(1, wire_event)), get(NAME_PATH, 200, b""))
    error = failed(run_approve, transport, "ID-1", **options)
    assert error.kind == "malformed"
    assert error.result["approved"] == []
    assert ("could not be checked" in error.message) == ("resource_name" in options)


FLASK = (
    404,
    b"<!doctype html>",
    {"server": "Werkzeug/3.1.3 Python/3.12.3", "content-type": "text/html; charset=utf-8"},
)
"""What Microsoft's mock server answers where it has nothing."""


def test_a_mock_server_without_names_is_believed_the_one_that_is_given(transport):
    transport.expect(look(200, ONE), get(NAME_PATH, *FLASK), sent("ID-1"), look(200, EMPTY))
    result = run_approve(transport, "ID-1", resource_name="web1")
    assert (result["approved"], result["resource_name"], len(result["warnings"])) == (["ID-1"], "web1", 1)
    assert f"could not be checked, because {ENDPOINT} has no /metadata/instance: " in result["warnings"][0]


def test_at_azures_own_address_a_name_that_can_not_be_had_is_not_believed(transport):
    azure = "http://169.254.169.254"
    transport.expect(get(azure + events_path(), 200, ONE), get(azure + NAME_PATH, *FLASK))
    error = failed(run_approve, transport, "ID-1", resource_name="web1", endpoint=azure)
    assert error.kind == "not_azure" and error.result["approved"] == []


def test_a_name_is_compared_also_where_too_much_is_asked_at_the_moment(transport):
    transport.expect(look(200, ONE), get(NAME_PATH, 429), own_name(b"web2", at=2))
    error = failed(run_approve, transport, "ID-1", prepared_resources=["web1"], resource_name="web1")
    assert error.kind == "invalid"


@pytest.mark.parametrize("options", [{}, {"prepared_resources": ["web1"]}, {"allow_unknown": ["web1"]}])
def test_nothing_is_approved_under_the_name_of_another_machine(transport, options):
    transport.expect(look(200, ONE), own_name(b"web2"))
    error = failed(run_approve, transport, "ID-1", resource_name="web1", **options)
    assert error.kind == "invalid" and "web1" in error.message and "web2" in error.message
    assert (error.result["approved"], error.result["resource_name"]) == ([], None)


@pytest.mark.parametrize(
    "wire_event, options",
    [
        (event(), {"allow_unknown": ["web1"]}),
        (event(), {"prepared_resources": ["web1"]}),
        (event(), {"prepared_resources": ["web1"], "resource_name": "web1"}),
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
    assert len(result["warnings"]) == 1 + len(result["not_approved"])
    assert result["changed"] == bool(options)


@pytest.mark.parametrize("options", [{}, {"resource_name": "web1"}])
def test_an_approval_hardly_waits_for_a_name_that_does_not_matter(transport, options):
    transport.expect(
        look(200, ONE),
        get(NAME_PATH, AnswerTimeout("Slow."), timeout=3.0, takes=3.0),
        sent("ID-1", at=3.0),
        look(200, EMPTY),
    )
    assert run_approve(transport, "ID-1", prepared_resources=["web1"], **options)["approved"] == ["ID-1"]


def test_an_event_that_grew_while_the_name_was_asked_is_left_alone(transport):
    grown = document(3, event(resources=["web1", "web2"]))
    busy = [get(NAME_PATH, 410) for _each in range(4)]  # pauses of 1, 2, 4 and 8 s
    transport.expect(look(200, ONE), *busy, own_name(at=15.0), look(200, grown))
    (entry,) = run_approve(transport, "ID-1")["not_approved"]
    assert entry["reason"] == "unknown_machines" and "web2" in entry["message"]


@pytest.mark.parametrize(
    "later, reason",
    [
        (event(resources=["other", "web1"]), "unknown_machines"),
        (event(resources=["web1"], EventType="Terminate"), "not_own_terminate"),
    ],
)
def test_a_name_that_could_not_be_checked_does_not_count_later_either(transport, later, reason):
    """While a lower rank has its turn, the event becomes one that depends on the name."""
    transport.expect(
        look(200, document(1, event(resources=["other"]))), get(NAME_PATH, 500), look(200, document(2, later))
    )
    result = run_approve(transport, "ID-1", allow_unknown=["other"], resource_name="web1", rank=1)
    assert [entry["reason"] for entry in result["not_approved"]] == [reason]
    assert "None" not in result["not_approved"][0]["message"]


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


def test_an_event_that_stands_there_twice_and_once_unreadable_is_not_confirmed(transport):
    twice = document(2, event(status="Started"), event(resources=[]))
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), look(200, twice), look(200, twice))
    assert failed(run_approve, transport, "ID-1", wait_timeout=2.0).result["confirmed"] == []


def test_an_event_that_stands_there_twice_and_once_unreadable_is_not_approved(transport):
    transport.expect(look(200, document(1, event(), event(resources=[]))), own_name())
    result = run_approve(transport, "ID-1")
    assert result["approved"] == []
    assert [entry["reason"] for entry in result["not_approved"]] == ["unreadable"]


@pytest.mark.parametrize("entry", [None, {}, {"EventId": 7}, {"EventId": " "}, event("ID-1 "), event("ID\0-1")])
def test_an_entry_that_lost_its_id_confirms_nothing(transport, entry):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), *[look(200, document(2, entry)) for _each in range(2)])
    error = failed(run_approve, transport, "ID-1", wait_timeout=2.0)
    assert (error.kind, error.result["approved"], error.result["confirmed"]) == ("timeout", ["ID-1"], [])


def test_an_entry_that_lost_its_id_does_not_hide_a_start(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1"), look(200, document(2, None, event(status="Started"))))
    assert run_approve(transport, "ID-1")["confirmed"] == ["ID-1"]


def test_the_difference_can_be_shown_whatever_an_event_is_called(transport):
    """A key that Ansible takes for one of its own would fail the task."""
    transport.expect(look(200, document(1, event("__ansible_type"))), own_name(), sent("__ansible_type"))
    result = run_approve(transport, "__ansible_type", wait=False)
    assert set(result["diff"]["before"]) == set(result["diff"]["after"]) == {"events"}
    assert result["diff"]["before"]["events"] == [{"id": "__ansible_type", "status": "Scheduled"}]


class Gone:
    """A caller who goes away after so many questions."""

    def __init__(self, after):
        self.left = after

    def is_gone(self):
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("options", [{}, {"rank": 1, "takeover": 1.0}])
def test_without_its_caller_nothing_is_sent(transport, options):
    transport.expect(look(200, ONE), own_name(), *[look(200, ONE) for _each in options][1:])
    error = failed(run_approve, transport, "ID-1", caller=Gone(0), **options)
    assert error.kind == "interrupted" and "ID-1" in error.message
    assert (error.result["changed"], error.result["approved"]) == (False, [])


def test_without_its_caller_nothing_is_sent_again(transport):
    transport.expect(look(200, ONE), own_name(), sent("ID-1", outcome=(503,)), look(200, ONE))
    assert failed(run_approve, transport, "ID-1", caller=Gone(1)).kind == "interrupted"


def test_without_its_caller_check_mode_is_as_ever(transport):
    transport.expect(look(200, ONE), own_name())
    assert run_approve(transport, "ID-1", caller=Gone(0), check_mode=True)["approved"] == ["ID-1"]


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
