# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows, as the watcher's messages speak of it. All commands do the same in a command prompt and in PowerShell.

Private to this collection.

The program's folder is below Program Files, where only administrators may write; the rest is below ProgramData, where every user may make
folders: role watcher and the program itself close theirs to all but administrators.
"""

import os

from .host import Host

# Not os.path: the texts are the same wherever they are made.
_DATA = os.environ.get("PROGRAMDATA", r"C:\ProgramData") + r"\AzureMaintenance"
_PROGRAMS = os.environ.get("PROGRAMFILES", r"C:\Program Files") + r"\AzureMaintenance"
_SYSTEM = os.environ.get("SYSTEMROOT", r"C:\Windows")

_CLOSE = 'takeown /a /f "{path}", then icacls "{path}" /inheritance:r /grant:r "*S-1-5-18:(F)" "*S-1-5-32-544:(F)"'

WINDOWS = Host(
    settings=_DATA + r"\config\watcher.json",
    state=_DATA,
    run_folder=_DATA + r"\run",
    hooks_folder=_DATA + r"\config\hooks",
    command=_PROGRAMS + r"\azure-maintenance.cmd",
    path=rf"{_SYSTEM}\System32;{_SYSTEM};{_SYSTEM}\System32\Wbem;{_SYSTEM}\System32\WindowsPowerShell\v1.0",
    has_drives=True,
    hook_endings=(".ps1", ".cmd", ".bat", ".exe"),
    step_types=("service", "command", "http", "connections", "iis", "failover_cluster"),
    admin="an administrator",
    run_as_admin="run it again in a prompt that was opened with 'Run as administrator'",
    start_command="net start {unit}",
    restart_command="powershell Restart-Service {unit}",
    status_command="sc.exe query {unit}",
    enable_command="sc.exe config {unit} start= auto",
    log_command=rf"powershell Get-Content {_DATA}\log\{{unit}}.log",
    log_end_command=rf"powershell Get-Content -Tail 50 {_DATA}\log\{{unit}}.log",
    close_command=_CLOSE,
    close_private_command=_CLOSE.replace(":(F)", ":(OI)(CI)F"),
    private_file_advice="run role watcher again, which leaves it to administrators and SYSTEM",
    close_folder_command=_CLOSE.replace(":(F)", ":(OI)(CI)F"),
    room_command="powershell Get-Volume",
    look_command='icacls "{path}"',
    clock_advice="w32tm /query /status",
    firewall_advice="powershell Get-NetFirewallRule -Direction Outbound -Action Block -Enabled True",
)
