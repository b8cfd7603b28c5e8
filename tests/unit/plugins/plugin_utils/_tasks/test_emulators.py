# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What there is of a rehearsal's emulator on hosts, and whether one can be had."""

from __future__ import annotations

import base64
import json

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.emulators import (
    Emulator,
    find,
    place,
)

FACTS = {
    "ansible_python": {"executable": "/usr/bin/python3"},
    "ansible_service_mgr": "systemd",
    "ansible_effective_user_id": 0,
    "ansible_all_ipv4_addresses": ["10.0.0.11", "10.0.1.11"],
}


class Calls:
    """Of modules, on hosts that have these files; the commands fail so."""

    def __init__(self, files=(), fails="", listening=()):
        self.files, self.fails, self.listening = dict(files), fails, listening

    def modules(self, wanted):
        return [self._came(target.host, call.use.rpartition(".")[2], call.arguments) for target, call in wanted]

    def _came(self, host, name, arguments):
        if name == "stat":
            return {"stat": {"exists": any(path.startswith(f"{host}:{arguments['path']}") for path in self.files)}}
        if name == "slurp":
            found = self.files.get(f"{host}:{arguments['src']}")
            return {"content": base64.b64encode(found.encode()).decode()} if found else {"went_wrong": {"msg": "none"}}
        if name == "setup":
            return {"ansible_facts": FACTS}
        if name == "listen_ports_facts":
            return {"ansible_facts": {"tcp_listen": list(self.listening)}}
        return {"went_wrong": {"stderr_lines": ["Traceback:", self.fails]}} if self.fails else {"rc": 0}


def fleet(*names):
    return json.dumps({"vms": [{"name": name} for name in names]})


def test_what_is_there_by_host():
    files = {
        "web1:~/.ansible/imds/fleet.json": fleet("WEB1", "db7"),
        "web2:/etc/imds/fleet.json": fleet("web2"),
        "web3:/usr/local/lib/imds/program": "",
    }
    assert find(Calls(files), ["web1", "web2", "web3", "web4"], "imds", {"web1", "web2"}) == {
        "web1": Emulator(False, True, ("db7",)),
        "web2": Emulator(True, False, ()),
        "web3": Emulator(True, False, ()),
        "web4": Emulator(False, False, ()),
    }


def test_where_a_port_is_free_it_can_be_had():
    assert place(Calls(), "web1", 8780, Emulator(), [])[:2] == ("", True)


def test_it_listens_at_no_address_that_no_machine_needs():
    def listens(*reached):
        return place(Calls(), "web1", 8780, Emulator(), reached).addresses

    assert listens("127.0.0.1") == ["127.0.0.1"]
    assert listens("10.0.0.11") == ["10.0.0.11"]
    assert listens("10.0.0.11", "127.0.0.1") == ["10.0.0.11", "127.0.0.1"]
    # a name, or an address that is translated on the way
    assert listens("web1") == listens("10.0.0.11", "203.0.113.7") == ["0.0.0.0"]


def test_who_has_the_port_is_named():
    taken = Calls(fails="Address already in use", listening=[{"port": 8780, "name": "nginx", "pid": 7}])
    words = place(taken, "web1", 8780, Emulator(), []).problem
    assert "can't be had (Address already in use): nginx, process 7, has it. Set rehearse_port" in words
    ours = place(taken, "web1", 8780, Emulator(process=True), []).problem
    assert ours.endswith(
        "The emulator of a rehearsal is there, which is under way or was interrupted: -e rehearse_state=absent removes it."
    )


def test_another_inventory_s_is_left_alone():
    words = place(Calls(), "web1", 8780, Emulator(process=True, unknown=("db7",)), []).problem
    assert words.startswith(
        "The emulator on web1 is that of a rehearsal with db7, not in this inventory, and there is one on a host:"
    )
