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
from collections.abc import Mapping
from typing import Any

from ...module_utils._clock import Clock
from ...module_utils._errors import BrokenAnswer, TransportError, Unreachable
from ...module_utils._imds.transport import LIMIT, Answer, Moments, Transport, too_large, too_slow, whole
from ...module_utils._machine.mark import TooLate
from ...module_utils._text import one_line, shown
from .machine import LATE, TOO_LATE, WindowsMachine, WindowsProblem, encoded
from .store import WindowsStore

LONGEST_WAIT = 60.0
"""Seconds of a wait that is asked for at once. Over PSRP nobody tells the machine that its controller is gone: it goes on polling until then."""

_LEAST_PAUSE = 0.2  # seconds from one request of the script to the next
_LONGEST = 3600.0  # what PowerShell calls an int ends at 24 days


class WindowsTransport(Transport):
    """get_until_changed may return an answer that is not another one before its limit has passed.

    Five requests a second can't be exceeded: the script pauses between those of a wait, and whoever asks it between two others.

    :arg store: of the mark without which, as it was last read, nothing is sent
    """

    def __init__(self, machine: WindowsMachine, clock: Clock | None = None, store: WindowsStore | None = None) -> None:
        super().__init__(clock or machine.clock)
        self._machine = machine
        self._store = store

    def get(self, url: str, headers: dict[str, str], timeout: float) -> Answer:
        return self._exchange(_http("GET", url, headers, timeout))[0]

    def post(self, url: str, headers: dict[str, str], body: bytes, timeout: float) -> Answer:
        """
        :raises Fenced, NotWritten: it was not sent, as the mark is not what it was, or it came too late
        """
        request = _http("POST", url, headers, timeout, Body=encoded(body), **self._machine.window)
        try:
            return self._exchange(request)[0]
        except WindowsProblem as problem:
            problem.message += " Whether the approval was sent is not known; to run this again does no harm."
            raise

    def get_until_changed(
        self, url: str, headers: dict[str, str], timeout: float, known: bytes, interval: float, limit: float
    ) -> tuple[Answer, int]:
        return self._exchange(
            _http(
                "GET",
                url,
                headers,
                timeout,
                Known=encoded(known),
                IntervalMs=_milliseconds(interval),
                LimitMs=_milliseconds(min(limit, LONGEST_WAIT)),
            )
        )

    def _exchange(self, request: Mapping[str, Any]) -> tuple[Answer, int]:
        posted, began = request["Method"] == "POST", self.clock.now()
        self._machine.has_posted |= posted
        if posted and self._store:
            compared, said = self._machine.ask(self._store.guard(), request)
            self._store.check_guard(compared)
        else:
            (said,) = self._machine.ask(request)
        if said.get("part") == LATE:
            raise TooLate(f"{TOO_LATE}.")
        url, polls = request["Url"], self._of_type(said, "polls", int, "a number")
        self.moments = _moments(began, self.clock.now(), polls, request)
        try:
            return whole(self._answer(said, url, request["TimeoutMs"] / 1000), url, posted=posted), polls
        except TransportError as error:
            error.polls = polls
            raise

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


def _moments(began: float, came: float, polls: int, request: Mapping[str, Any]) -> Moments:
    """When the last of its requests was sent, at the earliest: between two of them the script pauses."""
    paused = (polls - 2) * request["IntervalMs"] / 1000 + _LEAST_PAUSE if polls > 1 else 0.0
    return Moments(began, min(began + paused, came), came)


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


def _http(method: str, url: str, headers: dict[str, str], timeout: float, **more: Any) -> dict[str, Any]:
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
    return int(round(min(seconds, _LONGEST) * 1000))
