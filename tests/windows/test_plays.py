# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Linux machine, and a "Windows" one with a real PowerShell, under one event: over Ansible's local connection, real pywinrm and real pypsrp."""

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import (
    MAINTAIN,
    MIXED,
    MixedMaintain,
    MixedPlay,
    Played,
)
from ansible_collections.cloudops.azure_maintenance.tests.windows.psrp_endpoint import PSRP
from ansible_collections.cloudops.azure_maintenance.tests.windows.winrm_endpoint import PASSWORD, USER, WinRM

SERVERS = {
    "winrm": (WinRM, "ansible_winrm_scheme=http ansible_winrm_transport=plaintext"),
    "psrp": (PSRP, "ansible_psrp_protocol=http ansible_psrp_auth=basic ansible_psrp_message_encryption=never"),
}


@pytest.fixture(scope="module", params=["local", *SERVERS])
def host(windows, request):
    """Its line for an inventory."""
    if request.param == "local":
        yield windows.line
        return
    kind, variables = SERVERS[request.param]
    with kind(windows.environment["PATH"], **windows.environment) as server:
        yield (
            f"win1 ansible_connection={request.param} ansible_host=127.0.0.1 ansible_port={server.server_address[1]} "
            f"ansible_user={USER} ansible_password={PASSWORD} {variables}\n"
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
    def test_discovery_reads_the_registry(self, played):
        """Of which this machine has none: test_modules.py plays one."""
        said = played.results["win1"]["discovered"]["msg"]
        assert "no DHCP lease with option 245 was found; could not be read: HKLM: Cannot find drive" in said


class TestMixedMaintain(MixedMaintain):
    pass
