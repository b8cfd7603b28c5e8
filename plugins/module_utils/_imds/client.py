# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service as this collection speaks it: versions, fall-back, retries, names. On any Transport.

How Azure behaves is guesswork in places; what was guessed stands here, each guess once:

* Versions (:meth:`Imds._look`): 400 and 404 both may mean "this api-version is not served here", so the next older
  one is asked. 404 may also mean "the service is being updated": when all versions give it, all are asked again later,
  and before an older version is kept because of a 404, the one that was asked for gets a second chance.
* Retries (:meth:`Imds._persist`): what may pass by itself is tried again: 404, 408, 410, 429, 5xx, cut connections,
  late and broken answers. 400, 401, 403 and answers of somebody else are final.
* An empty 200 (:meth:`Imds._adopt`) means "no events", but only when the next answer is empty as well.

Private to this collection.
"""

import email.utils
import json
import re
from typing import Callable, List, NoReturn, Optional, Sequence, TypeVar
from urllib.parse import urlsplit

from .._clock import Clock, Deadline
from .._errors import ScheduledEventsError, TransportError
from .._events.document import Document, MalformedDocument, parse_document
from .._text import one_line
from .requests_transport import Answer, Transport

DEFAULT_ENDPOINT = "http://169.254.169.254"
DEFAULT_VERSION = "2020-07-01"
# Newest first. The first one is a preview: it is never asked unless the user says so.
VERSIONS = (
    "2024-07-09",
    "2020-07-01",
    "2019-08-01",
    "2019-04-01",
    "2019-01-01",
    "2017-11-01",
    "2017-08-01",
    "2017-03-01",
)
INSTANCE_VERSION = "2021-02-01"  # of /metadata/instance, which counts its versions apart

# For how many seconds a single look (not a wait, that has its own end) tries again, by kind of failure.
RETRY_FOR = {
    "unreachable": 5.0,
    "malformed": 5.0,
    "timeout": 30.0,
    "unavailable": 30.0,
    "throttled": 30.0,
    "updating": 75.0,
}  # Azure: an update of the service takes 70 s at most
BACK_OFF = {"throttled": (2.0, 4.0, 8.0, 16.0), "updating": (1.0, 2.0, 4.0, 8.0), "unavailable": (1.0, 2.0, 4.0, 8.0)}
EMPTY_PAUSE = 1.0

_ADVICE = {
    "unreachable": "Is this an Azure virtual machine, does it have a route to the endpoint, and does no firewall "
    "keep this process from it? For another address, set the option endpoint.",
    "timeout": "The first answer after a day without requests may take two minutes (option first_timeout), any "
    "later one ten seconds (option timeout).",
    "throttled": "Azure allows a machine five requests a second, all its programs together: see what else asks.",
    "updating": "The metadata service said that it is being updated, which takes 70 seconds at most. Try again later.",
    "unavailable": "Try again later. If it stays so, see whether other programs on the machine can reach the metadata "
    "service, and ask Azure's support.",
    "denied": "Azure's Metadata Security Protocol (GuestProxyAgent) may allow only some users and programs to ask: "
    "see the machine's access rules for the metadata service.",
    "version_refused": "If the option api_version is right, see whether a proxy sits on the way: Azure refuses "
    "requests that carry X-Forwarded-For in the same way.",
    "malformed": "The events are unknown, which does not mean that there are none.",
}

_T = TypeVar("_T")

_NAME = re.compile(r"[^\s{}\[\]<>\"]{1,256}\Z")


class HttpError(ScheduledEventsError):
    """An answer other than the one we asked for.

    :arg retry_after: the seconds of its Retry-After header
    """

    def __init__(self, message: str, kind: str, status: int, url: str, retry_after: Optional[float] = None) -> None:
        super().__init__(message, kind, status, url)
        self.retry_after = retry_after


def check_endpoint(endpoint: str) -> str:
    """The base address without a slash at its end, or an error that says what is wrong with it."""

    def refuse(reason: str) -> NoReturn:
        raise ScheduledEventsError(
            f"The endpoint {endpoint!r} can't be used: {reason}. It must look like {DEFAULT_ENDPOINT}.",
            kind="invalid",
            url=endpoint,
        )

    if any(char.isspace() or not char.isprintable() for char in endpoint):
        refuse("it has blanks or control characters in it")
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        refuse("its host or port can't be read")
    if parts.scheme not in ("http", "https"):
        refuse("it does not begin with http:// or https://")
    if not parts.hostname or port == 0:
        refuse("it names no host" if not parts.hostname else "0 is no port")
    if "@" in parts.netloc:
        refuse("it has a user name in it")
    if "?" in endpoint or "#" in endpoint:
        refuse("it has a query or a fragment")
    if "metadata" in parts.path.lower().split("/"):
        refuse("the part from /metadata on is added by the client")
    return endpoint.rstrip("/")


class Imds:
    """One conversation with one endpoint.

    :arg timeout: seconds for one exchange; `first_timeout` is for those before the endpoint's first answer

    api_version_used: what the endpoint answered to; polls: how often it was asked for the document;
    failures, last_failure: how many requests failed on the way, and what the last one said;
    looked_at: Unix time of the last document; warnings: what a person should read.
    """

    def __init__(
        self,
        transport: Transport,
        endpoint: str = DEFAULT_ENDPOINT,
        api_version: str = DEFAULT_VERSION,
        timeout: float = 10.0,
        first_timeout: float = 125.0,
        clock: Optional[Clock] = None,
    ) -> None:
        self.endpoint = check_endpoint(endpoint)
        self.api_version_used = ""
        self.polls = 0
        self.failures = 0
        self.last_failure = ""
        self.looked_at: Optional[float] = None
        self.warnings: List[str] = []
        self.last_url = ""
        self._transport = transport
        self._clock = clock or transport.clock
        # Dates sort as text, so a version that came after this file was written finds its place, too.
        self._versions = [api_version] + [version for version in VERSIONS if version < api_version]
        self._timeout = timeout
        self._first_timeout = first_timeout
        self._answered = False
        self._document: Optional[Document] = None
        self._body = b""
        self._etag = ""
        self._asked_at = 0.0
        self._failed_in_a_row = 0
        self._row_began = 0.0
        self._name = ""

    # --- what callers ask for ---

    def document(self, deadline: Optional[Deadline] = None, final: Sequence[str] = ()) -> Document:
        """The document as it is now. Failures are tried again until the deadline, without one for a little while.

        :arg final: kinds of failure that are not tried again
        """
        return self._persist(lambda: self._look(deadline), deadline, final=final)

    def changed_document(self, known: Document, interval: float, deadline: Deadline) -> Document:
        """The first document that differs from `known`; `known` itself when the deadline passes without one.

        Failures on the way are tried again; one that is still there at the deadline is raised.
        """
        if self._document is None or self._document != known:
            document = self.document(deadline)
            if document != known:
                return document
        while True:
            # The last look was a moment ago: the next one is due an interval later.
            pause = self._asked_at + interval - self._clock.now()
            self._clock.sleep(max(0.0, min(pause, deadline.remaining())))
            document = self._persist(lambda: self._look_until_changed(interval, deadline), deadline, interval)
            if document != known:
                return document
            if deadline.passed():
                return known

    def approve(self, event_ids: Sequence[str]) -> None:
        """One POST for all ids. Nothing is tried again here: whether it arrived is for the next document to tell."""
        body = json.dumps({"StartRequests": [{"EventId": event_id} for event_id in event_ids]}).encode("utf-8")
        url = self._events_url(self.api_version_used or self._versions[0])
        self.last_url = url
        headers = {"Metadata": "true", "Content-Type": "application/json"}
        answer = self._transport.post(url, headers, body, self._seconds(None))
        if not 200 <= answer.status < 300:
            self._refuse(answer, url, posted=True)

    def resource_name(self, persist: bool = True) -> str:
        """The machine's name as events list it, asked once.

        :arg persist: False not to wait for an endpoint that has no names to give, where one is only nice to have
        """
        if not self._name:
            name = self._instance_text("name", persist)
            if not name:
                raise ScheduledEventsError(
                    f"{self.last_url} gave an empty name for this machine, so nobody can tell which events are its own. Set the option resource_name to the name of the virtual machine in Azure (not its hostname).",
                    kind="malformed",
                    status=200,
                    url=self.last_url,
                )
            self._name = name
        return self._name

    def placement_group(self) -> str:
        """The id of the scale set's placement group that the machine is in; "" when it is in none."""
        return self._instance_text("placementGroupId", True)

    # --- one look ---

    def _look(self, deadline: Optional[Deadline]) -> Document:
        if self.api_version_used:
            url = self._events_url(self.api_version_used)
            return self._adopt(self._get(url, deadline), url, deadline)
        refusals = []
        for version in self._versions:
            url = self._events_url(version)
            answer = self._get(url, deadline)
            if answer.status not in (400, 404):
                break
            refusals.append(answer.status)
        else:
            self._refuse_versions(refusals, answer)
        if 404 in refusals:
            second_url = self._events_url(self._versions[0])
            second = self._get(second_url, deadline)
            if second.status == 200:
                version, url, answer = self._versions[0], second_url, second
        document = self._adopt(answer, url, deadline)
        self.api_version_used = version
        if version != self._versions[0]:
            self._warn(
                f"{self.endpoint} does not serve api-version {self._versions[0]}; {version} is used, which tells less about an event."
            )
        return document

    def _look_until_changed(self, interval: float, deadline: Deadline) -> Document:
        url = self.last_url = self._events_url(self.api_version_used)
        headers = {"Metadata": "true"}
        if self._etag:
            headers["If-None-Match"] = self._etag
        try:
            answer, looks = self._transport.get_until_changed(
                url, headers, self._timeout, self._body, interval, deadline.remaining()
            )
        except TransportError as error:
            self._count(error.looks)
            raise
        self._count(looks)
        if answer.status == 304 or (answer.status == 200 and answer.body == self._body):
            self.looked_at = self._clock.wall()
            return self._document
        return self._adopt(answer, url, deadline)

    def _count(self, looks: int) -> None:
        self._asked_at = self._clock.now()
        self.polls += looks
        if looks > 1:  # all but the last one went well
            self._begin_row()

    def _adopt(self, answer: Answer, url: str, deadline: Optional[Deadline]) -> Document:
        """The answer as a document, kept as the one that the next look compares with."""
        if answer.status == 200 and not answer.body.strip() and (self._document is None or self._body.strip()):
            self._clock.sleep(EMPTY_PAUSE)
            answer = self._get(url, deadline)
        if answer.status != 200:
            self._refuse(answer, url)
        _refuse_strangers(answer, url)
        if answer.body.strip():
            document = self._parsed(answer, url)
        else:
            document = Document()
            self._warn(f"{url} answered twice with nothing at all; this is taken for a document without events.")
        self._document, self._body, self._etag = document, answer.body, answer.headers.get("etag", "")
        self.looked_at = self._clock.wall()
        return document

    def _parsed(self, answer: Answer, url: str) -> Document:
        version = url.rpartition("=")[2]
        try:
            return parse_document(answer.body, version)
        except MalformedDocument as error:
            other = _other_json(answer.body)
            if other:
                _not_azure(answer, url, other)
            raise ScheduledEventsError(f"{url}: {error.message}", kind=error.kind, status=200, url=url) from error

    def _get(self, url: str, deadline: Optional[Deadline]) -> Answer:
        self.last_url = url
        self.polls += 1
        try:
            answer = self._transport.get(url, {"Metadata": "true"}, self._seconds(deadline))
        finally:
            self._asked_at = self._clock.now()
        self._answered = True
        _refuse_strangers(answer, url)
        return answer

    def _instance_text(self, leaf: str, persist: bool) -> str:
        """One leaf of /metadata/instance/compute, which some endpoints give bare and some as a JSON string."""
        url = f"{self.endpoint}/metadata/instance/compute/{leaf}?api-version={INSTANCE_VERSION}&format=text"

        def ask() -> str:
            self.last_url = url
            answer = self._transport.get(url, {"Metadata": "true"}, self._seconds(None))
            self._answered = True
            _refuse_strangers(answer, url)
            if answer.status != 200:
                self._refuse(answer, url)
            text = answer.body.decode("utf-8", "replace").strip()
            if text.startswith('"'):
                try:
                    text = json.loads(text).strip()
                except ValueError:
                    pass
            if text and not (_NAME.match(text) and text.isprintable()):
                raise HttpError(f"{url} is no name: {text[:80]!r}.", "malformed", 200, url)
            return text

        return self._persist(ask, None, final=() if persist else ("unavailable",))

    def _events_url(self, version: str) -> str:
        return f"{self.endpoint}/metadata/scheduledevents?api-version={version}"

    def _seconds(self, deadline: Optional[Deadline]) -> float:
        """For one exchange. A wait that is shorter than `first_timeout` is not held longer than it asks for."""
        if self._answered:
            return self._timeout
        left = self._first_timeout if deadline is None else min(self._first_timeout, deadline.remaining())
        return max(self._timeout, left)

    # --- failures ---

    def _persist(
        self, ask: Callable[[], _T], deadline: Optional[Deadline], interval: float = 1.0, final: Sequence[str] = ()
    ) -> _T:
        """Ask until there is an answer, the failure is one that stays, or the time is over."""
        self._begin_row()
        while True:
            try:
                return ask()
            except ScheduledEventsError as error:
                failure = error
            self._failed_in_a_row += 1
            self.failures += 1
            self.last_failure = failure.message
            left = 0.0 if failure.kind in final else self._time_left(failure, deadline)
            retry_after = getattr(failure, "retry_after", None)
            if left <= 0 or (retry_after or 0) > left:
                raise self._explained(failure, retry_after)
            steps = BACK_OFF.get(failure.kind, (interval,))
            pause = max(interval, retry_after or steps[min(self._failed_in_a_row, len(steps)) - 1])
            self._clock.sleep(min(pause, left))

    def _begin_row(self) -> None:
        """Failures are counted from here on."""
        self._failed_in_a_row = 0
        self._row_began = self._clock.now()

    def _time_left(self, failure: ScheduledEventsError, deadline: Optional[Deadline]) -> float:
        if failure.kind not in RETRY_FOR:
            return 0.0
        if deadline is not None:
            return deadline.remaining()
        return self._row_began + RETRY_FOR[failure.kind] - self._clock.now()

    def _explained(self, failure: ScheduledEventsError, retry_after: Optional[float]) -> ScheduledEventsError:
        """The same failure for a person: what was tried, and what to do next."""
        parts = [failure.message]
        if self._failed_in_a_row > 1:
            parts.append("Asked %d times in %.0f s." % (self._failed_in_a_row, self._clock.now() - self._row_began))
        if retry_after:
            parts.append(f"It asks to be left alone for {retry_after:g} s.")
        parts.append(_ADVICE.get(failure.kind, ""))
        return explained(failure, " ".join(part for part in parts if part))

    def _refuse_versions(self, refusals: Sequence[int], answer: Answer) -> NoReturn:
        url = self._events_url(self._versions[0])
        if 404 in refusals:
            raise HttpError(
                f"{url} does not exist (HTTP 404), nor with an older api-version{_excerpt(answer)}.",
                "unavailable",
                404,
                url,
                _retry_after(answer, self._clock),
            )
        raise HttpError(
            f"{self.endpoint} refuses api-version {self._versions[0]} and every older one (HTTP 400){_excerpt(answer)}.",
            "version_refused",
            400,
            url,
        )

    def _refuse(self, answer: Answer, url: str, posted: bool = False) -> NoReturn:
        """Raise what the status means."""
        _refuse_strangers(answer, url)
        status = answer.status
        if status == 400:
            kind = "rejected" if posted else "version_refused"
        elif status in (401, 403):
            kind = "denied"
        elif status == 410:
            kind = "updating"
        elif status == 429:
            kind = "throttled"
        elif status in (404, 408) or status >= 500:
            kind = "unavailable"
        else:
            _not_azure(answer, url, "HTTP %d, which the metadata service does not use here" % status)
        raise HttpError(
            "%s answered HTTP %d%s." % (url, status, _excerpt(answer)),
            kind,
            status,
            url,
            _retry_after(answer, self._clock),
        )

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)


def explained(failure: ScheduledEventsError, message: str) -> ScheduledEventsError:
    """The same failure in other words."""
    result = ScheduledEventsError(message, failure.kind, failure.status, failure.url)
    result.__cause__ = failure
    return result


def may_pass(failure: ScheduledEventsError) -> bool:
    """Whether asking again may help."""
    return failure.kind in RETRY_FOR


# --- who answered? ---


def _refuse_strangers(answer: Answer, url: str) -> None:
    """Raise when it was not Azure's metadata service that answered."""
    headers = answer.headers
    server = headers.get("server", "")
    if 300 <= answer.status < 400 and answer.status != 304:
        _not_azure(answer, url, f"a redirect to {one_line(headers.get('location', 'nowhere'), 160)}")
    if headers.get("metadata-flavor", "").lower() == "google" or "metadata server for vm" in server.lower():
        _not_azure(answer, url, "the metadata service of Google Cloud")
    if server.lower().startswith("ec2ws"):
        _not_azure(answer, url, "the metadata service of Amazon EC2")
    proxied = {"via", "x-squid-error", "proxy-authenticate", "proxy-connection", "x-cache"}.intersection(headers)
    if answer.status == 407 or (proxied and answer.status >= 400):
        _not_azure(answer, url, "a proxy")
    page = "html" in headers.get("content-type", "").lower() or answer.body.lstrip()[:1] == b"<"
    # Windows' own HTTP layer, under Azure's service, writes its errors as HTML, too.
    windows = server.lower().startswith(("microsoft-", "imds"))
    if page and (answer.status == 200 or (answer.status < 500 and not windows)):
        _not_azure(answer, url, "a web page")


def _not_azure(answer: Answer, url: str, what: str) -> NoReturn:
    server = answer.headers.get("server", "")
    raise HttpError(
        "At %s it was not Azure's metadata service that answered, but %s (HTTP %d%s)%s. See whether this is an Azure "
        "virtual machine, whether the option endpoint is right, and whether a proxy or a redirected route sits on the "
        "way." % (url, what, answer.status, ", server " + one_line(server, 160) if server else "", _excerpt(answer)),
        "not_azure",
        answer.status,
        url,
    )


def _other_json(body: bytes) -> str:
    """What this JSON is, when it can't be even a broken document; "" when it might."""
    try:
        value = json.loads(body.decode("utf-8-sig", "replace"), strict=False)
    except (ValueError, RecursionError):
        return ""
    if not value or (isinstance(value, dict) and {"documentincarnation", "events"}.intersection(map(str.lower, value))):
        return ""
    if isinstance(value, dict):
        return f"something whose JSON has the keys {', '.join(one_line(key, 160) for key in sorted(value)[:5])}"
    return "something that sends JSON which is no document"


def _excerpt(answer: Answer) -> str:
    """: and the beginning of what the answer says; "" when it says nothing."""
    text = answer.body[:2000].decode("utf-8", "replace")
    try:
        text = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    text = one_line(text, 160) if isinstance(text, str) else ""
    return f': "{text}"' if text else ""


def _retry_after(answer: Answer, clock: Clock) -> Optional[float]:
    """Seconds, from a number or a date; None without one that can be read."""
    text = answer.headers.get("retry-after", "").strip()
    if text.isdigit() and len(text) < 10:
        return float(text)
    try:
        date = email.utils.parsedate_to_datetime(text)
        return max(0.0, date.timestamp() - clock.wall())
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
