# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine as the controller asks it, by way of ansible.windows: to run look.ps1, and what its registry holds.

Private to this collection.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from ansible.errors import AnsibleConnectionFailure, AnsibleError

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._imds.discovery import Found, base_urls, decode_interface_options
from ...module_utils._text import one_line
from .connection_errors import known_problem

POWERSHELL = "ansible.windows.win_powershell"
REGISTRY = "ansible.windows.win_reg_stat"
SCRIPT = pathlib.Path(__file__).with_name("look.ps1")
INTERFACES = "HKLM:\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces"


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
            f"{self.name}: what {POWERSHELL} gave back can't be used: {problem}. See the output of the task under "
            "-vvv, and "
            "whether an older or newer version of the collection ansible.windows does better; please report it."
        )

    def _run(self, module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        try:
            result = self._execute(module, arguments)
        except AnsibleConnectionFailure:
            raise  # Ansible's own way to say that a host is unreachable
        except OSError as error:  # requests' errors, too: the connection psrp lets them through
            raise AnsibleConnectionFailure(f"{self.name}: the connection broke off: {one_line(error)}") from error
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
        why = f': "{said}"' if said else " and did not say why"
        raise WindowsProblem(f"{self.name}: {module} did not do its work{why}. {advice}")


# What a text of a module that did not run means: signs of it in lower case, and what to do.
_ADVICE = (
    (
        ("not found in configured module paths", "could not be found on the controller"),
        "The controller lacks the collection ansible.windows: ansible-galaxy collection install ansible.windows.",
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


def _texts(result: Mapping[str, Any]) -> list[str]:
    """What a module that did not do its work has said, the most telling first."""
    errors = result.get("error")
    texts: list[Any] = []
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, Mapping):
            texts += [error.get("output"), error.get("fully_qualified_error_id")]
    texts += [result.get("msg"), result.get("module_stderr"), result.get("module_stdout"), result.get("exception")]
    return [text for text in texts if isinstance(text, str)]
