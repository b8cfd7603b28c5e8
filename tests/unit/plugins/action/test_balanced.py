# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole run of role maintain whose machines stand behind a load balancer: what it does there."""

import pathlib
import re
import socket
import sys
import threading

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine.lost import too_slow
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.maintained import (
    happened,
    maintained,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.mixed import MAINTAIN
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.action.playing import collections_path

NAMES = ("linux1", "linux2", "lb1")
HOSTS = "".join(f"{name} ansible_connection=local ansible_python_interpreter={sys.executable}\n" for name in NAMES)
SCENARIO = {
    "settings": {"rate_limit": 0},
    "vms": [{"name": "linux1", "scope": "web"}, {"name": "linux2", "scope": "web"}],
    "events": [],
}
EVENT = {"type": "Reboot", "resources": ["linux2"], "notice": 36000, "tail": 10}


class HAProxy:
    """What answers on its socket: two servers, and which commands changed them."""

    def __init__(self, path):
        self.servers = {"linux1": "UP", "linux2": "UP"}
        self.set = []
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(path))
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            with connection:
                connection.sendall(self._answer(connection.recv(1000).decode()).encode())

    def _answer(self, command):
        if command.startswith("show info"):
            return "Name: HAProxy\nVersion: 2.8.0\n"
        if command.startswith("show stat"):
            rows = [f"www,{name},0,{status},1," for name, status in self.servers.items()]
            return "\n".join(["# pxname,svname,scur,status,weight,", *rows, "www,BACKEND,0,UP,2,", ""])
        for words, status in (("state drain", "DRAIN"), ("enable server", "UP")):
            found = re.search(r"www/(\w+)", command)
            if words in command and found:
                if self.servers[found.group(1)] != status:
                    self.set.append((found.group(1), status))
                self.servers[found.group(1)] = status
        return "\n"

    def close(self):
        self._socket.close()


@pytest.fixture(scope="module")
def balanced(tmp_path_factory):
    """What came of the run: what was printed, and what the load balancer was told."""
    if not any(
        pathlib.Path(one, "ansible_collections/community/general").is_dir() for one in collections_path().split(":")
    ):
        pytest.skip("no collection community.general")
    folder = tmp_path_factory.mktemp("balanced")
    balancer = HAProxy(folder / "admin")
    variables = {
        **MAINTAIN,
        "azure_maintenance_hosts": "linux1,linux2",
        "azure_maintenance_folder": f"{folder}/marks/{{{{ inventory_hostname }}}}",
        "drain_steps": [{"type": "haproxy", "load_balancers": ["lb1"], "socket": str(folder / "admin")}],
    }
    printed, status = maintained(folder, HOSTS, SCENARIO, EVENT, lambda control: variables)
    balancer.close()
    assert status == 0, printed
    return printed, balancer


def test_the_server_is_taken_out_and_put_back(balanced):
    assert balanced[1].set == [("linux2", "DRAIN"), ("linux2", "UP")]
    assert happened(balanced[0]) == ["prepared", "approved", "recovered"]


def test_nothing_is_warned_of(balanced):
    """But of the load balancer, which is asked for 5 s before the run begins, where this machine is too busy for that."""
    printed = balanced[0].replace(f"[WARNING]: lb1: HAProxy could not be asked: {too_slow(5)}", "")
    assert "[DEPRECATION" not in printed and "[WARNING]" not in printed, balanced[0]
