# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where things are on a machine is an interface: people know these paths, and a machine keeps them from one version to the next."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.linux_host import LINUX
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.place import place_of

ENV = {"HOME": "/home/ops"}
ENV_OF_WINDOWS = {"ProgramFiles": r"C:\Program Files", "ProgramData": r"C:\ProgramData"}


def test_as_a_service_things_are_where_linux_has_such_things():
    place = place_of("linux", ENV, python="/usr/bin/python3", version="1.2.3")
    assert place._asdict() == {
        "system": "linux",
        "manager": "service",
        "programs": "/usr/local/lib/azure-maintenance",
        "program": "/usr/local/lib/azure-maintenance/1.2.3.pyz",
        "command": "/usr/local/bin/azure-maintenance",
        "config": "/etc/azure-maintenance",
        "settings": "/etc/azure-maintenance/watcher.json",
        "new_settings": "/etc/azure-maintenance/watcher.json.new",
        "hooks": "/etc/azure-maintenance/hooks",
        "secrets": "/etc/azure-maintenance/secrets",
        "state": "/var/lib/azure-maintenance",
        "run": "/run/azure-maintenance",
        "owner": "root",
        "python": "/usr/bin/python3",
        "units": "/etc/systemd/system",
        "is_state_of_systemd": True,
        "process": "",
        "background": "",
        "data": "",
        "log": "",
    }
    # What the program itself takes for granted
    assert (place.command, place.settings, place.hooks, place.state, place.run) == (
        *(LINUX.command, LINUX.settings, LINUX.hooks_folder, LINUX.state, LINUX.run_folder),
    )


def test_as_a_process_all_is_in_the_home_of_its_user():
    home = "/home/ops/.ansible/azure-maintenance"
    assert place_of("linux", ENV, systemd=False, python="/usr/bin/python3", version="1.2.3")._asdict() == {
        "system": "linux",
        "manager": "process",
        "programs": f"{home}/lib",
        "program": f"{home}/lib/1.2.3.pyz",
        "command": f"{home}/bin/azure-maintenance",
        "config": f"{home}/etc",
        "settings": f"{home}/etc/watcher.json",
        "new_settings": f"{home}/etc/watcher.json.new",
        "hooks": f"{home}/etc/hooks",
        "secrets": f"{home}/etc/secrets",
        "state": f"{home}/state",
        "run": f"{home}/run",
        "owner": "",
        "python": "/usr/bin/python3",
        "units": "",
        "is_state_of_systemd": False,
        "process": f"{home}/process",
        "background": f"{home}/async",
        "data": "",
        "log": "",
    }
    assert place_of("linux", {}, systemd=False).config == "~/.ansible/azure-maintenance/etc"


def test_on_windows_programs_are_apart_from_what_they_write():
    programs, data = r"C:\Program Files\AzureMaintenance", r"C:\ProgramData\AzureMaintenance"
    assert place_of("windows", ENV_OF_WINDOWS, python="/usr/bin/python3", version="1.2.3")._asdict() == {
        "system": "windows",
        "manager": "service",
        "programs": programs,
        "program": rf"{programs}\1.2.3.pyz",
        "command": rf"{programs}\azure-maintenance.cmd",
        "config": rf"{data}\config",
        "settings": rf"{data}\config\watcher.json",
        "new_settings": rf"{data}\config\watcher.json.new",
        "hooks": rf"{data}\config\hooks",
        "secrets": rf"{data}\config\secrets",
        "state": data,
        "run": rf"{data}\run",
        "owner": "",
        "python": "",
        "units": "",
        "is_state_of_systemd": False,
        "process": "",
        "background": "",
        "data": data,
        "log": rf"{data}\log\azure-maintenance.log",
    }


@pytest.mark.parametrize("systemd", [True, False])
def test_another_state_folder_moves_nothing_else(systemd):
    usual, other = (place_of("linux", ENV, folder, systemd) for folder in ("", "/data/azm"))
    assert other == usual._replace(state="/data/azm", is_state_of_systemd=False)
    assert place_of("linux", ENV, LINUX.state).is_state_of_systemd


def test_another_state_folder_of_a_windows_machine_has_the_log():
    usual, other = (place_of("windows", ENV_OF_WINDOWS, folder) for folder in ("", r"D:\azm"))
    assert other == usual._replace(state=r"D:\azm", log=r"D:\azm\log\azure-maintenance.log")


def test_a_hook_is_below_the_folder_of_hooks():
    linux, windows = place_of("linux", ENV), place_of("windows", ENV_OF_WINDOWS)
    assert linux.below(linux.hooks, "prepare.d/Reboot/50-app") == "/etc/azure-maintenance/hooks/prepare.d/Reboot/50-app"
    assert windows.below(windows.hooks, "prepare.d/50-app.cmd") == rf"{windows.hooks}\prepare.d\50-app.cmd"
