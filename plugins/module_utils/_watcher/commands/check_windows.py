# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a Windows machine: its version, the watcher's services with their accounts, and who may do what in their folders; and settings
that others make, and that the watcher depends on: whether its failover cluster drains by itself, which PowerShell scripts run, the proxy of
WinHTTP, and what sets the clock.

Private to this collection.

Windows' own programs answer in the machine's language: nothing is read of what they say but numbers and names.
"""

import importlib
import os
import platform
import re
import sys
from typing import Any, Callable, List, Optional, Sequence, Tuple

from ..._machine import trust
from ..._machine.windows import services as manager
from ..._machine.windows.access_list import HEALTH_SID, READ_FILE, REPORTS_SID, SEE, allowed
from ..._machine.windows.step_runners import POWERSHELL
from ..._machine.windows.trust import sddl_of
from ..._text import last_line, one_line
from ..health.machine_state import MARK
from ..host.host import Service
from ..host.this_host import HOST
from ..settings.options import Configuration
from .check_report import DEPLOY, FAIL, OK, WARN, Finding, Said
from .cli import CliContext

Ask = Callable[..., Said]
Read = Callable[[str, str], Optional[Any]]
"""Gives a value of the machine's registry, by its key and name; None where there is none."""
StateOf = Callable[[str], Optional[int]]
"""Gives the state of a service; None where there is none."""

_STATES = {manager.STOPPED: "stopped", manager.START_PENDING: "starting", manager.STOP_PENDING: "stopping"}
_POWERSHELL_WITHIN = 30.0  # seconds: on a busy machine its start takes some


def _asked(name: str, what: str, state_of: StateOf) -> Tuple[Optional[int], str, List[Finding]]:
    """The state of a service, also in words; and what there is to say where Windows does not tell it."""
    try:
        state = state_of(name)
    except OSError as error:
        words = f"Windows does not say how {name} is: {one_line(error.strerror or error)}"
        return None, "", [Finding(WARN, what, words, HOST.status(name))]
    return state, "not there" if state is None else _STATES.get(state, f"in state {state}"), []


CLUSTER = "ClusSvc"
_BEGINS = "azure-maintenance:"
_ASKS_CLUSTER = f"'{_BEGINS}' + [string](Get-Cluster).DetectManagedEvents"
_CLUSTER_SAYS = re.compile(rf"^{_BEGINS}(\d*)\s*$", re.MULTILINE)
_SHOWS = 'powershell "Get-Cluster | Format-List DetectManagedEvents*"'
_LEAVES = 'powershell "(Get-Cluster).DetectManagedEvents = 1"'
_LEAVES_EVENTS = ("", "0", "1")
_OWN_WAYS = {
    "2": "moves no role to a node with a scheduled event",
    "3": "pauses and drains a node with a scheduled event",
    "4": "pauses and drains a node with a scheduled event, and moves its roles back",
}
"""What a cluster does by itself about scheduled events, by the number of its property. 0 is nothing, 1 (what a cluster in Azure is made with)
writes them to its log, and an older Windows has no such property. Source: Microsoft, "Failover Clustering in Azure" (2021)."""


def cluster(ask: Ask, has_step: bool, state_of: StateOf = manager.state_of) -> List[Finding]:
    """Whether the machine's failover cluster acts on scheduled events, too: two that drain and resume one node.

    :arg has_step: whether the watcher has a step of type failover_cluster
    """
    state, how, found = _asked(CLUSTER, "cluster", state_of)
    if found or state is None:
        return found
    if state != manager.RUNNING:
        words = f"{CLUSTER}, the failover cluster's service, is {how}: whether it drains nodes by itself is not known"
        return [Finding(WARN, "cluster", words, f"{HOST.start(CLUSTER)}, then run this again")]
    said = ask([*POWERSHELL, _ASKS_CLUSTER], _POWERSHELL_WITHIN)
    match = _CLUSTER_SAYS.search(said.text)
    if not match:
        return [Finding(WARN, "cluster", _no_answer("the failover cluster", said), f"see what it says: {_SHOWS}")]
    number = match.group(1)
    if number in _LEAVES_EVENTS:
        words = f"it leaves scheduled events to the watcher (DetectManagedEvents is {number or 'not there'})"
        return [Finding(OK, "cluster", words)]
    does = _OWN_WAYS.get(number, "may drain nodes in a way that this version does not know")
    words = f"the cluster itself {does} (DetectManagedEvents is {number}), beside the watcher"
    are_two = has_step and number in ("3", "4")
    if are_two:
        words += " and its step failover_cluster: each may resume a node that the other has paused"
    advice = f"let one of them do it; to leave it to the watcher: {_LEAVES}"
    return [Finding(FAIL if are_two else WARN, "cluster", words, advice)]


def _no_answer(who: str, said: Said) -> str:
    if said.code == -1:
        return f"{who} could not be asked: its program is not there, or did not answer in time"
    words = one_line(last_line(said.text, 200)) or "nothing"
    return f"{who} could not be asked (exit code {said.code}): {words}"


POLICY = r"SOFTWARE\Policies\Microsoft\Windows\PowerShell"
_LETS_RUN = ("remotesigned", "unrestricted", "bypass")


def scripts(files: Sequence[str], read: Read) -> List[Finding]:
    """Whether a policy keeps hooks in PowerShell from being run: one of the domain wins over what the watcher asks for.

    :arg files: hooks, and whatever else there is
    """
    policy, enabled = read(POLICY, "ExecutionPolicy"), read(POLICY, "EnableScripts")
    if not any(path.lower().endswith(".ps1") for path in files) or policy is enabled is None:
        return []
    name = "Restricted" if enabled == 0 else one_line(policy or "") or "none named"
    if name.lower() in _LETS_RUN:
        return [Finding(OK, "policy", f"the policy {name} lets hooks in PowerShell run")]
    words = f"a policy says which PowerShell scripts run ({name}), and hooks are such"
    advice = (
        "write them as .cmd or .exe, sign them (AllSigned), or change the policy: powershell Get-ExecutionPolicy -List"
    )
    return [Finding(FAIL if name.lower() == "restricted" else WARN, "policy", words, advice)]


CONNECTIONS = r"SOFTWARE\Microsoft\Windows\CurrentVersion\Internet Settings\Connections"
_NAMED, _FLAGS, _TEXTS = 2, 8, 12
METADATA = "169.254.169.254"


def proxy(read: Read) -> List[Finding]:
    """The proxy that Windows' own programs go by, and with them agents and hooks. The watcher uses none.

    The registry's value has a version, a count and flags, then the proxy and its bypass list as texts.
    """
    blob = read(CONNECTIONS, "WinHttpSettings")
    has_proxy = blob is not None and (
        not isinstance(blob, bytes) or bool(blob[_FLAGS : _FLAGS + 1] and blob[_FLAGS] & _NAMED)
    )
    if not has_proxy:
        return [Finding(OK, "proxy", "WinHTTP has no proxy")]
    words = "WinHTTP has a proxy; the watcher uses none"
    if isinstance(blob, bytes) and re.search(rb"169\.254\.(\*|169\.(\*|254))", blob[_TEXTS:]):
        return [Finding(OK, "proxy", words)]
    words += f", but hooks and agents that go by it ask {METADATA} through it, which Azure refuses"
    advice = f"see it: netsh winhttp show proxy; set it again with {METADATA} and 168.63.129.16 in its bypass-list"
    return [Finding(WARN, "proxy", words, advice)]


CLOCK = "w32time"
_CLOCK_KEY = r"SYSTEM\CurrentControlSet\Services\W32Time\Parameters"
_BY_ITSELF = ("local cmos clock", "free-running system clock")


def clock(ask: Ask, read: Read, state_of: StateOf = manager.state_of) -> List[Finding]:
    """Whether something sets the machine's clock. How far it is from Azure's, the metadata service's answer says."""
    otherwise = "or see that another program sets it"
    state, how, found = _asked(CLOCK, "time", state_of)
    if found:
        return found
    if state != manager.RUNNING:
        advice = f"{HOST.enable(CLOCK)}, then {HOST.start(CLOCK)}; {otherwise}"
        return [Finding(WARN, "time", f"{CLOCK}, which sets the clock, is {how}", advice)]
    if str(read(_CLOCK_KEY, "Type")).lower() == "nosync":
        words = f"{CLOCK} runs, and its settings have it set nothing (NoSync)"
        return [Finding(WARN, "time", words, f"w32tm /config /syncfromflags:manual /update, {otherwise}")]
    said = ask(["w32tm.exe", "/query", "/source"])
    source = one_line(last_line(said.text, 100))
    if said.code != 0 or not source:
        return [Finding(WARN, "time", _no_answer(CLOCK, said), HOST.clock_advice)]
    if source.lower() in _BY_ITSELF:
        return [Finding(WARN, "time", f"nothing sets the clock: {CLOCK} has no source ({source})", HOST.clock_advice)]
    return [Finding(OK, "time", f"{CLOCK} sets the clock by {source}")]


# ---- and what the watcher itself has there ----

_KEY = r"SYSTEM\CurrentControlSet\Services"
_AUTOMATIC = 2
ListOf = Callable[[str], str]
"""Gives owner and access list of a file or folder."""


def registered(key: str, name: str) -> Optional[Any]:
    """A value of the machine's registry; None where there is none."""
    registry = vars(importlib.import_module("winreg"))
    try:
        with registry["OpenKey"](registry["HKEY_LOCAL_MACHINE"], key) as found:
            return registry["QueryValueEx"](found, name)[0]
    except OSError:
        return None


def versions(here: CliContext, ask: Any) -> List[Finding]:
    words = (
        f"watcher {here.version}, Python {platform.python_version()} ({sys.executable}), Windows {platform.version()}"
    )
    return [Finding(OK, "versions", words)]


def services(
    ask: Any,
    needs_reports: bool,
    needs_health: bool = False,
    state_of: StateOf = manager.state_of,
    read: Read = registered,
) -> List[Finding]:
    wanted = (
        (HOST.watcher, "watcher", HOST.log_end(), True),
        (HOST.reports, "reports", HOST.others_log(HOST.reports.name), needs_reports),
        (HOST.health, "health", HOST.others_log(HOST.health.name), needs_health),
    )
    return [
        finding
        for service, what, log, is_needed in wanted
        if is_needed
        for finding in _service(service, what, log, state_of, read)
    ]


def _service(service: Service, what: str, log: str, state_of: StateOf, read: Read) -> List[Finding]:
    name, key = service.name, rf"{_KEY}\{service.name}"
    state, how, found = _asked(name, what, state_of)
    if found:
        return found
    if state is None:
        return [Finding(FAIL, what, f"there is no service {name}", DEPLOY)]
    account = one_line(read(key, "ObjectName") or "LocalSystem")
    wrong = (
        (state != manager.RUNNING, FAIL, f"{name} is {how}", f"{HOST.start(name)}; why it ended: {log}"),
        (
            read(key, "Start") != _AUTOMATIC,
            FAIL,
            f"{name} does not start with the machine: it does not come back after a reboot",
            HOST.enable(name),
        ),
        (
            read(key, "FailureActions") is None,
            WARN,
            f"Windows does not start {name} again after a crash",
            f"sc.exe failure {name} reset= 86400 actions= restart/5000/restart/30000/restart/60000",
        ),
        (
            account.lower() != service.account.lower(),
            FAIL,
            f"{name} runs as {account}, and should as {service.account}",
            f'sc.exe config {name} obj= "{service.account}", then {HOST.restart(name)}',
        ),
    )
    found = [Finding(kind, what, words, advice) for is_so, kind, words, advice in wrong if is_so]
    return found or [Finding(OK, what, f"{name} runs as {service.account}, and comes back after a reboot")]


def state_folder(folder: str) -> List[Finding]:
    why = trust.folder_objection(folder)
    return [Finding(FAIL, "state", why, HOST.close_folder(folder))] if why else []


def health_account(folder: str, list_of: ListOf = sddl_of) -> List[Finding]:
    """Whether the health endpoint's account sees the mark, and can't read it.

    :arg folder: of the mark
    """
    rights: Optional[int] = None
    for path, for_files in ((os.path.join(folder, MARK), False), (folder, True)):
        try:
            rights = allowed(list_of(path), HEALTH_SID, for_files=for_files)
            break
        except FileNotFoundError:
            continue
        except OSError as error:
            return [_not_seen(path, error)]
    if rights is None:
        return []
    account = HOST.health.account
    if not rights & SEE:
        words = f"{account} can't see whether there is a mark in {folder}, and always answers that the machine is in service"
        return [Finding(FAIL, "health", words, _let_in())]
    if rights & READ_FILE:
        words = f"{account} can read the mark in {folder}; it needs no more than to see that it is there"
        return [Finding(WARN, "health", words, HOST.look(folder))]
    return [Finding(OK, "health", f"{account} sees whether there is a mark in {folder}, and can't read it")]


def sender_account(settings: str, configuration: Configuration, list_of: ListOf = sddl_of) -> List[Finding]:
    """Whether the sender's account can read what it needs: the settings, and the secrets that they name."""
    found = []
    for path in [settings, *(one.secret_file for one in configuration.reports if one.secret_file)]:
        try:
            if not allowed(list_of(path), REPORTS_SID) & READ_FILE:
                words = f"{HOST.reports.account} can't read {path}: no report is sent"
                found.append(Finding(FAIL, "reports", words, _let_in()))
        except FileNotFoundError:  # another line says that
            continue
        except OSError as error:
            found.append(_not_seen(path, error))
    return found


def _let_in() -> str:
    return f"{HOST.restart()}; when it starts, the watcher lets the accounts of the other services do what they need"


def _not_seen(path: str, error: OSError) -> Finding:
    words = f"who may do what with {path} can't be seen: {one_line(error.strerror or error)}"
    return Finding(WARN, "rights", words, HOST.look(path))


def machine(ask: Ask, configuration: Configuration, read: Read = registered) -> List[Finding]:
    """What others have set."""
    has_step = any(step["type"] == "failover_cluster" for step in configuration.steps)
    return [*cluster(ask, has_step), *clock(ask, read), *proxy(read)]


def check_guards(ask: Any, files: Sequence[str], read: Read = registered) -> List[Finding]:
    """Whether a policy keeps hooks in PowerShell from being run."""
    return scripts(files, read)
