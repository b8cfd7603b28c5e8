# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service as this collection speaks it: versions, fall-back, names. On any Transport.

How Azure behaves is guesswork in places; what was guessed stands here, each guess once:

* Versions (:meth:`Client._look`): 400 and 404 both may mean "this api-version is not served here", so the next older
  one is asked. 404 may also mean "the service is being updated": when all versions give it, the first is asked again
  later, and all of them now and then; and before an older version is kept because of a 404, the one that was asked for
  gets a second chance.
* Failures (:mod:`.retries`): what may pass by itself is retried: 404, 408, 410, 429, 5xx, cut connections,
  late and broken answers. 400, 401, 403 and answers of somebody else are final.
* An empty 200 (:meth:`Client._adopt`) is a failure that may pass. It means "no events" only to a client that was last
  shown a document without any, or has seen no document yet and gets the next answer empty as well.

Private to this collection.
"""

import json
import re
from typing import Callable, List, Optional, Sequence, TypeVar

from .._clock import Clock, Deadline
from .._errors import ScheduledEventsError, TransportError
from .._events.document import Document
from .answers import document_in, is_empty, name_in, refuse, refuse_other_services, refuse_versions
from .endpoint import DEFAULT_ENDPOINT, check_endpoint
from .retries import EMPTY_PAUSE, RETRY_FOR, HttpError, Retries, http_date
from .transport import Answer, Moments, Transport, in_a_row

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
NAME, PLACEMENT_GROUP = "name", "placementGroupId"  # leaves of its compute
NAME_TIMEOUT = 3.0  # seconds for a leaf that nothing has to wait for: a Preempt gives 30 of notice

# Seconds from one time that all versions were asked in vain until all of them are asked again: at each retry, seven
# requests would be more than a machine may send in a second.
ALL_VERSIONS_EVERY = 30.0

DATE_IS_CUT = 0.5
"""Seconds that have gone by, on the average, since what a Date header says: it has whole ones."""

_ETAG = re.compile(r"[ -~]{1,256}\Z")  # anything else can't be sent back
_T = TypeVar("_T")


class Client:
    """One conversation with one endpoint.

    :arg timeout: seconds for one exchange; `first_timeout` is for those before the endpoint's first answer

    api_version_used: what the endpoint answered to; polls: how often it was asked for the document;
    failures, last_failure: how many requests failed on the way, and what the last one said;
    looked_at: Unix time of the last document, by the service's own clock where it says that, as not-before is; moments: when that
    was asked for and came, by ours; warnings: what a person should read;
    date: what the last answer's Date header said, as it came: the service's own clock.
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
        self.looked_at: Optional[float] = None
        self.moments: Optional[Moments] = None
        self.date = ""
        self.warnings: List[str] = []
        self.last_url = ""
        self._transport = transport
        self._clock = clock or transport.clock
        self._retries = Retries(self._clock)
        # Dates sort as text, so a version that came after this file was written finds its place, too.
        self._versions = [api_version] + [version for version in VERSIONS if version < api_version]
        self._timeout = timeout
        self._first_timeout = first_timeout
        self._answered = False
        self._document: Optional[Document] = None
        self._has_seen_document = False  # an empty body is none
        self._body = b""
        self._etag = ""
        self._asked_at = 0.0
        self._answer_moments: Optional[Moments] = None  # of the last answer, whether it is a document or not
        self._all_refused_at: Optional[float] = None
        self._name = ""

    @property
    def failures(self) -> int:
        return self._retries.failures

    @property
    def last_failure(self) -> str:
        return self._retries.last_failure

    # --- what callers ask for ---

    def document(self, deadline: Optional[Deadline] = None, final: Sequence[str] = ()) -> Document:
        """The document as it is now. Failures are retried until the deadline, without one for a little while.

        :arg final: kinds of failure that are not retried
        """
        return self._retries.persist(lambda: self._look(deadline), deadline, final=final)

    def poll_once(self, patient: bool = False) -> Document:
        """One poll in which no failure is retried: whoever polls every second retries with the next poll.

        Where nothing has changed, the document is the very one that was returned before.

        :arg patient: whether this may be the first answer after a day without requests, which takes its time
        """
        if patient:
            self._answered = False
        if not self.api_version_used or self._document is None:
            return self._look(None)
        url = self._events_url(self.api_version_used)
        answer = self._get(url, None, self._etag)
        return self._same(answer) or self._adopt(answer, url, None)

    def expect_events(self) -> None:
        """A document with events was seen before this conversation began: an empty body does not take them back."""
        self._has_seen_document = True

    def choose_version_anew(self) -> None:
        """Find out with the next poll which api-version is served by now."""
        self.api_version_used = ""

    def server_time(self) -> Optional[float]:
        """Unix time of the last answer by the service's own clock; None where it said none."""
        return http_date(self.date)

    def changed_document(self, known: Document, interval: float, deadline: Deadline) -> Document:
        """The first document that differs from `known`; `known` itself when the deadline passes without one.

        Failures on the way are retried; one that is still there at the deadline is raised.
        """
        self._has_seen_document = self._has_seen_document or known.incarnation is not None
        if self._document is None or self._document != known:
            document = self.document(deadline)
            if document != known:
                return document
        while True:
            # The last poll was a moment ago: the next one is due an interval later.
            pause = self._asked_at + interval - self._clock.now()
            self._clock.sleep(max(0.0, min(pause, deadline.remaining())))
            document = self._retries.persist(lambda: self._look_until_changed(interval, deadline), deadline, interval)
            if document != known:
                return document
            if deadline.passed():
                return known

    def approve(self, event_ids: Sequence[str]) -> None:
        """One POST for all ids. Nothing is retried here: whether it arrived is for the next document to tell."""
        body = json.dumps({"StartRequests": [{"EventId": event_id} for event_id in event_ids]}).encode("utf-8")
        url = self._events_url(self.api_version_used or self._versions[0])
        self.last_url = url
        headers = {"Metadata": "true", "Content-Type": "application/json"}
        answer = self._transport.post(url, headers, body, self._seconds(None))
        if not 200 <= answer.status < 300:
            refuse(answer, url, self._clock, posted=True)

    def resource_name(self, final: Sequence[str] = (), timeout: Optional[float] = None) -> str:
        """The machine's name as events list it and as the service gives it, whatever its callers know; asked once.

        :arg final: kinds of failure that are not retried
        :arg timeout: seconds for one exchange, where the usual ones are too many
        """
        if not self._name:
            name = self._instance_text(NAME, final, timeout)
            if not name:
                raise ScheduledEventsError(
                    f"{self.last_url} gave an empty name for this machine, so nobody can tell which events are its "
                    "own. "
                    "Set the option resource_name to the name of the virtual machine in Azure (not its hostname).",
                    kind="malformed",
                    status=200,
                    url=self.last_url,
                )
            self._name = name
        return self._name

    def placement_group(self) -> str:
        """The id of the scale set's placement group that the machine is in; "" when it is in none."""
        return self._instance_text(PLACEMENT_GROUP)

    def machine_text(self, leaf: str, timeout: float) -> str:
        """Something else about the machine, by its name below /metadata/instance/compute; asked once, without retries."""
        return self._instance_text(leaf, tuple(RETRY_FOR), timeout)

    # --- one poll ---

    def _look(self, deadline: Optional[Deadline]) -> Document:
        if self.api_version_used:
            url = self._events_url(self.api_version_used)
            return self._adopt(self._get(url, deadline), url, deadline)
        refusals: List[int] = []
        for version in self._versions:
            url = self._events_url(version)
            answer = self._get(url, deadline)
            if answer.status not in (400, 404):
                break
            refusals.append(answer.status)
            if answer.status == 404 and self._all_were_refused_lately():
                refuse_versions(refusals, answer, self._events_url(self._versions[0]), self._clock)
        else:
            self._all_refused_at = self._clock.now()
            refuse_versions(refusals, answer, self._events_url(self._versions[0]), self._clock)
        if 404 in refusals:
            moments, date = self._answer_moments, self.date
            second_url = self._events_url(self._versions[0])
            second = self._get(second_url, deadline)
            if second.status == 200:
                version, url, answer = self._versions[0], second_url, second
            else:
                self._answer_moments, self.date = moments, date
        document = self._adopt(answer, url, deadline)
        self.api_version_used = version
        if version != self._versions[0]:
            self._warn(
                f"{self.endpoint} does not serve api-version {self._versions[0]}; {version} is used, "
                "which says less about an event."
            )
        return document

    def _all_were_refused_lately(self) -> bool:
        return self._all_refused_at is not None and self._clock.now() < self._all_refused_at + ALL_VERSIONS_EVERY

    def _look_until_changed(self, interval: float, deadline: Deadline) -> Document:
        url = self.last_url = self._events_url(self.api_version_used)
        headers = {"Metadata": "true"}
        if self._etag:
            headers["If-None-Match"] = self._etag
        try:
            answer, polls = self._timed(
                lambda: self._transport.get_until_changed(
                    url, headers, self._timeout, self._body, interval, deadline.remaining()
                )
            )
        except TransportError as error:
            self._count(error.polls)
            if error.polls > 1 and self._transport.moments:  # until then the document was as it is known
                self._move_on(self._transport.moments)
            raise
        self._count(polls)
        self.date = answer.headers.get("date", "")
        return self._same(answer) or self._adopt(answer, url, deadline)

    def _same(self, answer: Answer) -> Optional[Document]:
        """The document that is known, when the answer says that it still holds."""
        same = answer.status == 304 or (answer.status == 200 and answer.body == self._body)
        if not same or self._document is None:
            return None
        self._note_moment()
        return self._document

    def _timed(self, ask: Callable[[], _T]) -> _T:
        """What comes of asking; noted is when that was, in the words of a Transport that knows better than we do."""
        self._transport.moments = None
        asked = self._clock.now()
        answer = ask()
        self._answer_moments = self._transport.moments or Moments(asked, asked, self._clock.now())
        return answer

    def _note_moment(self) -> None:
        """The last answer holds, or is, the document."""
        if self._answer_moments:
            self.moments = in_a_row(self.moments, self._answer_moments)
        served = self.server_time()
        self.looked_at = self._clock.wall() if served is None else served + DATE_IS_CUT

    def _move_on(self, moments: Moments) -> None:
        """The document still held at these moments. No answer is there that says the time: it is as much later as they are."""
        if self.moments and self.looked_at is not None:
            self.looked_at += moments.came - self.moments.came
        self.moments = in_a_row(self.moments, moments)

    def _count(self, polls: int) -> None:
        self._asked_at = self._clock.now()
        self.polls += polls
        if polls > 1:  # all but the last one went well
            self._retries.begin_row()

    def _adopt(self, answer: Answer, url: str, deadline: Optional[Deadline]) -> Document:
        """The answer as a document, kept as the one that the next poll compares with."""
        if is_empty(answer) and self._document is None and not self._has_seen_document:
            self._clock.sleep(EMPTY_PAUSE)
            answer = self._get(url, deadline)
        if answer.status != 200:
            refuse(answer, url, self._clock)
        refuse_other_services(answer, url)
        if not is_empty(answer):
            document = document_in(answer, url)
            self._has_seen_document = True
        elif not self._has_seen_document:
            document = Document()
            self._warn(f"{url} answered twice with nothing at all; this is taken for a document without events.")
        elif self._document is not None and not self._document.events and not self._document.unusable:
            document = self._document  # nothing was there that an answer of nothing could take back
            self._warn(f"{url} answered with nothing at all at times; the document without events is taken to stand.")
        else:
            # A hiccup of the service would look like the end of every event.
            raise HttpError(
                f"{url} answered with nothing at all (HTTP 200, an empty body), which takes back no event that it has "
                "shown before.",
                "malformed",
                200,
                url,
            )
        etag = answer.headers.get("etag", "")
        self._document, self._body, self._etag = document, answer.body, etag if _ETAG.match(etag) else ""
        self._note_moment()
        return document

    def _get(self, url: str, deadline: Optional[Deadline], etag: str = "") -> Answer:
        self.last_url = url
        self.polls += 1
        headers = {"Metadata": "true", "If-None-Match": etag} if etag else {"Metadata": "true"}
        try:
            answer = self._timed(lambda: self._transport.get(url, headers, self._seconds(deadline)))
        finally:
            self._asked_at = self._clock.now()
        self._answered = True
        self.date = answer.headers.get("date", "")
        refuse_other_services(answer, url)
        return answer

    def _instance_text(self, leaf: str, final: Sequence[str] = (), timeout: Optional[float] = None) -> str:
        """One leaf of /metadata/instance/compute, which some endpoints give bare and some as a JSON string."""
        url = self._leaf_url(leaf)

        def ask() -> str:
            self.last_url = url
            seconds = self._seconds(None)
            answer = self._transport.get(
                url, {"Metadata": "true"}, seconds if timeout is None else min(seconds, timeout)
            )
            self._answered = True
            refuse_other_services(answer, url)
            if answer.status != 200:
                refuse(answer, url, self._clock)
            return name_in(answer, url)

        return self._retries.persist(ask, None, final=final)

    def _leaf_url(self, leaf: str) -> str:
        return f"{self.endpoint}/metadata/instance/compute/{leaf}?api-version={INSTANCE_VERSION}&format=text"

    def _events_url(self, version: str) -> str:
        return f"{self.endpoint}/metadata/scheduledevents?api-version={version}"

    def _seconds(self, deadline: Optional[Deadline]) -> float:
        """For one exchange. A wait that is shorter than `first_timeout` is not held longer than it asks for."""
        if self._answered:
            return self._timeout
        left = self._first_timeout if deadline is None else min(self._first_timeout, deadline.remaining())
        return max(self._timeout, left)

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)
