# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a Windows machine: its version, the services with their accounts, and who may do what in their folders.

Private to this collection.
"""

import importlib
import os
import platform
import sys
from typing import Any, Callable, Dict, List, Optional, Sequence

from ..._machine import trust
from ..._machine.windows import services as manager
from ..._machine.windows.access_list import HEALTH_SID, READ_FILE, REPORTS_SID, SEE, allowed
from ..._machine.windows.trust import sddl_of
from ..._text import one_line
from ..health.state_files import MARK
from ..host.host import Service
from ..host.this_host import HOST
from ..settings.options import Configuration
from .check_report import FAIL, OK, WARN, Finding
from .check_windows_machine import Ask, Read, StateOf, clock, cluster, proxy, scripts, state_words
from .cli import CliContext

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


def environment(ask: Any) -> Dict[str, str]:
    """What the service is given beside the machine's own variables: nothing."""
    return {}


def services(
    ask: Any,
    needs_reports: bool,
    needs_health: bool = False,
    state_of: StateOf = manager.state_of,
    read: Read = registered,
) -> List[Finding]:
    found = _service(HOST.watcher, "watcher", HOST.log_end(), state_of, read)
    for service, what, is_needed in ((HOST.reports, "reports", needs_reports), (HOST.health, "health", needs_health)):
        if is_needed:
            found += _service(service, what, HOST.others_log(service.name), state_of, read)
    return found


def _service(service: Service, what: str, log: str, state_of: StateOf, read: Read) -> List[Finding]:
    name, key = service.name, rf"{_KEY}\{service.name}"
    try:
        state = state_of(name)
    except OSError as error:
        words = f"Windows does not say how {name} is: {one_line(error.strerror or error)}"
        return [Finding(WARN, what, words, HOST.status(name))]
    if state is None:
        return [Finding(FAIL, what, f"there is no service {name}", "run role watcher for this machine")]
    found = []
    if state != manager.RUNNING:
        words = f"{name} is {state_words(state)}"
        found.append(Finding(FAIL, what, words, f"{HOST.start(name)}; why it ended: {log}"))
    if read(key, "Start") != _AUTOMATIC:
        words = f"{name} does not start with the machine: it does not come back after a reboot"
        found.append(Finding(FAIL, what, words, HOST.enable(name)))
    if read(key, "FailureActions") is None:
        words = f"Windows does not start {name} again after a crash"
        advice = f"sc.exe failure {name} reset= 86400 actions= restart/5000/restart/30000/restart/60000"
        found.append(Finding(WARN, what, words, advice))
    account = one_line(read(key, "ObjectName") or "LocalSystem")
    if account.lower() != service.account.lower():
        words = f"{name} runs as {account}, and should as {service.account}"
        advice = f'sc.exe config {name} obj= "{service.account}", then {HOST.restart(name)}'
        found.append(Finding(FAIL, what, words, advice))
    return found or [Finding(OK, what, f"{name} runs as {service.account}, and comes back after a reboot")]


def state_folder(folder: str) -> List[Finding]:
    why = trust.folder_objection(folder)
    return [Finding(FAIL, "state", why, HOST.close_folder(folder))] if why else []


def health_account(folder: str, list_of: ListOf = sddl_of) -> List[Finding]:
    """Whether the health endpoint's account sees the mark, and can't read it.

    :arg folder: of the mark
    """
    mark = os.path.join(folder, MARK)
    try:
        rights = allowed(list_of(mark), HEALTH_SID)
    except FileNotFoundError:
        try:
            rights = allowed(list_of(folder), HEALTH_SID, for_files=True)
        except FileNotFoundError:
            return []
        except OSError as error:
            return [_not_seen(folder, error)]
    except OSError as error:
        return [_not_seen(mark, error)]
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
    files = [settings, *(one.secret_file for one in configuration.reports if one.secret_file)]
    found = []
    for path in files:
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
