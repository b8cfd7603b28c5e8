# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run begins: every machine is asked all that a person should know before the run waits, and that is shown. Nothing is changed.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.utils.display import Display

from .._ansible import is_there, plain, say
from .._preflight import Asked, errors, table, warnings
from .._variables import Unknown, named
from .between_entries import Answer
from .calls import Calls
from .fleet_run import FleetRun
from .given import Host
from .machine_line import ModuleCall, Target

STATUS = "cloudops.azure_maintenance.haproxy_status"

SECONDS = 5.0
"""Of a call to another place than the machine itself: it only shows whether it can be reached."""


def preflight(run: FleetRun, calls: Calls, unknown: Iterable[Unknown]) -> list[str]:
    """Ask, show, and return what will not go as it should, in sentences.

    :arg unknown: variables that look like ours and are none
    :raises AnsibleActionFail: something keeps the run from doing its work
    """
    check = run.record.run.check
    answers = run.ask_everybody(calls, [{"do": "ready", "always": check}])
    asked = {host: _asked(host_, answers.get(host)) for host, host_ in run.hosts.items()}
    balancers: list[dict[str, Any]] = []
    delegates: list[dict[str, Any]] = []
    if run.record.todo.idle or check:  # where an event is there, that comes first
        balancers, delegates = _elsewhere(run.hosts, calls)
    said = warnings(run.record, asked, balancers, delegates)
    said += named(unknown)
    say(table(run.record, asked))
    for sentence in said:
        Display().warning(sentence)
    run.announce()
    failures = errors(run.record, asked, is_there)
    if failures:
        raise AnsibleActionFail(" ".join(failures))
    return said


def _asked(host: Host, answer: Answer | None) -> Asked:
    found = (answer.came.get("answers") if answer else None) or ()
    return Asked(steps=host.steps, ready=next((one for one in found if "lacks" in one), None))


def _elsewhere(hosts: Mapping[str, Host], calls: Calls) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What load balancers show, and whether machines can be reached that do steps for others: each is asked once, all at a time."""
    balancers = _first(hosts, "places")
    delegates = _first(hosts, "delegates")
    wanted = [
        (
            Target(host, place["load_balancer"], place.get("become")),
            ModuleCall(STATUS, {"socket": place["socket"]}, SECONDS),
        )
        for host, place in balancers
    ] + [(Target(host, one["host"]), ModuleCall(one["ping"], {}, SECONDS)) for host, one in delegates]
    came = [_came(one) for one in calls.modules(wanted)]
    shown, reached = came[: len(balancers)], came[len(balancers) :]
    return (
        [dict(one, place=place) for one, (_host, place) in zip(shown, balancers, strict=True)],
        [dict(one, host=delegate["host"]) for one, (_host, delegate) in zip(reached, delegates, strict=True)],
    )


def _first(hosts: Mapping[str, Host], what: str) -> list[tuple[str, dict[str, Any]]]:
    """Each of them once, with the first host for which it does something."""
    found: list[tuple[str, dict[str, Any]]] = []
    for name, host in hosts.items():
        for one in (plain(one) for step in host.steps for one in step.get(what) or ()):
            if one not in [known for _name, known in found]:
                found.append((name, one))
    return found


def _came(one: Mapping[str, Any]) -> Mapping[str, Any]:
    came: Mapping[str, Any] = one.get("went_wrong") or one
    return came
