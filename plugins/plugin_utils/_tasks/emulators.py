# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulators of rehearsals: what there is of one on hosts, and whether one can be had.

Private to this collection.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .calls import Calls
from .machine_line import ModuleCall, Target

SECONDS = 20.0
"""Of one module."""

LISTENS = (
    "import socket, sys; one = socket.socket(); one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); "
    'one.bind(("0.0.0.0", int(sys.argv[1]))); one.listen(1)'
)


class Emulator(NamedTuple):
    """What there is of one on a host.

    :attr service, process: whether it is there as that
    :attr unknown: machines that it has and the inventory does not
    """

    service: bool = False
    process: bool = False
    unknown: Sequence[str] = ()

    def unknown_words(self, host: str) -> str:
        return f"The emulator on {host} is that of a rehearsal with {', '.join(self.unknown)}, not in this inventory"


def find(calls: Calls, hosts: Iterable[str], name: str, known: Collection[str]) -> dict[str, Emulator]:
    """
    :arg name: of the emulator
    :arg known: the names in Azure that the inventory knows, in lower case
    """
    config, home = f"/etc/{name}", f"~/.ansible/{name}"
    pieces = (f"/etc/systemd/system/{name}.service", f"/usr/local/lib/{name}", config, home)
    each = {host: [_module(host, "ansible.builtin.stat", path=path) for path in pieces] for host in hosts}
    there = {
        host: [bool(one.get("stat", {}).get("exists")) for one in came] for host, came in _called(calls, each).items()
    }
    # What has no such file was not started.
    fleets = {
        host: [_module(host, "ansible.builtin.slurp", src=f"{folder}/fleet.json") for folder in (config, home)]
        for host, found in there.items()
        if any(found)
    }
    names = {host: [name for one in came for name in _names(one)] for host, came in _called(calls, fleets).items()}
    return {
        host: Emulator(
            any(found[:3]), found[3], tuple(name for name in names.get(host, ()) if name.lower() not in known)
        )
        for host, found in there.items()
    }


def _names(slurped: Mapping[str, Any]) -> list[str]:
    if "content" not in slurped:
        return []
    return [str(vm["name"]) for vm in json.loads(base64.b64decode(slurped["content"]))["vms"]]


class Place(NamedTuple):
    """Where an emulator is to be.

    :attr problem: why it can't be there; "" when it can
    :attr systemd: whether it is a service there
    :attr addresses: at which it listens
    """

    problem: str
    systemd: bool = False
    addresses: Sequence[str] = ()


def place(calls: Calls, host: str, port: int, there: Emulator, reached: Collection[str]) -> Place:
    """Whether it can be on this host, at this port.

    :arg reached: the addresses at which the machines reach it: no other is listened at, but where they are names, or another host's
    """
    if there.unknown:
        return Place(
            f"{there.unknown_words(host)}, and there is one on a host: wait for its end, remove it with its own inventory by "
            "-e rehearse_state=absent, or set rehearse_emulator_host to another host."
        )
    (came,) = calls.modules([_module(host, "ansible.builtin.setup", gather_subset=["min", "network"])])
    if "ansible_facts" not in came:
        return Place(f"{host} could not be asked who runs it: {_why(came)}.")
    facts = came["ansible_facts"]
    python = [facts["ansible_python"]["executable"], "-I", "-c", LISTENS, str(port)]
    (listened,) = calls.modules([_module(host, "ansible.builtin.command", argv=python)])
    problem = _taken(calls, host, port, there, _why(listened)) if "went_wrong" in listened else ""
    systemd = facts.get("ansible_service_mgr") == "systemd" and facts["ansible_effective_user_id"] == 0
    own = {"127.0.0.1", *(facts.get("ansible_all_ipv4_addresses") or ())}
    return Place(problem, systemd, sorted(reached) if own.issuperset(reached) else ["0.0.0.0"])


def _taken(calls: Calls, host: str, port: int, there: Emulator, why: str) -> str:
    # This collection may not be there, or neither ss nor netstat.
    (came,) = calls.modules([_module(host, "community.general.listen_ports_facts")])
    listening = (came.get("ansible_facts") or {}).get("tcp_listen") or ()
    by = next((f": {one['name']}, process {one['pid']}, has it" for one in listening if one["port"] == port), "")
    ends = (
        "The emulator of a rehearsal is there, which is under way or was interrupted: -e rehearse_state=absent removes it."
        if there.service or there.process
        else "Set rehearse_port to one that is free."
    )
    return f"Port {port} of {host}, where the emulator is to listen, can't be had ({why}){by}. {ends}"


def _module(host: str, use: str, **arguments: Any) -> tuple[Target, ModuleCall]:
    # As whoever the play has Ansible be there: so its role installs it.
    return Target(host), ModuleCall(use, arguments, SECONDS)


def _called(calls: Calls, wanted: Mapping[str, Sequence[tuple[Target, ModuleCall]]]) -> dict[str, list[dict[str, Any]]]:
    """What came of the modules of each host."""
    came = iter(calls.modules([one for each in wanted.values() for one in each]))
    return {host: [next(came) for _one in each] for host, each in wanted.items()}


def _why(came: Mapping[str, Any]) -> str:
    why = came.get("went_wrong") or came
    lines = why.get("stderr_lines") or [why.get("msg") or ""]
    return str(lines[-1]).rstrip(".")


def removed_words(host: str, there: Emulator) -> str:
    return f"The emulator is removed from {host}, where it was {'a service' if there.service else 'a process'}."


def unknown_problem(host: str, there: Emulator) -> str:
    return f"{there.unknown_words(host)}: it was left as it is. Remove it with its own inventory, by -e rehearse_state=absent."
