# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A "Windows" host that is this machine with PowerShell 7 for a shell."""

import os
import pathlib
import shutil
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.logins import Logins
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.standing import Standing
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import collections_path


class Host:
    """line: the host for an inventory; environment: what ansible-playbook needs for it"""

    def __init__(self, folder, pwsh):
        self.line = f"win1 ansible_connection=local ansible_shell_type=powershell ansible_pwsh_interpreter={pwsh}\n"
        self.environment = {
            "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "TEMP": "/tmp",
            "ProgramData": str(folder / "ProgramData"),  # where look.ps1 looks for the mark
            "ANSIBLE_PIPELINING": "1",  # ansible-core 2.19 needs it here
            "ANSIBLE_COLLECTIONS_PATH": f"{folder}{os.pathsep}{collections_path()}",
        }


@pytest.fixture(scope="session")
def windows(tmp_path_factory):
    pwsh = os.environ.get("PWSH") or shutil.which("pwsh") or ""
    if not pwsh:
        pytest.skip("no PowerShell 7: put pwsh on PATH, or name it in PWSH")
    folder = tmp_path_factory.mktemp("windows")
    (folder / "bin").mkdir()
    for name in ("powershell", "PowerShell", "pwsh"):
        (folder / "bin" / name).symlink_to(pathlib.Path(pwsh).resolve())
    return Host(folder, pwsh)


@pytest.fixture(scope="session")
def look(windows):
    """What look.ps1 makes of a list of requests: one PowerShell for all of them."""
    with pytest.MonkeyPatch.context() as patched:
        for name, value in windows.environment.items():
            patched.setenv(name, value)
        one = Standing(types.SimpleNamespace(transport="local"), Logins("", "local"))
        one.look([], 60.0)
    yield lambda requests: one.look(requests, 60.0)
    one.close()
