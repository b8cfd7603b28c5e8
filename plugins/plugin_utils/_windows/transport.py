# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP by way of a Windows machine, which has no Python: the Transport over look.ps1.

The machine hands back what came; what it means is said here and above, in the code that a Linux machine runs for itself.

Private to this collection.
"""

from __future__ import annotations

import base64
import binascii
import enum
from collections.abc import Mapping
from typing import Any

from ...module_utils._clock import Clock
from ...module_utils._errors import BrokenAnswer, ScheduledEventsError, TransportError, Unreachable
from ...module_utils._imds.transport import LIMIT, Answer, Moments, Transport, too_large, too_slow, whole
from ...module_utils._text import one_line, shown
from .machine import LATE, SKIPPED, TOO_LATE, Asked, WindowsMachine, WindowsProblem, encoded

# No connection is known to cut a call short, but the machine does not notice when its controller is gone: it goes on
# looking until the call's own end, and its five requests a second are for all programs together. WinRM, for one, keeps
# a shell that nobody asks for two hours. An hour is half of that, and the longest wait that is one call.
LONGEST_CALL = 3600.0

# For how many seconds the call that sends an approval looks for what comes of it. Not for long: where the machine is
# affected itself, its connection may be cut by the maintenance, and nobody learns that the approval was taken.
AFTER_POST = 5.0
_FRESH = 2.0  # seconds for which what was brought along counts as an answer of this moment
_INTERVAL = 1.0
_LEAST_PAUSE = 0.2  # seconds from one request of the script to the next


class Compared(enum.Enum):
    """How a document that was known is compared with the one that is there."""

    FIRST = "first"  # in the same start, before anything is changed
    BY_WAITING = "by waiting"  # by the wait for another one


class SentTooLate(ScheduledEventsError):
    """A request was not sent, as it came too late."""

    default_kind = "interrupted"


class WindowsTransport(Transport):
    """One start of PowerShell for each request, and one for each wait (of an hour at most).

    What is foreseen is brought along with the request before it, and a POST brings the look after it. Such an answer is
    given to the next request for its address if that comes at once: in between nothing else was asked, and no more than
    two seconds have passed. Otherwise it is asked for anew. An answer that does not change is given again and again.

    get_until_changed may return an answer that is not another one before its limit has passed.
    Five requests a second can't be exceeded: the script pauses between them, and so does who runs it without another start of PowerShell.

    :arg after_post: for how many seconds the call that sends a POST looks for another document
    """

    def __init__(self, machine: WindowsMachine, clock: Clock | None = None, after_post: float = AFTER_POST) -> None:
        super().__init__(clock or machine.clock)
        self._machine = machine
        self._after_post = after_post
        self._foreseen: dict[str, dict[str, Any]] = {}
        self._lasting: set[str] = set()
        self._brought: dict[str, Asked] = {}
        self._bodies: dict[str, bytes] = {}  # the last ones
        self.seen: dict[str, Mapping[str, Any]] = {}  # what look.ps1 last said to a GET that got an answer, by address
        self._known: Mapping[str, Mapping[str, Any]] = {}  # the same of an earlier call
        self._document: Compared | None = None
        self.is_unproven = False  # whether a document was taken for that of now which nobody has compared yet

    def begin_with(self, known: Mapping[str, Mapping[str, Any]], document: Compared | None) -> None:
        """Take what was said in an earlier call, in the same boot, for the answers to what is foreseen: who the machine is stays so.

        :arg document: how the document is compared; None for not to be taken for one of now at all
        """
        self._known, self._document, self.seen = known, document, dict(known)

    def foresee(self, url: str, headers: dict[str, str], timeout: float, lasting: bool = False) -> None:
        if lasting:
            self._lasting.add(url)
        brought, known = self._brought.get(url), self._known.get(url)
        if known and (lasting or self._document):
            if brought is None:
                self._brought[url] = self._assumed(_exchange("GET", url, headers, timeout), known, lasting)
        elif not lasting or brought is None or "failure" in (brought.said or {}):
            self._foreseen[url] = _exchange("GET", url, headers, timeout)

    def _assumed(self, request: dict[str, Any], known: Mapping[str, Any], lasting: bool) -> Asked:
        said = dict(known, polls=1)
        if not lasting and self._document is Compared.FIRST:
            asked = self._machine.later(**request)
            asked.assume(said, 0.0, ("status", "body"))
            return asked
        self.is_unproven = self.is_unproven or not lasting
        asked = Asked(self._machine, request)
        asked.believe(said)
        return asked

    def begin(self) -> None:
        """Have what was foreseen go with the machine's next call, whatever that is made for."""
        self._bring(first_stops=True)

    def get(self, url: str, headers: dict[str, str], timeout: float) -> Answer:
        said = self._brought_along(url, timeout)
        if said is None:
            said = self._said(_exchange("GET", url, headers, timeout))
        return self._outcome(said, url, timeout)[0]

    def post(self, url: str, headers: dict[str, str], body: bytes, timeout: float) -> Answer:
        self._foreseen[url] = _exchange(
            "GET",
            url,
            {"Metadata": "true"},
            timeout,
            Known=encoded(self._bodies.get(url, b"")),
            IntervalMs=_milliseconds(_INTERVAL),
            LimitMs=_milliseconds(self._after_post),
        )
        try:
            said = self._said(_exchange("POST", url, headers, timeout, Body=encoded(body), **self._machine.window))
            if said.get("failure") == SKIPPED and said.get("part") == LATE:
                raise SentTooLate(TOO_LATE)
            return self._outcome(said, url, timeout, posted=True)[0]
        except WindowsProblem as problem:
            problem.message += " Whether the approval was sent is not known; to run this again does no harm."
            raise

    def get_until_changed(
        self, url: str, headers: dict[str, str], timeout: float, known: bytes, interval: float, limit: float
    ) -> tuple[Answer, int]:
        self.is_unproven = False
        said = self._brought_along(url, timeout)
        if said is None:
            wait = _exchange(
                "GET",
                url,
                headers,
                timeout,
                Known=encoded(known),
                IntervalMs=_milliseconds(interval),
                LimitMs=_milliseconds(limit),
            )
            said = self._said(wait)
        return self._outcome(said, url, timeout)

    def _said(self, request: dict[str, Any]) -> Mapping[str, Any]:
        """What look.ps1 says to the request; what was foreseen comes along."""
        self._brought = {url: asked for url, asked in self._brought.items() if url in self._lasting}
        asked = self._machine.later(**dict(request, Stop=bool(self._foreseen)))
        self._bring(first_stops=False)
        said = asked.answer()
        self.moments = _moments(asked, said)
        return said

    def _bring(self, first_stops: bool) -> None:
        foreseen, self._foreseen = self._foreseen, {}
        for url, request in foreseen.items():
            self._brought[url] = self._machine.later(**dict(request, Stop=first_stops and len(foreseen) > 1))
            first_stops = False

    def _brought_along(self, url: str, timeout: float) -> Mapping[str, Any] | None:
        """What was said to the request when another one was made; None where it has to be made now."""
        asked = self._brought.pop(url, None)
        if asked is None:
            return None
        said = asked.answer()
        if said.get("status") == 200 and url in self._lasting:
            self._brought[url] = asked
            return said
        if asked.is_assumed:
            return said
        failure = said.get("failure")
        too_short = failure in _TOO_SLOW and _milliseconds(timeout) > asked.request["TimeoutMs"]
        if self._machine.age(asked) > _FRESH or failure == SKIPPED or too_short:
            return None
        self.moments = _moments(asked, said)
        return said

    def _outcome(self, said: Mapping[str, Any], url: str, timeout: float, posted: bool = False) -> tuple[Answer, int]:
        polls: int = self._of_type(said, "polls", int, "a number")
        try:
            answer = whole(self._answer(said, url, timeout), url, posted=posted)
        except TransportError as error:
            error.polls = polls
            raise
        if answer.status == 200 and not posted:
            self._bodies[url] = answer.body
            self.seen[url] = {key: said[key] for key in ("status", "headers", "body")}
        return answer, polls

    def _answer(self, said: Mapping[str, Any], url: str, timeout: float) -> Answer:
        if "failure" in said:
            failure = self._of_type(said, "failure", str, "text")
            message = self._of_type(said, "message", str, "text")
            raise _translated(failure, message, said.get("part"), url, timeout)
        return Answer(self._of_type(said, "status", int, "a number"), self._headers(said), self._body(said))

    def _headers(self, said: Mapping[str, Any]) -> dict[str, str]:
        headers = self._of_type(said, "headers", Mapping, "a dictionary")
        for name, value in headers.items():
            if not isinstance(value, str):
                self._machine.broken(f"the header {one_line(name, 40)} is not text but {shown(value)}")
        return {name.lower(): value for name, value in headers.items()}

    def _body(self, said: Mapping[str, Any]) -> bytes:
        text = self._of_type(said, "body", str, "text")
        try:
            return base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            self._machine.broken(f"the body is not base64 ({error})")

    def _of_type(self, said: Mapping[str, Any], key: str, wanted: type, called: str) -> Any:
        if key not in said:
            self._machine.broken(f"it has no {key}")
        value = said[key]
        if not isinstance(value, wanted) or isinstance(value, bool):
            self._machine.broken(f"{key} is not {called} but {shown(value)}")
        return value


# What look.ps1 calls a failure: values of SocketErrorCode, HttpRequestError and WebExceptionStatus, and some of its own.
_TOO_SLOW = {"Timeout", "TimedOut"}
_NOT_HTTP = {
    # Windows PowerShell 5.1
    "ServerProtocolViolation",
    "MessageLengthLimitExceeded",
    # PowerShell 7.4
    "InvalidResponse",
    "HttpProtocolError",
    "ConfigurationLimitExceeded",
}
_ENDED = {"ConnectionClosed", "ReceiveFailure", "KeepAliveFailure", "ResponseEnded", "UnknownError", "Unknown"}


def _moments(asked: Asked, said: Mapping[str, Any]) -> Moments:
    """When the last of its requests was sent, at the earliest: between two of them the script pauses."""
    polls, paused = said.get("polls"), 0.0
    if isinstance(polls, int) and polls > 1:
        paused = (polls - 2) * asked.request["IntervalMs"] / 1000 + _LEAST_PAUSE
    return Moments(asked.began, min(asked.began + paused, asked.came), asked.came)


def _translated(failure: str, message: str, part: Any, url: str, timeout: float) -> TransportError:
    """A failure of look.ps1 as the error that the Transport over `requests` raises for the same fault."""
    if failure in _TOO_SLOW:
        return too_slow(url, timeout)
    if failure == "TooLarge":
        return too_large(url)
    reason = one_line(message).rstrip(". ")
    # PowerShell 7.2 has no word for it but in its message, which is in English everywhere.
    if failure in _NOT_HTTP or (failure in _ENDED and "invalid status line" in message.lower()):
        return BrokenAnswer(f"What {url} sent is not HTTP ({reason}).", url=url)
    if part == "body" and failure in _ENDED:
        return BrokenAnswer(f"The answer of {url} broke off ({reason}).", url=url)
    return Unreachable(f"No connection to {url}, or it was cut: {reason} ({one_line(failure, 40)}).", url=url)


def _exchange(method: str, url: str, headers: dict[str, str], timeout: float, **more: Any) -> dict[str, Any]:
    """The request for look.ps1."""
    request = {
        "Do": "http",
        "Method": method,
        "Url": url,
        "Headers": headers,
        "Body": "",
        "TimeoutMs": max(1, _milliseconds(timeout)),
        "MaxBytes": LIMIT,
        "Known": "",
        "IntervalMs": 0,
        "LimitMs": 0,
        "FromMs": 0,
        "UntilMs": 0,
    }
    return dict(request, **more)


def _milliseconds(seconds: float) -> int:
    return int(round(min(seconds, LONGEST_CALL) * 1000))
