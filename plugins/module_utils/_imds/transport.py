# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How bytes get to the metadata service and back: what a Transport is, and how long an answer's body is, by its headers.

A Transport knows HTTP and time limits. It knows neither versions nor events nor what to try again.

HTTP libraries differ in what they make of two lengths, or of one that is no number: one reads to the end of the connection, another
takes the first. Where two readers may disagree, no answer is safe, so none is taken. So there is one reader for every Transport.

Private to this collection.
"""

import collections
import re
from typing import Deque, Dict, NamedTuple, Optional, Tuple

from .._clock import Clock, Deadline, ticks
from .._errors import AnswerTimeout, AnswerTooLarge, BrokenAnswer, TransportError
from .._text import digits, shown

LIMIT = 1024 * 1024  # bytes of an answer's body; a large document has 200 kB
REQUESTS_PER_SECOND = 5  # what Azure allows one machine, S3
WATCHER_REQUESTS_PER_SECOND = 2  # of these, as others on the machine ask, too

UNBROKEN = 10.0
"""Seconds from one request to the next after which an event may have started and ended unseen: what came in between may be as old as the
first one."""

# In a header's value. What .NET takes for a blank there (NUL, CR, LF) is none of them.
_CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")

_CHUNK_SIZE = re.compile(rb"[0-9A-Fa-f]{1,8}\Z")


class Answer(NamedTuple):
    """One HTTP answer; header names in lower case."""

    status: int
    headers: Dict[str, str]
    body: bytes


class Moments(NamedTuple):
    """When an answer was asked for and came, by the Transport's clock. What it says is as old as the request, at most.

    first: when the first poll of an unbroken row was asked for that ends with this answer: the same as ``asked`` where it is alone
    """

    first: float
    asked: float
    came: float


def in_a_row(earlier: Optional[Moments], later: Moments) -> Moments:
    """The later ones, which go on with the row of the earlier ones where that is unbroken."""
    if earlier is None or later.first - earlier.asked > UNBROKEN:
        return later
    return later._replace(first=earlier.first)


class Transport:
    """What the client needs of HTTP. A Transport raises subclasses of TransportError, and nothing else.

    `timeout` is for one whole exchange, from the connection to the last byte. Redirects are answers
    like others, no proxy is used, and no body above :data:`LIMIT` is taken. What was cut is no answer (:func:`whole`).
    At most :data:`REQUESTS_PER_SECOND` requests are sent in any second.

    moments: of the last answer, or of the last one before an error; None where the caller's own clock tells them as well
    """

    def __init__(self, clock: Optional[Clock] = None) -> None:
        self.clock = clock or Clock()
        self.moments: Optional[Moments] = None

    def get(self, url: str, headers: Dict[str, str], timeout: float) -> Answer:
        raise NotImplementedError

    def post(self, url: str, headers: Dict[str, str], body: bytes, timeout: float) -> Answer:
        raise NotImplementedError

    def close(self) -> None:
        """Let go of what is kept open from request to request; the next request opens it anew."""

    def get_until_changed(
        self, url: str, headers: Dict[str, str], timeout: float, known: bytes, interval: float, limit: float
    ) -> Tuple[Answer, int]:
        """Poll every `interval` seconds until the answer is another one than `known`, or `limit` seconds are over.

        Any status besides 200 and 304 is another answer. Returns the last answer and the number of polls;
        a TransportError carries that number as ``polls``. There is always one poll, and one at the limit.
        """
        self.moments = None
        for polls in ticks(self.clock, interval, Deadline(self.clock, limit)):
            asked = self.clock.now()
            try:
                answer = self.get(url, headers, timeout)
            except TransportError as error:
                error.polls = polls
                raise
            self.moments = in_a_row(self.moments, Moments(asked, asked, self.clock.now()))
            if answer.status != 304 and not (answer.status == 200 and answer.body == known):
                break
        return answer, polls


def whole(answer: Answer, url: str, posted: bool = False) -> Answer:
    """The answer, when all of it has come.

    HTTP libraries take a connection that ends inside the headers for the end of the headers, and then, as no length was
    announced, for the end of an empty body. "No events" would be read from that, so an answer that brings nothing must
    say that it has nothing to bring. (Chunks that lack their last one are an error of the library.)

    :arg posted: whether it is the answer to a POST, whose body nobody has specified: it brings nothing but the status
    :raises BrokenAnswer: when it was cut, or does not say how long it is
    """
    if any(_CONTROL.search(value) for value in answer.headers.values()):
        raise _broken(f"What {url} sent is not HTTP (a control character in a header).", answer, url)
    try:
        framing = framing_of(answer.headers.get("content-length", ""), answer.headers.get("transfer-encoding", ""))
    except BadFraming as error:
        raise _broken(f"The answer of {url} can't be read: {error}.", answer, url) from error
    if answer.status in (204, 304):
        return answer
    if framing.length is not None and len(answer.body) < framing.length:
        raise _broken(f"The answer of {url} broke off after {len(answer.body)} of {framing.length} bytes.", answer, url)
    # Where nothing is read but the status, it tells enough.
    brings_more = 200 <= answer.status < 300 and not posted
    if brings_more and not answer.body and framing.length is None and not framing.chunked:
        raise _broken(f"The answer of {url} broke off before its body, or inside its headers.", answer, url)
    return answer


def _broken(message: str, answer: Answer, url: str) -> BrokenAnswer:
    return BrokenAnswer(message, status=answer.status, url=url)


def too_slow(url: str, timeout: float) -> AnswerTimeout:
    """The error for an answer whose end did not come in time."""
    return AnswerTimeout(f"{url} gave no whole answer within {timeout:g} s.", url=url)


def too_large(url: str, status: Optional[int] = None) -> AnswerTooLarge:
    """The error for an answer with more bytes than a document can have."""
    return AnswerTooLarge(f"{url} sent more than {LIMIT} bytes: no document is that long.", status=status, url=url)


class RateLimit:
    """At most so many requests in any second, by the clock of whoever receives them.

    A request arrives somewhere between its start and its end. So a request starts a second after the *end* of the fifth
    one before it: counted from its start, a first request that had to make its connection would arrive too late.
    """

    def __init__(self, clock: Clock, most: int = REQUESTS_PER_SECOND) -> None:
        self._clock = clock
        self._ends: Deque[float] = collections.deque(maxlen=most)

    def wait(self) -> None:
        """Before a request."""
        if len(self._ends) == self._ends.maxlen:
            self._clock.sleep(max(0.0, self._ends[0] + 1.0 - self._clock.now()))

    def ended(self) -> None:
        """After a request, however it ended."""
        self._ends.append(self._clock.now())


class SharedRateLimit(RateLimit):
    """The same for several threads that ask at the same time, each with a Transport of its own.

    A request that is under way may arrive at any moment, so it counts like one that has just ended. Who came first is
    served first: polls that use all that is allowed would else keep an approval waiting.
    """

    _PAUSE = 0.05

    def __init__(self, clock: Clock, most: int) -> None:
        import threading  # which all others do without

        super().__init__(clock, most)
        self._most = most
        self._under_way = 0
        self._lock = threading.Lock()
        self._line: Deque[object] = collections.deque()  # of those who wait

    def wait(self) -> None:
        place = object()
        with self._lock:
            self._line.append(place)
        try:
            while not self._may_start(place):
                self._clock.sleep(self._PAUSE)
        finally:
            with self._lock:
                self._line.remove(place)

    def _may_start(self, place: object) -> bool:
        with self._lock:
            second_ago = self._clock.now() - 1.0
            has_room = self._under_way + sum(end > second_ago for end in self._ends) < self._most
            if self._line[0] is not place or not has_room:
                return False
            self._under_way += 1
            return True

    def ended(self) -> None:
        with self._lock:
            self._under_way -= 1
            super().ended()


class BadFraming(Exception):
    """Headers, or a chunk, that do not say how long the body is. The message is half a sentence."""


class Framing(NamedTuple):
    """How the body ends."""

    length: Optional[int]  # bytes; None where nothing announces them
    chunked: bool


def framing_of(content_length: str, transfer_encoding: str) -> Framing:
    """What the two headers say.

    :arg content_length: its value, "" without one; what comes several times is joined by commas
    :raises BadFraming: when they say two things, or nothing that can be understood
    """
    lengths = {_length(part) for part in content_length.split(",")} if content_length.strip(" \t") else set()
    if len(lengths) > 1:
        raise BadFraming(f"it announces two lengths, {shown(content_length)}")
    coding = transfer_encoding.strip(" \t").lower()
    if coding not in ("", "identity", "chunked"):
        raise BadFraming(f"its Transfer-Encoding is {shown(transfer_encoding)}, which nobody asked for")
    return Framing(next(iter(lengths), None), coding == "chunked")


def _length(text: str) -> int:
    length = digits(text.strip(" \t"))
    if length is None:
        raise BadFraming(f"its Content-Length is {shown(text)}")
    return length


def chunk_size(line: bytes) -> int:
    """The bytes of the next chunk.

    :arg line: the line before it, with its end
    :raises BadFraming: when it is no size, or the connection ended within it
    """
    if not line.endswith(b"\n"):
        raise BadFraming("it broke off between two chunks")
    size = line.partition(b";")[0].strip(b" \t\r\n")
    if not _CHUNK_SIZE.match(size):
        raise BadFraming(f"the size of a chunk is {shown(size)}")
    return int(size, 16)
