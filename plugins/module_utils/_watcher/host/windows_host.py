# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Windows, as the watcher's messages speak of it: commands, services with their accounts, folders with their access lists. All commands do
the same in a command prompt and in PowerShell.

Private to this collection.

The program's folder is below Program Files, where only administrators may write; the rest is below ProgramData, where every user may make
folders: role watcher and the program itself close theirs to all but administrators.

The watcher is LocalSystem's. What talks to others runs as its service's own account (``NT SERVICE\\NAME``), which is nobody's but the
service's, has no password, and is a member of Users. folders() says what each of the two may do where.
"""

import os
from typing import Dict

from ..._machine.windows.access_list import HEALTH, HEALTH_SID, REPORTS, REPORTS_SID
from .host import Host, Service, command

# Not os.path: the texts are the same wherever they are made.
_DATA = os.environ.get("PROGRAMDATA", r"C:\ProgramData") + r"\AzureMaintenance"
_PROGRAMS = os.environ.get("PROGRAMFILES", r"C:\Program Files") + r"\AzureMaintenance"
_SYSTEM = os.environ.get("SYSTEMROOT", r"C:\Windows")

_OF_ADMINISTRATORS = "D:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
_GO_THROUGH = 0x1200A0  # traverse, attributes, the list itself; not what names are there
_SEE_FILES = 0x100080  # their attributes: what os.stat asks for; not what is in them
_READ, _READ_FOLDER, _MODIFY = 0x120089, 0x1200A9, 0x1301BF

STATE = (
    f"{_OF_ADMINISTRATORS}(A;;{_GO_THROUGH:#x};;;{HEALTH_SID})(A;OINPIO;{_SEE_FILES:#x};;;{HEALTH_SID})"
    f"(A;;{_GO_THROUGH:#x};;;{REPORTS_SID})"
)
RUN = f"{_OF_ADMINISTRATORS}(A;;{_READ_FOLDER:#x};;;BU)"
SPOOL = f"{_OF_ADMINISTRATORS}(A;OICI;{_MODIFY:#x};;;{REPORTS_SID})"
_CONFIG = f"{_OF_ADMINISTRATORS}(A;;{_GO_THROUGH:#x};;;{REPORTS_SID})(A;OINPIO;{_READ:#x};;;{REPORTS_SID})"
_READ_BY_SENDER = f"{_OF_ADMINISTRATORS}(A;OICI;{_READ_FOLDER:#x};;;{REPORTS_SID})"
_HOOKS = f"{_OF_ADMINISTRATORS}(A;;{_GO_THROUGH:#x};;;{REPORTS_SID})"


def folders(state: str = _DATA) -> Dict[str, str]:
    """The access list of each folder (SDDL), those above first: it inherits nothing. Owner is SYSTEM, or the administrators. The watcher
    adds what a folder's list lacks of these entries when it starts.

    :arg state: the folder of the mark

    * The health endpoint's account sees whether the mark is there: ``os.stat`` opens it for its attributes alone, which the list of the
      file has to allow, or else its folder's the listing of names. It reads no file there, and sees no name that it does not know.
    * Everybody may list ``run``, as windows_exporter does; of its files those that are for everybody have a list of their own (access_list.PUBLIC_FILE).
    * The sender's account reads settings, secrets and notify hooks, and takes reports away from the spool. What it could do at worst with
      the spool: have SYSTEM write reports, in files whose names are twelve digits and ``.json``, into a folder of its choice.
    """
    return {
        _DATA: STATE,
        state: STATE,
        state + r"\spool": SPOOL,
        _DATA + r"\run": RUN,
        _DATA + r"\config": _CONFIG,
        _DATA + r"\config\secrets": _READ_BY_SENDER,
        _DATA + r"\config\hooks": _HOOKS,
        _DATA + r"\config\hooks\notify.d": _READ_BY_SENDER,
    }


SERVICES = (
    Service("azure-maintenance", "LocalSystem", "run"),
    Service(REPORTS, rf"NT SERVICE\{REPORTS}", "send"),
    Service(HEALTH, rf"NT SERVICE\{HEALTH}", "health"),
)


_CLOSE = 'takeown /a /f "{0}", then icacls "{0}" /inheritance:r /grant:r "*S-1-5-18:(F)" "*S-1-5-32-544:(F)"'

WINDOWS = Host(
    name="windows",
    watcher=SERVICES[0],
    reports=SERVICES[1],
    health=SERVICES[2],
    health_units=SERVICES[2].name,
    settings=_DATA + r"\config\watcher.json",
    state=_DATA,
    run_folder=_DATA + r"\run",
    hooks_folder=_DATA + r"\config\hooks",
    command=_PROGRAMS + r"\azure-maintenance.cmd",
    path=rf"{_SYSTEM}\System32;{_SYSTEM};{_SYSTEM}\System32\Wbem;{_SYSTEM}\System32\WindowsPowerShell\v1.0",
    has_drives=True,
    hook_endings=(".ps1", ".cmd", ".bat", ".exe"),
    admin="an administrator",
    run_as_admin="run it again in a prompt that was opened with 'Run as administrator'",
    start=command("net start {0}"),
    restart=command("powershell Restart-Service {0}"),
    status=command("sc.exe query {0}"),
    enable=command("sc.exe config {0} start= auto"),
    log=command(rf"powershell Get-Content {_DATA}\log\{{0}}.log"),
    log_end=command(rf"powershell Get-Content -Tail 50 {_DATA}\log\{{0}}.log"),
    others_log=command('powershell "Get-WinEvent -ProviderName azure-maintenance -MaxEvents 50"'),
    close=command(_CLOSE),
    close_private=command(_CLOSE.replace(":(F)", ":(OI)(CI)F")),
    private_file_advice="run role watcher again, which leaves it to administrators and SYSTEM",
    close_folder=command(_CLOSE.replace(":(F)", ":(OI)(CI)F")),
    room=command("powershell Get-Volume"),
    look=command('icacls "{0}"'),
    clock_advice="w32tm /query /status",
    firewall_advice="powershell Get-NetFirewallRule -Direction Outbound -Action Block -Enabled True",
)
