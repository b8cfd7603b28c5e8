# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine that looks for the controller: the Transport over ansible.windows.win_powershell.

The machine runs look.ps1 and hands back what came; what it means is told here and above, in the code that a Linux
machine runs for itself.

Private to this collection.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Any

from ...module_utils._clock import Clock
from ...module_utils._errors import (
    AnswerTimeout,
    AnswerTooLarge,
    BrokenAnswer,
    TransportError,
    Unreachable,
)
from ...module_utils._imds.transport import LIMIT, Answer, Transport
from ...module_utils._text import one_line
from .machine import WindowsMachine, WindowsProblem

# No connection is known to cut a call short, but the machine does not notice when its controller is gone: it goes on
# looking until the call's own end, and its five requests a second are for all programs together. WinRM, for one, keeps
# a shell that nobody asks for two hours. An hour is half of that, and the longest wait that is one call.
LONGEST_CALL = 3600.0


class WindowsTransport(Transport):
    """HTTP by way of look.ps1: one start of PowerShell for each request, and one for each wait (of an hour at most).

    get_until_changed may therefore return an answer that is not another one before its limit has passed.
    """

    def __init__(self, machine: WindowsMachine, clock: Clock | None = None) -> None:
        super().__init__(clock)
        self._machine = machine

    def get(self, url: str, headers: dict[str, str], timeout: float) -> Answer:
        return self._look("GET", url, headers, timeout)[0]

    def post(self, url: str, headers: dict[str, str], body: bytes, timeout: float) -> Answer:
        try:
            return self._look("POST", url, headers, timeout, Body=_encoded(body))[0]
        except WindowsProblem as problem:
            problem.message += " Whether the approval was sent can't be told; to run this again does no harm."
            raise

    def get_until_changed(
        self, url: str, headers: dict[str, str], timeout: float, known: bytes, interval: float, limit: float
    ) -> tuple[Answer, int]:
        return self._look(
            "GET",
            url,
            headers,
            timeout,
            Known=_encoded(known),
            IntervalMs=_milliseconds(interval),
            LimitMs=_milliseconds(limit),
        )

    def _look(self, method: str, url: str, headers: dict[str, str], timeout: float, **more: Any) -> tuple[Answer, int]:
        answer = self._machine.look(
            dict(
                more, Method=method, Url=url, Headers=headers, MaxBytes=LIMIT, TimeoutMs=max(1, _milliseconds(timeout))
            )
        )
        looks = self._of_type(answer, "looks", int, "a number")
        if "failure" in answer:
            error = _translated(
                self._of_type(answer, "failure", str, "text"),
                self._of_type(answer, "message", str, "text"),
                answer.get("part"),
                url,
                timeout,
            )
            error.looks = looks
            raise error
        return Answer(
            self._of_type(answer, "status", int, "a number"), self._headers(answer), self._body(answer, url)
        ), looks

    def _headers(self, answer: Mapping[str, Any]) -> dict[str, str]:
        headers = self._of_type(answer, "headers", Mapping, "a dictionary")
        for name, value in headers.items():
            if not isinstance(value, str):
                self._machine.broken(f"the header {name} is not text but {value!r}")
        return {name.lower(): value for name, value in headers.items()}

    def _body(self, answer: Mapping[str, Any], url: str) -> bytes:
        text = self._of_type(answer, "body", str, "text")
        try:
            body = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError) as error:
            self._machine.broken(f"the body is not base64 ({error})")
        announced = self._headers(answer).get("content-length", "")
        if announced.isdigit() and len(body) < int(announced) and answer["status"] not in (204, 304):
            raise BrokenAnswer(
                f"The answer of {url} broke off after {len(body)} of {announced} bytes.",
                status=answer["status"],
                url=url,
            )
        return body

    def _of_type(self, answer: Mapping[str, Any], key: str, wanted: type, called: str) -> Any:
        if key not in answer:
            self._machine.broken(f"it has no {key}")
        value = answer[key]
        if not isinstance(value, wanted) or isinstance(value, bool):
            self._machine.broken(f"{key} is not {called} but {value!r}")
        return value


# What look.ps1 calls a failure: values of SocketErrorCode, HttpRequestError and WebExceptionStatus, and two of its own.
_TOO_SLOW = {"Timeout", "TimedOut"}
_NOT_HTTP = {
    "ServerProtocolViolation",
    "MessageLengthLimitExceeded",  # Windows PowerShell 5.1
    "InvalidResponse",
    "HttpProtocolError",
    "ConfigurationLimitExceeded",
}  # PowerShell 7.4
_ENDED = {"ConnectionClosed", "ReceiveFailure", "KeepAliveFailure", "ResponseEnded", "UnknownError", "Unknown"}


def _translated(failure: str, message: str, part: Any, url: str, timeout: float) -> TransportError:
    """A failure of look.ps1 as the error that the Transport over `requests` raises for the same fault."""
    if failure in _TOO_SLOW:
        return AnswerTimeout(f"{url} gave no whole answer within {timeout:g} s.", url=url)
    if failure == "TooLarge":
        return AnswerTooLarge("%s sent more than %d bytes: no document is that long." % (url, LIMIT), url=url)
    # PowerShell 7.2 has no word for it but in its message, which is in English everywhere.
    if failure in _NOT_HTTP or (failure in _ENDED and "invalid status line" in message.lower()):
        return BrokenAnswer(f"What {url} sent is not HTTP ({one_line(message).rstrip('. ')}).", url=url)
    if part == "body" and failure in _ENDED:
        return BrokenAnswer(f"The answer of {url} broke off ({one_line(message).rstrip('. ')}).", url=url)
    return Unreachable(f"No connection to {url}, or it was cut: {one_line(message).rstrip('. ')} ({failure}).", url=url)


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _milliseconds(seconds: float) -> int:
    return int(round(min(seconds, LONGEST_CALL) * 1000))
