# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a look finds, and when the next one comes; who the machine is; what becomes of an approval. On scripts, without threads."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core import mark_view as core
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import AnswerTimeout, Unreachable
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.imds.facade import (
    HUNG,
    KEPT,
    TOO_OLD,
    ApprovalSender,
    ImdsFacade,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.imds.session import (
    DAY,
    LONGEST_ORDER,
    PAUSES,
    EventPoller,
    IdentityPoller,
    ImdsSession,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.machine_program import (
    objection,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import Configuration
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    NAME_PATH,
    WALL,
    ScriptedTransport,
    document,
    event,
    events_path,
    get,
    look,
    sent,
)

VM_PATH = NAME_PATH.replace("/name?", "/vmId?")
ONE, NONE = document(2, event()), document(3)
DATED = {"etag": '"2"', "date": "Thu, 01 Jan 2026 00:00:07 GMT"}


class Service:
    """A metadata service that plays a script, and who asks it."""

    def __init__(self, *script, **settings):
        self.transport = ScriptedTransport(*script)
        self.clock = self.transport.clock
        self.woken = 0
        configuration = Configuration(endpoint=ENDPOINT, **settings)
        self.session = ImdsSession(configuration, self.clock, lambda clock, rate: self.transport)

    def wake(self):
        self.woken += 1

    def looking(self, **more):
        return EventPoller(self.session, self.wake, **more)


def look_on(service, looking):
    """One look, and the pause after it; how long that was."""
    pause = looking.poll()
    service.clock.elapsed += pause
    return pause


def test_a_look_and_the_next_one_a_second_after_its_beginning():
    service = Service(look(200, ONE, DATED, takes=0.25), look(304, takes=0.25), look(304, takes=2.0))
    looking = service.looking()
    assert looking.latest is None and looking.poll_problem
    assert [look_on(service, looking) for _each in range(3)] == [0.75, 0.75, 0.0]
    assert looking.latest.number == 3 and looking.latest.at == service.clock.now()
    assert looking.latest.document.events[0].event_id == "ID-1" and looking.latest.date is None
    service.transport.finish()


def test_the_date_is_that_of_the_answer():
    service = Service(look(200, ONE, DATED))
    looking = service.looking()
    looking.poll()
    assert looking.latest.date == WALL + 7


def test_only_news_wake_the_loop():
    service = Service(look(200, ONE, DATED), look(304), look(Unreachable("cut.")), look(Unreachable("cut.")), look(304))
    looking = service.looking()
    counts = []
    for _each in range(5):
        look_on(service, looking)
        counts.append(service.woken)
    assert counts == [1, 1, 2, 2, 3]


@pytest.mark.parametrize(
    "outcome, pauses",
    [
        ((Unreachable("cut."),), [1, 1, 2, 3, 5, 5]),
        ((AnswerTimeout("late."),), [1, 1, 1]),
        ((410,), [1, 2, 4, 8, 8]),
        ((503,), [1, 2, 4, 8, 8]),
        ((404,), [1, 2, 4, 8, 8]),
        ((429,), [2, 4, 8, 16, 16]),
        ((403,), [1, 2, 5, 10, 30, 30]),
        ((200, b"<html>"), [1, 2, 5, 10, 30, 30]),
        ((302,), [1, 2, 5, 10, 30, 30]),
        ((200, b"{}"), [1, 1, 1]),
    ],
)
def test_what_may_not_be_asked_every_second_is_left_alone_for_longer(outcome, pauses):
    service = Service(look(200, ONE, DATED), *[look(*outcome) for _each in pauses], look(304), look(*outcome))
    looking = service.looking()
    look_on(service, looking)
    assert [look_on(service, looking) for _each in pauses] == pauses
    assert looking.poll_problem and looking.latest.document.events, "an event that was seen is not undone"
    assert look_on(service, looking) == 1.0
    assert not looking.poll_problem
    assert look_on(service, looking) == pauses[0], "counted anew"


def test_the_service_says_for_how_long_it_wants_to_be_left_alone():
    after = [look(503, b"", {"retry-after": seconds}) for seconds in ("7", "100000")]
    service = Service(look(200, ONE), *after, look(200, ONE))
    looking = service.looking()
    look_on(service, looking)
    at = service.clock.now() + 7
    assert look_on(service, looking) == 7
    assert looking.left_alone_until == at
    at = service.clock.now() + LONGEST_ORDER
    assert look_on(service, looking) == LONGEST_ORDER and looking.left_alone_until == at
    look_on(service, looking)
    assert looking.left_alone_until == 0.0


def test_an_empty_answer_after_a_start_in_the_middle_of_an_outage():
    service = Service(look(200, b""))
    looking = service.looking(expects_events=True)
    look_on(service, looking)
    assert looking.latest is None and "takes back no event" in looking.poll_problem


def test_what_was_known_before_other_settings_is_not_forgotten():
    service = Service(look(200, ONE), look(200, b""))
    first = service.looking()
    first.poll()
    second = service.looking(latest=first.latest)
    second.poll()
    assert second.latest is first.latest and second.poll_problem


def test_after_a_day_of_failures_the_first_answer_may_take_its_time_again():
    service = Service(look(200, ONE), look(503, timeout=10.0), look(200, ONE, timeout=125.0))
    looking = service.looking()
    looking.poll()
    looking.poll()
    service.clock.elapsed += DAY + 1
    looking.poll()
    assert not looking.poll_problem


def test_a_newer_version_is_looked_for_now_and_then():
    older = events_path("2019-08-01")
    service = Service(look(400), get(older, 200, ONE), get(older, 200, ONE), look(200, ONE))
    looking = service.looking()
    looking.poll()
    service.clock.elapsed += 3601
    looking.poll()
    looking.poll()
    assert service.session.api_version == "2020-07-01"
    service.transport.finish()


def test_a_version_that_is_not_served_any_more():
    older = events_path("2019-08-01")
    service = Service(look(200, ONE), look(400), look(400), get(older, 200, ONE))
    looking = service.looking()
    for _each in range(3):
        look_on(service, looking)
    assert service.session.api_version == "2019-08-01" and not looking.poll_problem


def test_other_settings_of_the_same_service(monkeypatch):
    for part in (EventPoller, IdentityPoller):
        monkeypatch.setattr(part, "start", lambda self: None)
    service = Service(get(NAME_PATH, 200, b"web1"), get(VM_PATH, 200, b"ID-OF-VM"))
    configuration = service.session.configuration
    metadata = ImdsFacade(
        configuration, service.clock, service.wake, lambda events: "", connect=lambda clock, rate: service.transport
    )
    metadata._identity_poller.ask()
    metadata.configure(configuration._replace(interval=2.0))
    assert metadata.identity == ("web1", "ID-OF-VM")
    metadata.configure(configuration._replace(interval=2.0, endpoint="http://10.0.0.1"))
    assert metadata.identity is None and metadata.about()["endpoint"] == "http://10.0.0.1"


def test_a_look_that_has_not_ended_for_long_hangs_unless_that_was_ordered():
    service = Service(look(200, ONE), look(503, b"", {"retry-after": "200"}))
    metadata = ImdsFacade(
        service.session.configuration,
        service.clock,
        service.wake,
        lambda events: "",
        connect=lambda clock, rate: service.transport,
    )
    looking = metadata._event_poller
    looking.poll()
    service.clock.elapsed += HUNG - 1
    assert not metadata.hangs()
    service.clock.elapsed += 2
    assert metadata.hangs()
    looking.poll()
    service.clock.elapsed += 199
    assert not metadata.hangs()
    service.clock.elapsed += 2
    assert metadata.hangs()


# --- who the machine is ---


def test_who_the_machine_is_is_asked_until_it_is_known():
    service = Service(
        get(NAME_PATH, Unreachable("cut."), timeout=3.0),
        get(NAME_PATH, 200, b"web1"),
        get(VM_PATH, 404),
        get(NAME_PATH, 200, b"web1"),
        get(VM_PATH, 200, b"ID-OF-VM"),
    )
    asker = IdentityPoller(service.session, service.wake)
    assert asker.ask() == PAUSES[0] and "could not be asked" in asker.problem and asker.identity is None
    assert asker.ask() == PAUSES[1]
    assert asker.ask() is None and service.woken == 1
    assert asker.identity == ("web1", "ID-OF-VM") and not asker.problem


def test_without_its_vm_id_it_is_nobody():
    service = Service(get(NAME_PATH, 200, b"web1"), get(VM_PATH, 200, b""))
    asker = IdentityPoller(service.session, service.wake)
    assert asker.ask() == PAUSES[0] and "empty vmId" in asker.problem and asker.identity is None


def test_a_name_that_is_another_machines():
    answers = (get(NAME_PATH, 200, b"web1"), get(VM_PATH, 200, b"ID"))
    service = Service(*answers, resource_name="web2")
    asker = IdentityPoller(service.session, service.wake)
    assert asker.ask() == PAUSES[0]
    assert "says that this machine is web2" in asker.problem and asker.identity is None
    asker = IdentityPoller(Service(*answers, resource_name="WEB1").session, service.wake)
    assert asker.ask() is None and asker.identity.name == "web1"


# --- approvals ---


def posting(service, objection=""):
    return ApprovalSender(service.session, lambda events, own: objection, service.wake)


def test_an_approval_that_is_taken():
    service = Service(sent("a", "B", timeout=10.0))
    found = posting(service)
    found.send(("a", "B"), service.clock.now())
    assert {key: (one.accepted, one.why) for key, one in found.posted().items()} == {"A": (True, ""), "B": (True, "")}
    assert service.woken == 1


@pytest.mark.parametrize(
    "outcome", [(500,), (Unreachable("cut."),), (400,), (200, b"<html>", {"content-type": "text/html"})]
)
def test_one_that_is_not(outcome):
    service = Service(sent("a", outcome=outcome))
    found = posting(service)
    found.send(("a",), service.clock.now())
    one = found.posted()["A"]
    assert one.accepted == (outcome[0] == 200) and bool(one.why) == (outcome[0] != 200)


def test_what_has_waited_for_too_long_is_not_sent():
    service = Service()
    found = posting(service)
    at = service.clock.now()
    service.clock.elapsed += TOO_OLD + 1
    found.send(("a",), at)
    assert "waited for 6 s" in found.posted()["A"].why


def test_its_age_counts_from_the_decision():
    service = Service()
    found = posting(service)
    decided = service.clock.now()
    service.clock.elapsed += TOO_OLD + 2  # a disk that takes its time, in the tick of the decision
    found.approve(("a",), decided)
    found.send(*found._waiting.get())
    assert "waited for 7 s" in found.posted()["A"].why


def test_nor_what_must_not_be_approved_any_more():
    service = Service()
    found = posting(service, "the machine is owned by run 7")
    found.send(("a",), service.clock.now())
    assert found.posted()["A"].why == "It was not sent: the machine is owned by run 7"


def test_it_is_asked_by_what_has_to_be_prepared():
    service, asked = Service(), []
    found = ApprovalSender(service.session, lambda events, own: asked.append(own) or "no", service.wake)
    found.approve(("a", "B"), service.clock.now(), ("B",))
    found.send(*found._waiting.get())
    found.approve(("a", "B"), service.clock.now())
    found.send(*found._waiting.get())
    assert asked == [("B",), ()]


def test_a_mark_that_has_changed_since_the_decision_speaks_against_it():
    def why_not(mark, own=("A",)):
        return objection(mark, "", own, core.Asker("watcher", "VM-1"), Moment(0.0, 100.0, "boot-1"), None)

    mark = {"phase": "prepared", "events": ["a"], "boot_id": "boot-1", "holder": {"kind": "watcher", "run": "watcher"}}
    mark.update(steps=[], lease={"uptime": 0.0, "boot_id": "boot-1", "until": 120.0})
    assert why_not(mark) == why_not(None, ()) == ""
    for changed in (None, dict(mark, phase="recovering"), dict(mark, events=["b"]), dict(mark, boot_id="boot-0")):
        assert why_not(changed) == "the machine is not prepared for it any more"
    assert "owned by run r7" in why_not(dict(mark, holder={"kind": "run", "run": "r7"}))


def test_what_is_on_its_way_is_not_sent_twice():
    service = Service(sent("a"), sent("b"))
    found = posting(service)
    found.approve(("a",), service.clock.now())
    found.approve(("A", "b"), service.clock.now())
    queued = [found._waiting.get() for _each in range(2)]
    assert [events for events, _at in queued] == [("a",), ("b",)]
    for events, at in queued:
        found.send(events, at)
    found.approve(("a",), service.clock.now())
    assert found._waiting.get()[0] == ("a",)


def test_two_requests_a_second_are_all_that_it_sends():
    service = Service()
    rates = [
        ImdsSession(Configuration(interval=interval), service.clock)._rate._most for interval in (60.0, 1.0, 0.5, 0.01)
    ]
    assert rates == [2, 2, 2, 200]


def test_it_is_forgotten_after_a_while():
    service = Service(sent("a"))
    found = posting(service)
    found.send(("a",), service.clock.now())
    service.clock.elapsed += KEPT + 1
    assert found.posted() == {}
