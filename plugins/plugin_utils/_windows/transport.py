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
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ...module_utils._clock import Clock
from ...module_utils._errors import (
    AnswerTimeout,
    AnswerTooLarge,
    BrokenAnswer,
    ScheduledEventsError,
    TransportError,
    Unreachable,
)
from ...module_utils._imds.discovery import Found, base_urls, decode_interface_options
from ...module_utils._imds.requests_transport import LIMIT, Answer, Transport
from ...module_utils._text import one_line
from .connection_errors import known_problem

POWERSHELL = "ansible.windows.win_powershell"
REGISTRY = "ansible.windows.win_reg_stat"
SCRIPT = pathlib.Path(__file__).with_name("look.ps1")
INTERFACES = "HKLM:\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces"

# No connection is known to cut a call short, but the machine does not notice when its controller is gone: it goes on
# looking until the call's own end, and its five requests a second are for all programs together. WinRM, for one, keeps
# a shell that nobody asks for two hours. An hour is half of that, and the longest wait that is one call.
LONGEST_CALL = 3600.0

Execute = Callable[[str, dict[str, Any]], Mapping[str, Any]]


class WindowsProblem(ScheduledEventsError):
    """The machine could not be made to look at all. A person must do something; asking again is no use."""

    default_kind = "invalid"


class WindowsMachine:
    """What is asked of the machine itself: to run the script, and to read its registry.

    :arg name: the host, as the inventory calls it
    :arg execute: runs a module with these arguments there, and returns its result
    """

    def __init__(self, name: str, execute: Execute) -> None:
        self.name = name
        self._execute = execute
        self._script = SCRIPT.read_text(encoding="ascii")

    def look(self, parameters: dict[str, Any]) -> Mapping[str, Any]:
        """Run look.ps1; its answer is what it is, see :class:`WindowsTransport`."""
        result = self._run(
            POWERSHELL, {"script": self._script, "parameters": parameters, "depth": 3, "error_action": "stop"}
        )
        answer = result.get("result")
        if result.get("failed") or result.get("error") or not isinstance(answer, Mapping) or not answer:
            self._refuse(POWERSHELL, _texts(result))
        if answer.get("failure") == "PowerShell":
            self._refuse(POWERSHELL, [str(answer.get("message", ""))])
        return answer

    def registry(self, path: str, name: str | None = None) -> Mapping[str, Any]:
        """A key of the registry, or one of its values."""
        result = self._run(REGISTRY, {"path": path} if name is None else {"path": path, "name": name})
        if result.get("failed") or "exists" not in result:
            self._refuse(REGISTRY, _texts(result))
        return result

    def broken(self, problem: str) -> NoReturn:
        """The script's answer can't be used."""
        raise WindowsProblem(
            f"{self.name}: what {POWERSHELL} gave back can't be used: {problem}. See the output of the task under -vvv, and whether an older or newer version of the collection ansible.windows does better; please report it."
        )

    def _run(self, module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        try:
            result = self._execute(module, arguments)
        except AnsibleConnectionFailure:
            raise  # Ansible's own way to say that a host is unreachable
        except OSError as error:  # requests' errors, too: the connection psrp lets them through
            raise AnsibleConnectionFailure(f"{self.name}: the connection broke off: {error}") from error
        except AnsibleError as error:
            self._refuse(module, [str(error)])
        if not isinstance(result, Mapping):
            self.broken(f"a {type(result).__name__} instead of a result")
        return result

    def _refuse(self, module: str, texts: list[str]) -> NoReturn:
        """Say what a person must do about a module that did not do its work."""
        everything = " ".join(texts).lower()
        advice = next((advice for signs, advice in _ADVICE if any(sign in everything for sign in signs)), None)
        advice = advice or known_problem(everything) or _NO_ADVICE
        said = next((one_line(text).rstrip(". ") for text in texts if text.strip()), "")
        raise WindowsProblem(
            "%s: %s did not do its work%s. %s"
            % (self.name, module, ': "%s"' % said if said else " and did not say why", advice)
        )


# What a text of a module that did not run means: signs of it in lower case, and what to do.
_ADVICE = (
    (
        ("not found in configured module paths", "could not be found on the controller"),
        "The controller lacks the collection ansible.windows: ansible-galaxy collection install ansible.windows.",
    ),
    (
        ("constrainedlanguage", "language mode", "restrictedlanguage", "nolanguage"),
        "PowerShell's language mode is restricted on this connection, by Windows' application control (WDAC, AppLocker) or "
        "by the endpoint it connects to (JEA). Connect to an ordinary endpoint with a user that the policy leaves in "
        "FullLanguage mode, or let the policy trust Ansible there.",
    ),
    (
        ("powershell 3", "powershell 4", "powershell 5.0", "minimum powershell version", "method named 'new'"),
        "PowerShell 5.1 or newer is needed: install Windows Management Framework 5.1 or PowerShell 7.",
    ),
    (
        ("execution policy", "execution of scripts is disabled", "running scripts is disabled"),
        "A policy of the machine keeps PowerShell from running scripts: see Get-ExecutionPolicy -List there.",
    ),
)
_NO_ADVICE = "See whether ansible.windows.win_ping works on this host, and the output of this task under -vvv."


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


def find_endpoints(machine: WindowsMachine) -> Found:
    """Endpoints by what the DHCP client of Windows keeps of each network interface."""
    addresses: list[str | None] = []
    skipped: list[str] = []
    try:
        interfaces = machine.registry(INTERFACES).get("sub_keys") or ()
    except WindowsProblem as problem:
        return Found((), (problem.message,))
    for interface in interfaces:
        path = f"{INTERFACES}\\{interface}"
        try:
            value = machine.registry(path, "DhcpInterfaceOptions")
            if value["exists"]:
                addresses.append(decode_interface_options(bytes(int(byte, 16) for byte in value["raw_value"])))
        except WindowsProblem as problem:
            skipped.append(problem.message)
        except (KeyError, TypeError, ValueError):
            skipped.append(f"{interface}: DhcpInterfaceOptions is not binary")
    return Found(base_urls(addresses), tuple(skipped))


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


def _texts(result: Mapping[str, Any]) -> list[str]:
    """What a module that did not do its work has said, the most telling first."""
    errors = result.get("error")
    texts: list[Any] = []
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, Mapping):
            texts += [error.get("output"), error.get("fully_qualified_error_id")]
    texts += [result.get("msg"), result.get("module_stderr"), result.get("module_stdout"), result.get("exception")]
    return [text for text in texts if isinstance(text, str)]


def _encoded(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def _milliseconds(seconds: float) -> int:
    return int(round(min(seconds, LONGEST_CALL) * 1000))
