# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lease files for tests of discovery: the client of this collection finds the address in each of them."""

import os
import subprocess
import sys

import pytest
from emulator_harness import FILES
from imds_emulator import leases
from imds_emulator.cli import main

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds import discovery

PLACES = {
    "dhclient": "/var/lib/dhcp/dhclient.eth0.leases",
    "dhcpcd": "/var/lib/dhcpcd/eth0.lease",
    "networkd": "/run/systemd/netif/leases/2",
    "networkmanager": "/var/lib/NetworkManager/internal-0-eth0.lease",
}


class OneFile(discovery.Files):
    """A machine with one lease."""

    def __init__(self, path, content):
        self.path, self.content = path, content

    def list(self, directory):
        if directory != os.path.dirname(self.path):
            raise FileNotFoundError(directory)
        return [os.path.basename(self.path)]

    def read(self, path):
        return self.content


@pytest.mark.parametrize("form", sorted(PLACES))
def test_discovery_finds_the_address(form):
    found = discovery.find_endpoints(OneFile(PLACES[form], leases.lease(form, "168.63.129.16")))
    assert found.endpoints == ("http://168.63.129.16", "http://168.63.129.16:8080")


def test_the_registry_of_windows():
    assert discovery.decode_interface_options(leases.lease("windows", "100.65.111.13")) == "100.65.111.13"


def test_each_form_is_tested():
    assert set(leases.FORMS) == set(PLACES) | {"windows"}


def test_the_command_writes_it_to_stdout():
    command = [sys.executable, str(FILES / "imds_emulator"), "lease", "dhcpcd", "168.63.129.16"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    assert done.stdout == leases.lease("dhcpcd", "168.63.129.16")


def test_an_address_that_is_none(capsys):
    assert main(["lease", "networkd", "10.0.0.256"]) == 1
    assert capsys.readouterr().err == "imds_emulator: ADDRESS: '10.0.0.256' is no IPv4 address\n"
