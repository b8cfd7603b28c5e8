# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Deadline
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._errors import (
    AnswerTimeout,
    AnswerTooLarge,
    BrokenAnswer,
    ScheduledEventsError,
    Unreachable,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import Document
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import client
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.client import Imds, check_endpoint
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ENDPOINT,
    GROUP_PATH,
    NAME_PATH,
    WALL,
    document,
    event,
    events_path,
    get,
    look,
    own_name,
    post,
    sent,
)

METADATA = {"Metadata": "true"}
EMPTY = document(1)
ONE = document(2, event())
URL = ENDPOINT + events_path()


@pytest.fixture
def imds(transport):
    return Imds(transport, ENDPOINT)


def failure(call, *args):
    """What the call fails with; its message must be whole sentences."""
    with pytest.raises(ScheduledEventsError) as caught:
        call(*args)
    assert caught.value.message.endswith(".")
    return caught.value


def transient():
    """Every failure that may pass by itself: its outcome in a script, and its kind."""
    statuses = {
        404: "unavailable",
        408: "unavailable",
        410: "updating",
        429: "throttled",
        500: "unavailable",
        502: "unavailable",
        503: "unavailable",
        504: "unavailable",
    }
    found = [pytest.param((status,), kind, id=str(status)) for status, kind in statuses.items()]
    found.append(pytest.param((Unreachable("No connection.", url=URL),), "unreachable", id="reset"))
    found.append(pytest.param((AnswerTimeout("Late.", url=URL),), "timeout", id="timeout"))
    found.append(pytest.param((BrokenAnswer("Broken off.", url=URL),), "malformed", id="truncated"))
    found.append(pytest.param((200, b'{"DocumentIncarnation": 1, "Eve'), "malformed", id="broken JSON"))
    found.append(pytest.param((200, b"{}"), "malformed", id="no document"))
    return found


def strangers():
    """Answers of somebody else, and what the error must name."""
    html = {"content-type": "text/html; charset=utf-8"}
    return [
        pytest.param(
            (302, b"", {"location": "http://portal.test/login"}),
            "a redirect to http://portal.test/login",
            id="redirect",
        ),
        pytest.param((300,), "but a redirect to nowhere", id="choice"),
        pytest.param((399,), "but a redirect to nowhere", id="unknown redirect"),
        pytest.param((301,), "a redirect to nowhere", id="redirect without a target"),
        pytest.param((200, b"<html>Sign in</html>", html), "a web page", id="HTML"),
        pytest.param(
            (200, b"\n <!DOCTYPE html>", {"server": "Microsoft-IIS/10.0"}),
            "server Microsoft-IIS/10.0",
            id="untyped HTML",
        ),
        pytest.param((404, b"<html>", dict(html, server="nginx")), "server nginx", id="404 of a web server"),
        pytest.param((403, b"", {"metadata-flavor": "Google"}), "Google Cloud", id="Google"),
        pytest.param((404, b"", {"server": "Metadata Server for VM"}), "Google Cloud", id="older Google"),
        pytest.param((404, b"", {"server": "EC2ws"}), "Amazon", id="Amazon"),
        pytest.param((401, b"", {"server": "EC2ws"}), "Amazon", id="Amazon without a token"),
        pytest.param((407,), "but a proxy (HTTP 407)", id="proxy wants a password"),
        pytest.param((400, b"", {"via": "1.1 x"}), "but a proxy (HTTP 400)", id="400 through a proxy"),
        pytest.param(
            (403, b"denied", {"via": "1.1 proxy (squid)"}), 'but a proxy (HTTP 403): "denied"', id="403 of a proxy"
        ),
        pytest.param((404, b"", {"x-squid-error": "ERR_X 0"}), "but a proxy (HTTP 404)", id="404 of a proxy"),
        pytest.param((503, b"", {"x-cache": "MISS from proxy"}), "but a proxy (HTTP 503)", id="503 of a proxy"),
        pytest.param(
            (200, b'{"status": "ok", "a": 1}', {"content-type": "application/json"}),
            "the keys a, status",
            id="other JSON",
        ),
        pytest.param((200, b'["a"]'), "JSON which is no document", id="a list"),
        pytest.param((200, b'"ok"'), "JSON which is no document", id="a string"),
        pytest.param((405,), "HTTP 405", id="no GET"),
        pytest.param((304,), "HTTP 304", id="304 unasked"),
        pytest.param((204,), "HTTP 204", id="204"),
    ]


# --- one look ---


def test_a_look(transport, imds):
    transport.expect(look(200, ONE, headers=METADATA, timeout=125.0, takes=2.0))
    found = imds.document()
    assert (found.incarnation, [each.event_id for each in found.events]) == (2, ["ID-1"])
    assert (imds.api_version_used, imds.polls, imds.failures, imds.warnings) == ("2020-07-01", 1, 0, [])
    assert (imds.last_url, imds.looked_at, imds.endpoint) == (URL, WALL + 2.0, ENDPOINT)


def test_only_the_first_answer_may_take_long(transport, imds):
    transport.expect(
        look(Unreachable("cut"), timeout=125.0),
        look(500, timeout=125.0),
        look(200, EMPTY, timeout=10.0),
        look(200, EMPTY, timeout=10.0),
    )
    imds.document()
    imds.document()


@pytest.mark.parametrize("seconds, timeout", [(300.0, 125.0), (60.0, 60.0), (3.0, 10.0), (0.0, 10.0)])
def test_a_short_wait_is_not_held_by_the_first_answer(transport, imds, seconds, timeout):
    transport.expect(look(200, EMPTY, timeout=timeout))
    imds.document(Deadline(transport.clock, seconds))


def test_a_long_timeout_is_for_the_first_answer_too(transport):
    transport.expect(look(200, EMPTY, timeout=30.0), look(200, EMPTY, timeout=30.0))
    imds = Imds(transport, ENDPOINT, timeout=30.0, first_timeout=20.0)
    imds.document()
    imds.document()


def test_a_name_may_be_the_first_answer(transport, imds):
    transport.expect(own_name(timeout=125.0), look(200, EMPTY, timeout=10.0))
    imds.resource_name()
    imds.document()


def test_another_clock_may_be_given(transport):
    imds = Imds(transport, ENDPOINT, clock=transport.clock)
    transport.expect(look(200, EMPTY))
    imds.document()
    assert imds.looked_at == WALL


# --- retries ---


@pytest.mark.parametrize("outcome, kind", transient())
def test_what_may_pass_is_tried_again(transport, imds, outcome, kind):
    transport.expect(look(200, EMPTY), look(*outcome), look(200, ONE))
    imds.document()
    assert imds.document().incarnation == 2
    assert (imds.polls, imds.failures) == (3, 1)
    assert transport.clock.sleeps == [2.0 if kind == "throttled" else 1.0]


@pytest.mark.parametrize("outcome, kind", transient())
def test_what_does_not_pass_is_given_up(transport, imds, outcome, kind):
    transport.expect(look(200, EMPTY))
    imds.document()
    transport.expect(*[look(*outcome) for _each in range(60)])
    error = failure(imds.document)
    asked = 60 - len(transport.script)
    del transport.script[:]
    assert error.kind == kind
    assert error.url == URL
    assert asked > 1
    assert "Asked %d times in %.0f s." % (asked, transport.clock.elapsed) in error.message
    assert transport.clock.elapsed == client.RETRY_FOR[kind]
    assert client._ADVICE[kind] in error.message


@pytest.mark.parametrize("outcome, kind", transient())
def test_in_a_wait_the_deadline_ends_the_retries(transport, imds, outcome, kind):
    transport.expect(look(200, EMPTY))
    imds.document()
    transport.expect(*[look(*outcome) for _each in range(60)])
    assert failure(imds.document, Deadline(transport.clock, 4.5)).kind == kind
    assert transport.clock.elapsed == 4.5
    del transport.script[:]


def test_pauses_grow(transport, imds):
    transport.expect(
        look(503, at=0),
        look(503, at=1),
        look(503, at=3),
        look(503, at=7),
        look(503, at=15),
        look(503, at=23),
        look(200, EMPTY, at=30),
    )
    imds.document()


def test_an_update_of_the_service_is_sat_out(transport, imds):
    transport.expect(
        look(410, at=0),
        look(410, at=1),
        look(410, at=3),
        look(410, at=7),
        *[look(410, at=at) for at in range(15, 72, 8)],
    )
    transport.expect(look(200, EMPTY, at=75))
    imds.document()


@pytest.mark.parametrize("status, kind", [(400, "version_refused"), (401, "denied"), (403, "denied")])
def test_what_will_not_pass_is_not_tried_again(transport, imds, status, kind):
    transport.expect(look(200, EMPTY), look(status, b'{"error": "Bad\\u0007 request.\\n See aka.ms"}'))
    imds.document()
    error = failure(imds.document)
    assert error.failure() == {"kind": kind, "status": status, "url": URL}
    assert ': "Bad request. See aka.ms"' in error.message
    assert client._ADVICE[kind] in error.message
    assert "Asked" not in error.message


def test_what_is_too_large_is_not_tried_again(transport, imds):
    transport.expect(look(AnswerTooLarge("Too large.", url=URL)))
    assert failure(imds.document).kind == "too_large"


@pytest.mark.parametrize("seconds", [None, 60.0])
def test_the_caller_may_not_want_some_failures_tried_again(transport, imds, seconds):
    transport.expect(look(500), look(Unreachable("No.")))
    deadline = seconds and Deadline(transport.clock, seconds)
    assert failure(imds.document, deadline, ("unreachable",)).kind == "unreachable"


@pytest.mark.parametrize(
    "text, pause",
    [
        ("7", 7),
        (" 7 ", 7),
        ("Thu, 01 Jan 2026 00:00:09 GMT", 9),
        ("Wed, 31 Dec 2025 23:00:00 GMT", 2),
        ("0", 2),
        ("1", 1),
        ("soon", 2),
        ("-5", 2),
        ("", 2),
        ("Thu, 99 Foo 2026", 2),
        ("1" * 30, 2),
    ],
)
def test_retry_after_is_honoured(transport, imds, text, pause):
    transport.expect(look(429, b"", {"retry-after": text}), look(200, EMPTY, at=pause))
    imds.document()


def test_a_retry_after_up_to_the_deadline_is_honoured(transport, imds):
    transport.expect(look(429, b"", {"retry-after": "20"}), look(200, EMPTY, at=20))
    imds.document(Deadline(transport.clock, 20.0))


@pytest.mark.parametrize("deadline", [None, 20.0])
def test_a_retry_after_beyond_the_deadline_ends_it_at_once(transport, imds, deadline):
    transport.expect(look(429, b"Throttle Result: Too Many Requests", {"retry-after": "31"}))
    error = failure(imds.document, deadline and Deadline(transport.clock, deadline))
    assert (error.kind, transport.clock.elapsed) == ("throttled", 0)
    assert "31 s" in error.message
    assert "Too Many Requests" in error.message


@pytest.mark.parametrize("first", [b"", b"\r\n "])
def test_an_empty_answer_is_asked_for_again(transport, imds, first):
    transport.expect(look(200, first), look(200, ONE, at=1))
    assert imds.document().incarnation == 2
    assert imds.warnings == []


def test_two_empty_answers_are_no_events(transport, imds):
    transport.expect(look(200, b""), look(200, b"\n"), look(200, b""), look(200, ONE), look(200, b""), look(200, b""))
    assert imds.document() == Document(None, (), ())
    assert len(imds.warnings) == 1 and URL in imds.warnings[0]
    assert imds.document() == Document()  # believed once, it is not doubted again
    assert imds.document().incarnation == 2
    assert imds.document() == Document()
    assert len(imds.warnings) == 1


# --- somebody else answers ---


@pytest.mark.parametrize("outcome, words", strangers())
def test_a_stranger_is_told_at_the_first_look(transport, imds, outcome, words):
    transport.expect(look(*outcome))
    error = failure(imds.document)
    assert error.failure() == {"kind": "not_azure", "status": outcome[0], "url": URL}
    assert words in error.message
    assert "endpoint" in error.message


@pytest.mark.parametrize("outcome, words", strangers())
def test_a_stranger_is_told_in_a_wait(transport, imds, outcome, words):
    if outcome[0] == 304:
        pytest.skip("here a 304 means: unchanged")
    transport.expect(look(200, EMPTY), look(*outcome))
    known = imds.document()
    assert failure(imds.changed_document, known, 1.0, Deadline(transport.clock, 60.0)).kind == "not_azure"


@pytest.mark.parametrize("status", [400, 404, 500, 503])
@pytest.mark.parametrize("server", ["Microsoft-HTTPAPI/2.0", "Microsoft-IIS/10.0", "IMDS/150.870.65.523"])
def test_an_error_page_of_windows_may_be_azures(transport, imds, status, server):
    # under Azure's service lies Windows' HTTP layer, which says in HTML that the service is down
    transport.expect(look(200, EMPTY))
    imds.document()
    transport.expect(
        look(
            status,
            b"<!DOCTYPE HTML><title>Not Found</title>",
            {"server": server, "content-type": "text/html; charset=us-ascii"},
        )
    )
    if status == 400:
        assert failure(imds.document).kind == "version_refused"
    else:
        transport.expect(look(200, ONE))
        assert imds.document().incarnation == 2


def test_a_5xx_page_may_be_azures(transport, imds):
    transport.expect(look(503, b"<html>", {"content-type": "text/html"}), look(200, EMPTY))
    imds.document()


def test_a_proxy_that_lets_azure_answer_is_no_stranger(transport, imds):
    transport.expect(look(200, EMPTY, {"via": "1.1 x"}))
    imds.document()


def test_text_from_a_stranger_is_one_short_printable_line(transport, imds):
    transport.expect(look(200, b"<p>\x1b[31m\n" + b"x" * 5000, {"server": "evil\x1b[2J" + "y" * 500}))
    message = failure(imds.document).message
    assert message.isprintable()
    assert len(message) < 900


@pytest.mark.parametrize(
    "body",
    [
        b"null",
        b"{}",
        b"[]",
        b'{"Events": []}',
        b'{"documentincarnation": 1}',
        b"[" * 100000,
        b"ok",
        b'{"DocumentIncarnation": "1", "Events": []}',
        b'{"DocumentIncarnation": 1, "Events": null}',
    ],
)
def test_a_bad_document_is_malformed_and_never_no_events(transport, imds, body):
    transport.expect(*[look(200, body) for _each in range(6)])
    error = failure(imds.document)
    assert error.failure() == {"kind": "malformed", "status": 200, "url": URL}
    assert "does not mean that there are none" in error.message
    assert URL in error.message


# --- versions ---


@pytest.mark.parametrize("asked", client.VERSIONS)
def test_every_version_may_be_asked(transport, asked):
    transport.expect(get(events_path(asked), 200, EMPTY))
    imds = Imds(transport, ENDPOINT, asked)
    imds.document()
    assert (imds.api_version_used, imds.warnings) == (asked, [])


def test_a_refused_version_falls_back_to_the_next_older_ones(transport, imds):
    newest = b'{"error": "Bad request", "newest-versions": ["2025-04-07", "2024-07-17"]}'
    transport.expect(
        look(400, newest), get(events_path("2019-08-01"), 400, newest), get(events_path("2019-04-01"), 200, EMPTY)
    )
    imds.document()
    assert imds.api_version_used == "2019-04-01"
    assert len(imds.warnings) == 1 and "2020-07-01" in imds.warnings[0] and "2019-04-01" in imds.warnings[0]
    # and stays there, POSTs included
    transport.expect(get(events_path("2019-04-01"), 200, EMPTY), post(events_path("2019-04-01"), 200))
    imds.document()
    imds.approve(["A"])


def test_the_preview_is_asked_only_when_told(transport):
    imds = Imds(transport, ENDPOINT, "2024-07-09")
    preview = events_path("2024-07-09")
    transport.expect(get(preview, 404), look(200, EMPTY), get(preview, 404))
    imds.document()
    assert imds.api_version_used == "2020-07-01"


def test_a_404_that_was_an_update_does_not_lead_to_an_older_version(transport, imds):
    transport.expect(
        look(404), get(events_path("2019-08-01"), 200, document(1)), look(200, document(2)), look(200, document(3))
    )
    assert imds.document().incarnation == 2
    assert imds.document().incarnation == 3
    assert (imds.api_version_used, imds.warnings) == ("2020-07-01", [])


def test_the_underscore_of_the_oldest_version_goes(transport, imds):
    older = [version for version in client.VERSIONS if version < "2020-07-01"]
    transport.expect(look(400), *[get(events_path(version), 400) for version in older[:-1]])
    transport.expect(get(events_path("2017-03-01"), 200, document(1, event(resources=["_web1"]))))
    assert imds.document().events[0].resources == ("web1",)


def refusing(*statuses):
    versions = [version for version in client.VERSIONS if version <= "2020-07-01"]
    statuses += (statuses[-1],) * (len(versions) - len(statuses))
    return [get(events_path(version), status, b"Bad request") for version, status in zip(versions, statuses)]


def test_all_versions_refused_is_final(transport, imds):
    transport.expect(*refusing(400))
    error = failure(imds.document)
    assert (error.kind, error.status) == ("version_refused", 400)
    assert "X-Forwarded-For" in error.message
    assert "Bad request" in error.message


@pytest.mark.parametrize("statuses", [(404,), (400, 404), (404, 400)])
def test_all_versions_missing_may_be_an_update(transport, imds, statuses):
    transport.expect(*refusing(*statuses))
    transport.expect(look(200, EMPTY, at=1))
    imds.document()
    assert imds.api_version_used == "2020-07-01"


def test_all_versions_missing_for_long_is_unavailable(transport, imds):
    for _each in range(7):
        transport.expect(*refusing(404))
    error = failure(imds.document)
    assert (error.kind, error.status, transport.clock.elapsed) == ("unavailable", 404, 30.0)


def test_another_failure_on_the_way_down_starts_it_anew(transport, imds):
    transport.expect(
        look(400), get(events_path("2019-08-01"), 503), look(400), get(events_path("2019-08-01"), 200, EMPTY)
    )
    imds.document()
    assert imds.api_version_used == "2019-08-01"


def test_once_answered_a_404_does_not_change_the_version(transport, imds):
    transport.expect(look(200, EMPTY), look(404), look(200, ONE))
    imds.document()
    imds.document()
    assert imds.api_version_used == "2020-07-01"


# --- waiting for a change ---


def changed(imds, transport, known, seconds=60.0, interval=1.0):
    return imds.changed_document(known, interval, Deadline(transport.clock, seconds))


def test_waits_until_the_document_changes(transport, imds):
    transport.expect(
        look(200, EMPTY, at=0), look(200, EMPTY, at=1, timeout=10.0, headers=METADATA), look(200, ONE, at=2)
    )
    known = imds.document()
    assert changed(imds, transport, known).incarnation == 2
    assert (imds.polls, imds.looked_at) == (3, WALL + 2)
    assert transport.known == [(EMPTY, 1.0, 59.0)]  # one call for the whole wait


def test_gives_the_known_document_at_the_deadline(transport, imds):
    transport.expect(*[look(200, EMPTY, at=at) for at in (0, 1, 2, 2.5)])
    known = imds.document()
    assert changed(imds, transport, known, 2.5) is known
    assert (imds.polls, imds.looked_at) == (4, WALL + 2.5)


def test_looks_once_more_when_there_is_no_time(transport, imds):
    transport.expect(look(200, EMPTY), look(200, ONE))
    assert changed(imds, transport, imds.document(), 0).incarnation == 2
    assert transport.clock.elapsed == 0


def test_etags_spare_the_body(transport, imds):
    with_tag = dict(METADATA, **{"If-None-Match": '"1"'})
    transport.expect(
        look(200, EMPTY, {"etag": '"1"'}, headers=METADATA),
        look(304, headers=with_tag),
        look(200, ONE, {"etag": '"2"'}, headers=with_tag),
        look(304, headers=dict(METADATA, **{"If-None-Match": '"2"'})),
        look(200, EMPTY, headers=dict(METADATA, **{"If-None-Match": '"2"'})),
        look(200, EMPTY, headers=METADATA),
    )
    one = changed(imds, transport, imds.document())
    assert one.incarnation == 2
    empty = changed(imds, transport, one)
    assert empty.incarnation == 1
    assert changed(imds, transport, empty, 1.0) is empty


def test_a_304_at_the_deadline_is_the_known_document(transport, imds):
    transport.expect(look(200, EMPTY, {"etag": '"1"'}), look(304, at=1))
    known = imds.document()
    assert changed(imds, transport, known, 1.0) is known
    assert imds.looked_at == WALL + 1


def test_other_bytes_of_the_same_document_are_no_change(transport, imds):
    transport.expect(
        look(200, EMPTY), look(200, b" " + EMPTY, at=1), look(200, b" " + EMPTY, at=2), look(200, ONE, at=3)
    )
    assert changed(imds, transport, imds.document()).incarnation == 2


def test_a_change_without_another_incarnation_is_a_change(transport, imds):
    transport.expect(look(200, document(2, event())), look(200, document(2, event(status="Started"))))
    assert changed(imds, transport, imds.document()).events[0].event_status == "Started"


def test_a_document_from_before_this_conversation(transport, imds):
    transport.expect(look(200, ONE))
    assert changed(imds, transport, Document(1, (), ())).incarnation == 2
    transport.expect(look(200, ONE), look(200, EMPTY, at=1))
    assert changed(Imds(transport, ENDPOINT), transport, imds._document).incarnation == 1


@pytest.mark.parametrize("outcome, kind", transient())
def test_a_wait_survives_what_passes(transport, imds, outcome, kind):
    pause = 2 if kind == "throttled" else 1
    transport.expect(
        look(200, EMPTY, at=0), look(*outcome, at=1), look(200, EMPTY, at=1 + pause), look(200, ONE, at=2 + pause)
    )
    assert changed(imds, transport, imds.document()).incarnation == 2
    assert (imds.polls, imds.failures) == (4, 1)


@pytest.mark.parametrize("outcome, kind", transient())
def test_a_wait_that_ends_in_a_failure_has_failed(transport, imds, outcome, kind):
    transport.expect(look(200, EMPTY), *[look(*outcome) for _each in range(10)])
    assert failure(changed, imds, transport, imds.document(), 6.0).kind == kind
    assert transport.clock.elapsed == 6.0
    del transport.script[:]


def test_late_and_cut_answers_do_not_slow_a_wait_down(transport, imds):
    transport.expect(look(200, EMPTY, at=0), *[look(Unreachable("cut"), at=at) for at in range(1, 20)])
    transport.expect(look(200, ONE, at=20))
    changed(imds, transport, imds.document())


def test_a_long_interval_is_kept_after_failures(transport, imds):
    transport.expect(look(200, EMPTY, at=0), look(503, at=5), look(200, EMPTY, at=10), look(200, ONE, at=15))
    changed(imds, transport, imds.document(), interval=5.0)


def test_failures_count_from_the_last_success(transport, imds):
    transport.expect(
        look(200, EMPTY, at=0),
        look(503, at=1),
        look(503, at=2),
        look(200, EMPTY, at=4),
        look(503, at=5),
        look(200, ONE, at=6),
    )
    changed(imds, transport, imds.document())


def test_an_error_tells_of_the_last_failures_only(transport, imds):
    transport.expect(look(200, EMPTY, at=0), look(503, at=1), *[look(200, EMPTY, at=at) for at in range(2, 9)])
    transport.expect(look(503, at=9), look(503, at=10))
    error = failure(changed, imds, transport, imds.document(), 10.0)
    assert "Asked 2 times in 1 s." in error.message


def test_looks_of_a_call_that_failed_count(transport, imds):
    transport.expect(look(200, EMPTY), look(200, EMPTY), look(200, EMPTY), look(Unreachable("cut")), look(200, ONE))
    changed(imds, transport, imds.document())
    assert (imds.polls, imds.failures, imds.last_failure) == (5, 1, "cut")


def test_an_empty_answer_in_a_wait_is_asked_for_again(transport, imds):
    # or one hiccup of the service would look like the end of every event
    transport.expect(
        look(200, ONE, at=0), look(200, b"", at=1), look(200, ONE, at=2), look(200, b"", at=3), look(200, b"", at=4)
    )
    assert changed(imds, transport, imds.document()) == Document()


# --- approving ---


def test_an_approval(transport, imds):
    transport.expect(
        look(200, ONE),
        sent("id-1", "ID-2", headers=dict(METADATA, **{"Content-Type": "application/json"}), timeout=10.0),
    )
    imds.document()
    imds.approve(["id-1", "ID-2"])
    assert imds.last_url == URL


@pytest.mark.parametrize("body", [b"", b"\xff\xfe{", b"<html>"])
def test_the_answer_to_an_approval_is_not_read(transport, imds, body):
    transport.expect(sent("A", outcome=(200, body)))
    imds.approve(["A"])


@pytest.mark.parametrize(
    "status, kind",
    [
        (302, "not_azure"),
        (400, "rejected"),
        (401, "denied"),
        (403, "denied"),
        (404, "unavailable"),
        (405, "not_azure"),
        (408, "unavailable"),
        (410, "updating"),
        (429, "throttled"),
        (500, "unavailable"),
        (503, "unavailable"),
    ],
)
def test_an_approval_is_never_sent_twice_here(transport, imds, status, kind):
    transport.expect(sent("A", outcome=(status, b'{"error": "no"}')))
    error = failure(imds.approve, ["A"])
    assert error.failure() == {"kind": kind, "status": status, "url": URL}


def test_a_lost_approval_is_told(transport, imds):
    transport.expect(sent("A", outcome=(AnswerTimeout("Late."),)))
    assert failure(imds.approve, ["A"]).kind == "timeout"


# --- names ---


@pytest.mark.parametrize(
    "body, name",
    [
        (b"web1", "web1"),
        (b'"web1"', "web1"),
        (b" web_4\r\n", "web_4"),
        (b'" web1 "', "web1"),
        (b"FrontEnd_IN_0", "FrontEnd_IN_0"),
    ],
)
def test_the_own_name(transport, imds, body, name):
    transport.expect(own_name(body, headers=METADATA))
    assert imds.resource_name() == name
    assert imds.resource_name() == name  # asked once
    assert imds.polls == 0


@pytest.mark.parametrize("body", [b"", b'""', b" \n"])
def test_an_empty_name_is_an_error_that_helps(transport, imds, body):
    transport.expect(own_name(body))
    error = failure(imds.resource_name)
    assert error.failure() == {"kind": "malformed", "status": 200, "url": ENDPOINT + NAME_PATH}
    assert "resource_name" in error.message
    assert ENDPOINT + NAME_PATH in error.message


@pytest.mark.parametrize("body", [b'{"name": "web1"}', b"two words", b"a\x00b", b"x" * 300, b'"web1', b"a\nb"])
def test_what_can_not_be_a_name_is_refused(transport, imds, body):
    transport.expect(*[own_name(body) for _each in range(6)])
    assert failure(imds.resource_name).kind == "malformed"


def test_a_web_page_is_no_name(transport, imds):
    transport.expect(own_name(b"<html>"))
    assert failure(imds.resource_name).kind == "not_azure"


def test_the_name_is_asked_for_again(transport, imds):
    transport.expect(get(NAME_PATH, 404), get(NAME_PATH, 429), own_name())
    assert imds.resource_name() == "web1"


def test_a_name_that_is_only_nice_to_have_is_not_waited_for(transport, imds):
    transport.expect(get(NAME_PATH, 429), get(NAME_PATH, 404))
    assert failure(imds.resource_name, False).kind == "unavailable"


@pytest.mark.parametrize("body, group", [(b"", ""), (b"5f1c2a4e", "5f1c2a4e"), (b'"5f1c2a4e"', "5f1c2a4e")])
def test_the_placement_group(transport, imds, body, group):
    transport.expect(get(GROUP_PATH, 200, body))
    assert imds.placement_group() == group


# --- endpoints ---


@pytest.mark.parametrize(
    "given, used",
    [
        ("http://169.254.169.254", "http://169.254.169.254"),
        ("http://169.254.169.254/", "http://169.254.169.254"),
        ("https://imds.test:8443/vm/web1//", "https://imds.test:8443/vm/web1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_an_endpoint(transport, given, used):
    assert Imds(transport, given).endpoint == used


@pytest.mark.parametrize(
    "given, words",
    [
        ("", "http://"),
        ("169.254.169.254", "http://"),
        ("ftp://169.254.169.254", "http://"),
        ("imds.test:80", "http://"),
        ("http://", "no host"),
        ("http:///x", "no host"),
        ("http://:80", "no host"),
        ("http://h:0", "no port"),
        ("http://h:99999", "port"),
        ("http://h:x", "port"),
        ("http://[::1", "host or port"),
        ("http://u:p@h", "user name"),
        ("http://h?a=1", "query"),
        ("http://h/#a", "fragment"),
        ("http://h/?", "query"),
        ("http://h/ x", "blanks"),
        ("http://h\n", "blanks"),
        ("http://h\x00", "control characters"),
        ("http://h/metadata/scheduledevents", "/metadata"),
        ("http://h/Metadata/", "/metadata"),
    ],
)
def test_what_is_no_endpoint(transport, given, words):
    with pytest.raises(ScheduledEventsError) as caught:
        check_endpoint(given)
    assert caught.value.failure() == {"kind": "invalid", "status": None, "url": given}
    assert words in caught.value.message
    assert repr(given) in caught.value.message
    assert "http://169.254.169.254" in caught.value.message
