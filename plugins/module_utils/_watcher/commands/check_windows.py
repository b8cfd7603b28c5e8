# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks of a Windows machine: its version, the service, who may write the state, and whether a policy forbids scripts.

Private to this collection.
"""

import importlib
import platform
import sys
from typing import Any, Dict, List, Optional, Sequence

from ..._machine import trust
from ..._machine.windows import services as manager
from ..._text import one_line
from ..host.this_host import HOST
from .check_report import FAIL, OK, WARN, Finding
from .cli import CliContext

SERVICE = "azure-maintenance"
_KEY = rf"SYSTEM\CurrentControlSet\Services\{SERVICE}"
_POLICY = r"SOFTWARE\Policies\Microsoft\Windows\PowerShell"
_AUTOMATIC = 2
_STATES = {manager.STOPPED: "stopped", manager.START_PENDING: "starting", manager.STOP_PENDING: "stopping"}


def versions(here: CliContext, ask: Any) -> List[Finding]:
    words = (
        f"watcher {here.version}, Python {platform.python_version()} ({sys.executable}), Windows {platform.version()}"
    )
    return [Finding(OK, "versions", words)]


def environment(ask: Any) -> Dict[str, str]:
    """What the service is given beside the machine's own variables: nothing."""
    return {}


def services(ask: Any, needs_reports: bool) -> List[Finding]:
    try:
        state = manager.state_of(SERVICE)
    except OSError as error:
        words = f"Windows does not say how {SERVICE} is: {one_line(error.strerror or error)}"
        return [Finding(WARN, "watcher", words, HOST.status())]
    if state is None:
        return [Finding(FAIL, "watcher", f"there is no service {SERVICE}", "create it, as the guide says")]
    found = []
    if state != manager.RUNNING:
        words = f"{SERVICE} is {_STATES.get(state, f'in state {state}')}"
        found.append(Finding(FAIL, "watcher", words, f"{HOST.start()}; why it ended: {HOST.log_end()}"))
    if _registered(_KEY, "Start") != _AUTOMATIC:
        words = f"{SERVICE} does not start with the machine: it does not come back after a reboot"
        found.append(Finding(FAIL, "watcher", words, HOST.enable()))
    if _registered(_KEY, "FailureActions") is None:
        words = f"Windows does not start {SERVICE} again after a crash"
        advice = f"sc.exe failure {SERVICE} reset= 86400 actions= restart/5000/restart/30000/restart/60000"
        found.append(Finding(WARN, "watcher", words, advice))
    return found or [Finding(OK, "watcher", f"{SERVICE} runs, and comes back after a reboot")]


def state_folder(folder: str) -> List[Finding]:
    why = trust.folder_objection(folder)
    return [Finding(FAIL, "state", why, HOST.close_folder(folder))] if why else []


def check_guards(ask: Any, files: Sequence[str]) -> List[Finding]:
    """Whether a policy keeps hooks in PowerShell from being run."""
    scripts = [path for path in files if path.lower().endswith(".ps1")]
    policy, enabled = _registered(_POLICY, "ExecutionPolicy"), _registered(_POLICY, "EnableScripts")
    if not scripts or enabled == 1 and policy in ("Unrestricted", "RemoteSigned") or enabled is policy is None:
        return []
    words = (
        f"a policy of the domain says which PowerShell scripts run ({one_line(policy) or 'none'}), and hooks are such"
    )
    return [Finding(WARN, "policy", words, "sign them, or see the policy: powershell Get-ExecutionPolicy -List")]


def _registered(key: str, name: str) -> Optional[Any]:
    """A value of the machine's registry; None where there is none."""
    registry = vars(importlib.import_module("winreg"))
    try:
        with registry["OpenKey"](registry["HKEY_LOCAL_MACHINE"], key) as found:
            return registry["QueryValueEx"](found, name)[0]
    except OSError:
        return None
