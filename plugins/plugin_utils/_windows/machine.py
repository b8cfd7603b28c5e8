# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine as the controller asks it: to have look.ps1 carry out requests, which endpoints and services it has, what modules of
other collections list.

Private to this collection.
"""

from __future__ import annotations

import base64
import pathlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ...module_utils._clock import Clock
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._imds.discovery import base_urls, decode_interface_options
from ...module_utils._imds.endpoint import Found
from ...module_utils._text import one_line
from .channels import Broken
from .connection_errors import known_problem

POWERSHELL = "PowerShell"
"""What runs look.ps1, beside the modules of Ansible's."""

LATE = "late"  # the part of a failure of look.ps1, where the request came too late
TOO_LATE = "PowerShell got so far only when nobody waited for this call any more. Nothing was done"


Execute = Callable[[str, dict[str, Any]], Mapping[str, Any]]


class WindowsProblem(ScheduledEventsError):
    """The machine could not be made to look at all. A person must do something; asking again is no use."""

    default_kind = "invalid"


class WindowsMachine:
    """
    :arg name: the host, as the inventory calls it
    :arg execute: has look.ps1 carry out requests there (:data:`POWERSHELL`), or runs a module, with these arguments, and returns its result

    :attr window: between which moments of its own clock a request may change something (``FromMs`` and ``UntilMs``); 0: at any time
    :attr lost: what kept it from looking: it is not asked again
    :attr has_posted: whether it was made to send an approval
    """

    def __init__(self, name: str, execute: Execute, clock: Clock | None = None) -> None:
        self.name = name
        self.clock = clock or Clock()
        self.window = {"FromMs": 0, "UntilMs": 0}
        self.lost: Exception | None = None
        self.has_posted = False
        self._execute = execute

    def ask(self, *requests: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """What look.ps1 says to each of these requests; what they are made of is said there.

        Stop: whether what comes after it depends on its success
        Expect: what of its answer has to be so, or it has failed
        """
        if self.lost is not None:
            raise self.lost
        try:
            return self._answers(*requests)
        except Exception as error:
            self.give_up(error)

    def give_up(self, error: Exception) -> NoReturn:
        self.lost = error
        raise error

    def _answers(self, *requests: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        whole = [{"Stop": False, "Expect": {}, **request} for request in requests]
        result = self._run(POWERSHELL, {"parameters": {"Requests": whole}})
        found = result.get("result")
        if result.get("failed") or not isinstance(found, Mapping) or not found:
            self._refuse(POWERSHELL, _texts(result))
        if found.get("failure") == "PowerShell":
            self._refuse(POWERSHELL, [str(found.get("message", ""))])
        answers = found.get("answers")
        if not isinstance(answers, list) or not all(isinstance(answer, Mapping) for answer in answers):
            self.broken("it has no list of answers")
        if len(answers) != len(requests):
            self.broken(f"{len(requests)} requests got {len(answers)} answers")
        return answers

    def script(self, name: str, **parameters: str) -> Mapping[str, Any]:
        """What a script of this folder finds. A machine on which it fails is not lost."""
        text = pathlib.Path(__file__).with_name(name).read_text(encoding="ascii")
        (answer,) = self._answers({"Do": "script", "Text": text, "Parameters": parameters})
        if "failure" in answer:
            self._refuse(POWERSHELL, [str(answer.get("message"))])
        return answer.get("result") or {}

    def services(self, name: str) -> list[dict[str, Any]]:
        """Those of this name, as ansible.windows.win_service_info returns them, with no more than name, state and start mode."""
        return list(self.script("service.ps1", Name=name).get("services") or [])

    def all_of(self, module: str) -> Mapping[str, Any]:
        """What a module finds that lists everything of a kind."""
        result = self._run(module, {})
        if result.get("failed"):
            self._refuse(module, _texts(result))
        return result

    def broken(self, problem: str) -> NoReturn:
        """The script's answer can't be used."""
        raise WindowsProblem(
            f"{self.name}: what {POWERSHELL} gave back can't be used: {problem}. See the output of the task under -vvv; please report it."
        )

    def _run(self, module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        try:
            result = self._execute(module, arguments)
        except (AnsibleConnectionFailure, WindowsProblem):
            raise  # Ansible's own way to say that a host is unreachable, and ours
        except AnsibleError as error:
            self._refuse(module, [str(error)])
        except Broken as error:
            raise AnsibleConnectionFailure(f"{self.name}: {error}") from error
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
    try:
        found = machine.script("interfaces.ps1")
    except WindowsProblem as problem:
        return Found((), (problem.message,))
    addresses = [decode_interface_options(decoded(value)) for value in found.get("options") or ()]
    return Found(base_urls(addresses), tuple(one_line(problem, 300) for problem in found.get("problems") or ()))


def _texts(result: Mapping[str, Any]) -> list[str]:
    """What a module that did not do its work has said, the most telling first."""
    errors = result.get("error")
    texts: list[Any] = []
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, Mapping):
            texts += [error.get("output"), error.get("fully_qualified_error_id")]
    texts += [result.get("msg"), result.get("module_stderr"), result.get("module_stdout"), result.get("exception")]
    return [text for text in texts if isinstance(text, str)]


def encoded(data: bytes) -> str:
    """Bytes as look.ps1 takes them."""
    return base64.b64encode(data).decode("ascii")


def decoded(text: Any) -> bytes:
    """Bytes as look.ps1 hands them over; what can't be decoded is nothing that anybody understands."""
    try:
        return base64.b64decode(text, validate=True)
    except (TypeError, ValueError):
        return b""
