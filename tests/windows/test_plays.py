# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Linux machine, and a "Windows" one with a real PowerShell, under one event: over Ansible's local connection, and over real pywinrm."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import (
    MAINTAIN,
    MIXED,
    MixedMaintain,
    MixedPlay,
    Played,
)
from ansible_collections.cloudops.azure_maintenance.tests.windows.winrm_endpoint import PASSWORD, USER, WinRM


@pytest.fixture(scope="module", params=["local", "winrm"])
def host(windows, request):
    """Its line for an inventory."""
    if request.param == "local":
        yield windows.line
        return
    with WinRM(windows.environment["PATH"], **windows.environment) as server:
        yield (
            f"win1 ansible_connection=winrm ansible_host=127.0.0.1 ansible_port={server.server_address[1]} ansible_user={USER} "
            f"ansible_password={PASSWORD} ansible_winrm_scheme=http ansible_winrm_transport=plaintext\n"
        )


@pytest.fixture(scope="module")
def played(windows, host, tmp_path_factory):
    return Played(tmp_path_factory.mktemp("play"), MIXED, host, {}, **windows.environment)


@pytest.fixture(scope="module")
def maintained(windows, host, tmp_path_factory):
    folder = tmp_path_factory.mktemp("maintain")
    return Played(
        folder,
        "cloudops.azure_maintenance.maintain",
        host,
        # Both hosts are this machine
        dict(MAINTAIN, azure_maintenance_folder=f"{folder}/marks/{{{{ inventory_hostname }}}}"),
        **windows.environment,
    )


class TestMixedPlay(MixedPlay):
    pass


class TestMixedMaintain(MixedMaintain):
    pass
