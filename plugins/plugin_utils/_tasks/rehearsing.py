# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tasks of playbook rehearse that ask machines: before it begins, once its emulator is there, and where one that was interrupted is cleaned up.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from ansible.errors import AnsibleActionFail, AnsibleError

from ...module_utils._text import listed, one_line
from .._ansible import plain
from .._fleet import rehearsal
from .._lines.reach import variables_of
from .._variables import refused
from . import emulators, undoing
from .asking import Machines
from .calls import Calls
from .given import ROLES, Given, unknown
from .host_variables import HostVariables

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    part=dict(type="str", choices=["check", "reach", "left", "find"], required=True),
    # Of `find`: where an emulator is looked for, and what it returned before
    hosts=dict(type="list", elements="str", default=[]),
    before=dict(type="dict", default={}),
)

SCENARIOS = ROLES / "emulator" / "files" / "scenarios"


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    parts = {"check": _check, "reach": _reach, "left": _left}
    if arguments["part"] == "find":
        return _find(action, task_vars, arguments["hosts"], arguments["before"])
    return parts[arguments["part"]](action, task_vars)


# ---- before it begins ----


def _check(action: Any, task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """What is played, and what the emulator has to know; everything that can be known to be wrong is an error, before anything is begun."""
    said = HostVariables(action, task_vars)
    hosts, wrong = _hosts(action, task_vars)
    _refuse([*refused(unknown(action, task_vars, task_vars["ansible_play_hosts_all"])), *wrong])
    wanted = {name: said[f"rehearse_{name}"] for name in ("speed", "port", "scenario", "emulator_host")}
    wanted.update(affects=said["rehearse_affected"], scenarios=_scenarios(action), hosts=hosts)
    with Machines(action, task_vars, "status") as machines:
        machines.ask(requests=())
        played = rehearsal.rehearsal(machines.asked, wanted)
        _refuse(played.problems)
        calls, host = Calls(machines.lines, {}), str(wanted["emulator_host"])
        there = emulators.find(calls, [host], said["__maintain_emulator"], _known(task_vars, hosts))[host]
        reached = {str(urlsplit(one["endpoint"]).hostname) for one in hosts.values()}
        place = emulators.place(calls, host, played.port, there, reached)
    _refuse([place.problem] if place.problem else [])
    return dict(
        played._asdict(),
        changed=False,
        systemd=place.systemd,
        listens=[f"{address}:{played.port}" for address in place.addresses],
        vms=[one["vm"] for one in hosts.values()],
        names=[hosts[host]["name"] for host in played.affected],
        endpoints={host: one["endpoint"] for host, one in hosts.items()},
    )


def _hosts(action: Any, task_vars: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """What the inventory says of the machines of a rehearsal, and what is wrong with that, in sentences."""
    given = Given(action, task_vars)
    found: dict[str, dict[str, Any]] = {}
    gone = [host for host in task_vars["ansible_play_hosts_all"] if host not in task_vars["ansible_play_batch"]]
    wrong = [f"{listed(gone)} can't take part: correct its error above, or leave it out with --limit."] if gone else []
    for host in task_vars["ansible_play_batch"]:
        try:
            variables = given.variables(host)
            found[host] = variables["__maintain_rehearsed_host"]
            wrong += given.wrong(host, variables)
        except AnsibleError as error:
            wrong.append(f"{host}: {one_line(error, 1000).rstrip('.')}.")
    return found, wrong


def _scenarios(action: Any) -> dict[str, Any]:
    return {path.stem: plain(action._loader.load_from_file(str(path))) for path in sorted(SCENARIOS.glob("*.yml"))}


def _refuse(problems: Any) -> None:
    if problems:
        raise AnsibleActionFail(" ".join([*problems, "Nothing was changed."]))


# ---- once its emulator is there ----


def _reach(action: Any, task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """Nothing, where every machine sees its document there; else an error says why one does not."""
    with Machines(action, task_vars, "status") as machines:
        machines.ask()
    unseen = rehearsal.unreached(machines.asked)
    if unseen:
        said = HostVariables(action, task_vars)
        raise AnsibleActionFail(
            f"{' '.join(unseen)} The emulator is on {said['rehearse_emulator_host']}: see that nothing keeps the others from port "
            f"{said['rehearse_port']} there, or set rehearse_address to an address of it that they can reach. Nothing was drained."
        )
    return dict(changed=False)


# ---- where one was interrupted ----


def _left(action: Any, task_vars: Mapping[str, Any]) -> dict[str, Any]:
    """Recovers machines; as ``hosts`` what becomes of each, as ``undone`` what came of that, and as ``linux`` where an emulator may be."""
    endpoints = {host: one["endpoint"] for host, one in _rehearsed(action, task_vars).items()}
    with Machines(action, task_vars, "status") as machines:
        machines.ask(requests=())
    left = rehearsal.left_behind(machines.asked, endpoints)
    linux = [one.host for one in machines.asked if one.is_linux and one.answer and not one.answer["lost"]]
    found = {"hosts": {host: one._asdict() for host, one in left.items()}, "linux": linux}
    takes = {host: undoing.Take(one.run) for host, one in left.items() if one.verdict == "back"}
    return undoing.begun(action, task_vars, takes, found)


def _find(action: Any, task_vars: Mapping[str, Any], hosts: list[str], before: Mapping[str, Any]) -> dict[str, Any]:
    """Where an emulator is to be removed, as ``services`` and ``processes``; and in words, by host, which are ``removed`` and which ``refused``.

    :arg before: what it returned, with words that still count
    """
    known = _known(task_vars, _rehearsed(action, task_vars))
    with Machines(action, task_vars, "status") as machines:
        calls = Calls(machines.lines, {})
        found = emulators.find(calls, hosts, HostVariables(action, task_vars)["__maintain_emulator"], known)
    refused = {host: emulators.unknown_problem(host, one) for host, one in found.items() if one.unknown}
    ours = {host: one for host, one in found.items() if host not in refused and (one.service or one.process)}
    removed = {host: emulators.removed_words(host, one) for host, one in ours.items()}
    return dict(
        changed=False,
        services=[host for host, one in ours.items() if one.service],
        processes=[host for host, one in ours.items() if one.process],
        removed={**(before.get("removed") or {}), **removed},
        refused={**(before.get("refused") or {}), **refused},
    )


def _rehearsed(action: Any, task_vars: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What each machine is in a rehearsal."""
    return {
        host: HostVariables(action, variables_of(action, task_vars, host))["__maintain_rehearsed_host"]
        for host in task_vars["ansible_play_hosts_all"]
    }


def _known(task_vars: Mapping[str, Any], hosts: Mapping[str, Mapping[str, Any]]) -> set[str]:
    """The names by which this inventory may have had a machine in a rehearsal, in lower case."""
    every = task_vars["groups"]["all"]
    names = [task_vars["hostvars"][host].get("azure_maintenance_resource_name") for host in every]
    return {str(name).lower() for name in (*every, *names, *(one["name"] for one in hosts.values())) if name}
