# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine as the controller asks it, by way of ansible.windows: to run look.ps1, what its registry holds, which
services it has, what modules of other collections list, and so what it lacks for its steps.

Each start of PowerShell takes seconds. So what is to be asked is collected, and goes in one call as soon as one of the
answers is needed.

Private to this collection.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ...module_utils._clock import Clock, Deadline
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._imds.discovery import Found, base_urls, decode_interface_options
from ...module_utils._steps.step_type import Step, StepError
from ...module_utils._steps.types import type_of
from ...module_utils._text import one_line
from .connection_errors import known_problem

POWERSHELL = "ansible.windows.win_powershell"
REGISTRY = "ansible.windows.win_reg_stat"
SERVICE = "ansible.windows.win_service_info"
SKIPPED = "Skipped"  # what look.ps1 calls the failure of a request that it did not carry out
LATE = "late"  # the part of it, where it came too late
TOO_LATE = (
    "PowerShell was started there, or got so far, only when nobody waited for this call any more. Nothing was done"
)
INTERFACES = "HKLM:\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces"


Execute = Callable[[str, dict[str, Any]], Mapping[str, Any]]


class WindowsProblem(ScheduledEventsError):
    """The machine could not be made to look at all. A person must do something; asking again is no use."""

    default_kind = "invalid"


class Asked:
    """A request that goes along with the next call."""

    def __init__(self, machine: WindowsMachine, request: Mapping[str, Any]) -> None:
        self.request = request
        self.said: Mapping[str, Any] | None = None
        self.lost: Exception | None = None  # what ended the call that it went along with
        self.received = 0.0  # when it was carried out, at the latest
        self.is_assumed = False  # whether `said` is from an earlier call, and this one has not made sure of it yet
        self.began = self.came = (
            0.0  # between these moments it was carried out there, by our clock: the way takes its time, too
        )
        self._machine = machine

    def answer(self) -> Mapping[str, Any]:
        """What look.ps1 says to it; the call is made if it was not yet."""
        if self.said is None and self.lost is None:
            self._machine.call()
        if self.lost is not None:
            raise self.lost
        return self.said or {}

    def assume(self, said: Mapping[str, Any], age: float, of_it: Iterable[str]) -> None:
        """Take it for answered as it was so many seconds ago. The next call changes nothing unless that still holds.

        :arg of_it: the keys of the answer that have to be the same
        """
        self.said, self.is_assumed = said, True
        self.received = self.began = self.came = self._machine.clock.now() - age
        self.request = dict(self.request, Stop=True, Expect={key: said[key] for key in of_it})

    def believe(self, said: Mapping[str, Any]) -> None:
        """Take it for answered, as far as that goes: it does not go along with any call."""
        self.said, self.is_assumed = said, True
        self.received = self.began = self.came = self._machine.clock.now()

    @property
    def comes_first(self) -> bool:
        """Whether it is something on which others depend, or that changes something. It does not depend on what is only looked at."""
        request = self.request
        return bool(request["Expect"]) or request["Do"] == "edit" or request.get("Method") == "POST"


class Outdated(Exception):
    """What was assumed of the machine does not hold any more. Nothing was done."""


class WindowsMachine:
    """What is asked of the machine itself: to carry out requests, to read its registry, which services it has.

    :arg name: the host, as the inventory calls it
    :arg execute: runs a module with these arguments there, and returns its result

    start: seconds that the last start of PowerShell took, with what it was asked, but for waits
    """

    def __init__(self, name: str, execute: Execute, clock: Clock | None = None) -> None:
        self.name = name
        self.start = 0.0
        self.clock = clock or Clock()
        self._execute = execute
        self._waiting: list[Asked] = []
        self.window = {
            "FromMs": 0,
            "UntilMs": 0,
        }  # by the machine's own clock, when a request may change something; 0: at any time

    def later(self, **request: Any) -> Asked:
        """Have this carried out by the next call, after what waits already; what it is made of is said in look.ps1.

        Stop: whether what comes after it in the same call depends on its success
        Expect: what of its answer has to be so, or it has failed
        """
        asked = Asked(self, dict({"Stop": False, "Expect": {}}, **request))
        self._waiting.append(asked)
        return asked

    def call(self) -> None:
        """Run look.ps1 with everything that waits."""
        waiting, self._waiting = sorted(self._waiting, key=lambda asked: not asked.comes_first), []
        began = self.clock.now()
        try:
            answers, elapsed = self._look([asked.request for asked in waiting])
        except Exception as error:
            for asked in waiting:
                asked.lost = error
            raise
        now = self.clock.now()
        self.start = now - began - _waited(waiting, answers)
        if any(asked.is_assumed and "failure" in said for asked, said in zip(waiting, answers, strict=True)):
            raise Outdated
        before = 0
        for asked, said in zip(waiting, answers, strict=True):
            after = min(_elapsed(said, elapsed), elapsed)
            asked.said, asked.is_assumed = said, False
            asked.began = began + before / 1000
            asked.received = asked.came = max(asked.began, now - (elapsed - after) / 1000)
            before = after

    @property
    def assumes(self) -> bool:
        """Whether anything that waits is something of which the next call has to make sure."""
        return any(asked.is_assumed for asked in self._waiting)

    def age(self, asked: Asked) -> float:
        """How many seconds ago it was carried out, at least."""
        return self.clock.now() - asked.received

    def _look(self, requests: list[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], int]:
        """What look.ps1 says to each of the requests, and how many milliseconds all of them took."""
        result = self._run(
            POWERSHELL,
            {"parameters": {"Requests": requests}},
        )
        found = result.get("result")
        if result.get("failed") or result.get("error") or not isinstance(found, Mapping) or not found:
            self._refuse(POWERSHELL, _texts(result))
        if found.get("failure") == "PowerShell":
            self._refuse(POWERSHELL, [str(found.get("message", ""))])
        answers = found.get("answers")
        if not isinstance(answers, list) or not all(isinstance(answer, Mapping) for answer in answers):
            self.broken("it has no list of answers")
        if len(answers) != len(requests):
            self.broken(f"{len(requests)} requests got {len(answers)} answers")
        return answers, _elapsed(found, 0)

    def registry(self, path: str, name: str | None = None) -> Mapping[str, Any]:
        """A key of the registry, or one of its values."""
        result = self._run(REGISTRY, {"path": path} if name is None else {"path": path, "name": name})
        if result.get("failed") or "exists" not in result:
            self._refuse(REGISTRY, _texts(result))
        return result

    def has_service(self, name: str) -> bool:
        result = self._run(SERVICE, {"name": name})
        if result.get("failed") or "exists" not in result:
            self._refuse(SERVICE, _texts(result))
        return bool(result["exists"])

    def all_of(self, module: str) -> Mapping[str, Any]:
        """What a module finds that lists everything of a kind."""
        result = self._run(module, {})
        if result.get("failed"):
            self._refuse(module, _texts(result))
        return result

    def broken(self, problem: str) -> NoReturn:
        """The script's answer can't be used."""
        raise WindowsProblem(
            f"{self.name}: what {POWERSHELL} gave back can't be used: {problem}. See the output of the task under "
            "-vvv, and "
            "whether an older or newer version of the collection ansible.windows does better; please report it."
        )

    def _run(self, module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        try:
            result = self._execute(module, arguments)
        except AnsibleConnectionFailure:
            raise  # Ansible's own way to say that a host is unreachable
        except AnsibleError as error:
            self._refuse(module, [str(error)])
        except Exception as error:  # winrm and psrp let those of requests, pywinrm and pypsrp through
            said = f"{type(error).__name__}: {one_line(error)}"
            raise AnsibleConnectionFailure(f"{self.name}: the connection broke off: {said}") from error
        if not isinstance(result, Mapping):
            self.broken(f"a {type(result).__name__} instead of a result")
        return result

    def _refuse(self, module: str, texts: list[str]) -> NoReturn:
        """Say what a person must do about a module that did not do its work."""
        everything = " ".join(texts).lower()
        advice = next((advice for signs, advice in _ADVICE if any(sign in everything for sign in signs)), None)
        advice = advice or known_problem(everything) or _NO_ADVICE
        collection = module.rpartition(".")[0]
        said = next((one_line(text).rstrip(". ") for text in texts if text.strip()), "")
        why = f': "{said}"' if said else " and did not say why"
        raise WindowsProblem(f"{self.name}: {module} did not do its work{why}. {advice.format(collection=collection)}")


# What a text of a module that did not run means: signs of it in lower case, and what to do.
_ADVICE = (
    (
        ("not found in configured module paths", "could not be found on the controller"),
        "The controller lacks the collection {collection}: ansible-galaxy collection install {collection}.",
    ),
    (
        ("constrainedlanguage", "language mode", "restrictedlanguage", "nolanguage"),
        "PowerShell's language mode is restricted on this connection, by Windows' application control (WDAC, "
        "AppLocker) or "
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
            skipped.append(f"{one_line(interface)}: DhcpInterfaceOptions is not binary")
    return Found(base_urls(addresses), tuple(skipped))


def _waited(waiting: Iterable[Asked], answers: Iterable[Mapping[str, Any]]) -> float:
    """Seconds that the script waited for another document: how long a start takes does not depend on that."""
    before, waited = 0, 0
    for asked, said in zip(waiting, answers, strict=True):
        after = max(before, _elapsed(said, before))
        if asked.request.get("LimitMs"):
            waited += after - before
        before = after
    return waited / 1000


def _elapsed(said: Mapping[str, Any], otherwise: int) -> int:
    """Milliseconds from the script's beginning."""
    found = said.get("elapsed_ms")
    return found if isinstance(found, int) else otherwise


def _texts(result: Mapping[str, Any]) -> list[str]:
    """What a module that did not do its work has said, the most telling first."""
    errors = result.get("error")
    texts: list[Any] = []
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, Mapping):
            texts += [error.get("output"), error.get("fully_qualified_error_id")]
    texts += [result.get("msg"), result.get("module_stderr"), result.get("module_stdout"), result.get("exception")]
    return [text for text in texts if isinstance(text, str)]


IIS = ("microsoft.iis.website_info", "microsoft.iis.web_app_pool_info")
"""The modules by which a step's initial state is read."""

NO_TIME = "no time was left to check it"


class _Looks:
    """Looks at steps. What IIS has is asked for once, for all steps."""

    def __init__(self, machine: WindowsMachine) -> None:
        self._machine = machine
        self._iis: Mapping[str, Any] = {}

    def service(self, step: Step) -> str:
        return "" if self._machine.has_service(step["service"]) else f"this machine has no service {step['service']}"

    def iis(self, step: Step) -> str:
        self._iis = self._iis or {key: found for module in IIS for key, found in self._machine.all_of(module).items()}
        try:
            type_of(step["type"]).initial_state(step, self._iis)
        except StepError as error:
            return str(error)
        return ""


def lacking(machine: WindowsMachine, steps: Iterable[Step], until: Deadline) -> dict[str, str]:
    """Why steps could not be done, by their keys.

    :arg until: when nothing further is asked about: each question takes a start of PowerShell
    """
    looks = _Looks(machine)
    by_type: dict[str, Callable[[Step], str]] = {"service": looks.service, "iis": looks.iis}
    lacks: dict[str, str] = {}
    for step in steps:
        if step["type"] not in by_type:
            continue
        try:
            why = NO_TIME if until.passed() else by_type[step["type"]](step)
        except (WindowsProblem, AnsibleConnectionFailure) as problem:
            why = f"it could not be checked: {one_line(problem, 300)}"
        if why:
            lacks[step["key"]] = why
    return lacks


def encoded(data: bytes) -> str:
    """Bytes as look.ps1 takes them."""
    return base64.b64encode(data).decode("ascii")


def decoded(text: Any) -> bytes:
    """Bytes as look.ps1 hands them over; what can't be decoded is nothing that anybody understands."""
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        return b""
