# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user has given a run: of the play, and of each of its hosts. It is checked before any machine is asked, and all that is wrong is named
at once.

Private to this collection.

Files are read with ``unsafe``, by which Ansible means without a copy that may be changed.

The variables of a host are evaluated here, in one process for all: a task for each host and question would cost a controller with 200 hosts a
minute.
"""

from __future__ import annotations

import datetime
import pathlib
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ansible.errors import AnsibleError
from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible.plugins.loader import connection_loader

from ...module_utils._clock import iso_utc
from ...module_utils._steps.step_type import Step
from ...module_utils._text import listed, one_line
from .._ansible import goes_together, plain, strategy_of
from .._fleet.options import HostFacts
from .._lines.reach import variables_of
from .._notify.notifications import refused_receivers
from .._variables import Unknown, known_variables, unknown_of_play
from .._windows.channels import refusal
from . import of_event
from .host_variables import HostVariables, Reach

PLAN = "__drain_plan"
"""The variable of a host's steps, as the templates of role maintain and the machine's calls have them."""

ROLES = pathlib.Path(__file__).parents[3] / "roles"
SPECS = ROLES / "maintain" / "meta" / "argument_specs.yml"


REPORT_AGE = 15
"""Minutes."""


class Host(NamedTuple):
    """What the inventory says of a host.

    :attr plan: its steps; they may hold passwords
    """

    facts: HostFacts
    reach: Reach
    plan: Mapping[str, Any]

    @property
    def steps(self) -> Sequence[Step]:
        steps: Sequence[Step] = self.plan["steps"]
        return steps


class OptionTypes:
    """Of the options of an entry point of role maintain, as its argument specs say."""

    def __init__(self, action: Any, entry_point: str) -> None:
        self._spec = action._loader.load_from_file(str(SPECS), unsafe=True)["argument_specs"][entry_point]["options"]
        self._types = ArgumentSpecValidator(_typed(self._spec))

    def wrong(self, variables: HostVariables) -> list[str]:
        """What is wrong with the options of a host, without a stop at the end."""
        given = {option: variables[option] for option in self._spec if option in variables.all}
        return [why.rstrip(".") for why in self._types.validate(given).error_messages]


class Given:
    """Evaluates the variables of hosts.

    :arg action: of the run's task
    """

    def __init__(self, action: Any, task_vars: Mapping[str, Any]) -> None:
        self._action, self._task_vars = action, task_vars
        self._of_role_drain = OfRoleDrain(action)
        self._types = OptionTypes(action, "main")

    def variables(self, name: str) -> HostVariables:
        """Those of a host, its plan among them.

        :raises AnsibleError: a template fails
        """
        all_of_them = self._of_role_drain.added(variables_of(self._action, self._task_vars, name))
        found = HostVariables(self._action, all_of_them)
        all_of_them[PLAN] = found["__drain_planned"]
        return found

    def wrong(self, name: str, variables: HostVariables) -> list[str]:
        """What is wrong with the options and the plan of a host, in sentences."""
        found = [*self._types.wrong(variables), *variables.all[PLAN]["errors"]]
        if not variables.is_linux:
            found += self._unreached(variables)
        return [f"{name}: {why}." for why in found]

    def _unreached(self, variables: HostVariables) -> list[str]:
        """Why a Windows machine can't be asked as Ansible connects to it, without a stop at the end."""
        connection = str(variables.get("ansible_connection", self._action._task.connection))
        kind = connection_loader.get(connection, class_only=True)
        if kind is None:  # Ansible says so
            return []
        why = refusal(kind.transport, "ansible_become" in variables.all and variables.is_true("ansible_become"))
        return [why.rstrip(".")] if why else []

    def host(self, name: str) -> tuple[Host, list[str]]:
        """What is known of a host, and what is wrong with that, in sentences.

        :raises AnsibleError: a template fails
        """
        variables = self.variables(name)
        plan = variables.all[PLAN]
        return Host(variables.facts(name, plan), variables.reach, plan), self.wrong(name, variables)

    def concerned(self, members: Sequence[str], resources: str) -> list[str]:
        """Those of them that a run for these machines of Azure is about."""
        places = {}
        for name in members:
            variables = HostVariables(self._action, variables_of(self._action, self._task_vars, name))
            group = variables.get("azure_maintenance_capacity_group", "") or variables.get(
                "azure_maintenance_scope", ""
            )
            places[name] = of_event.Place(variables.resource_name, str(group or ""))
        return of_event.concerned(places, of_event.names(resources))

    def hosts(self, members: Iterable[str]) -> tuple[dict[str, Host], list[str]]:
        """The same of all of them."""
        found: dict[str, Host] = {}
        wrong: list[str] = []
        for name in members:
            try:
                found[name], errors = self.host(name)
                wrong += errors
            except AnsibleError as error:
                wrong.append(f"{name}: {one_line(error, 1000).rstrip('.')}.")
        return found, wrong


class OfRoleDrain:
    """The variables of role drain, whose options role maintain has, too. Ansible knows them where a task of that role is, or after it, in the copy
    of the play that an action can't reach.
    """

    def __init__(self, action: Any) -> None:
        self._defaults, self._vars = _of_role_drain(action, "defaults"), _of_role_drain(action, "vars")

    def added(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """To those of a host."""
        return {**self._defaults, **variables, **self._vars}


def _of_role_drain(action: Any, kind: str) -> dict[str, Any]:
    path = str(ROLES / "drain" / kind / "main.yml")
    try:
        found = action._loader.load_from_file(path, unsafe=True, trusted_as_template=True)
    except TypeError:  # before ansible-core 2.19 every text may be a template
        found = action._loader.load_from_file(path, unsafe=True)
    return dict(found)


def _typed(options: Mapping[str, Any]) -> dict[str, Any]:
    """Their types and choices alone: a default is the role's, and may be a template."""
    kept = ("type", "elements", "choices")
    return {
        name: {
            **{key: value for key, value in option.items() if key in kept},
            **({"options": _typed(option["options"])} if "options" in option else {}),
        }
        for name, option in options.items()
    }


# ---- the play ----


def play_problems(action: Any, task_vars: Mapping[str, Any]) -> list[str]:
    """Why the play can't go through a run, in sentences."""
    found = strategy_problems(strategy_of(action._task))
    found += refused_receivers(plain(action._templar.template(task_vars.get("maintain_notify"))))
    missing = [host for host in task_vars["ansible_play_hosts_all"] if host not in task_vars["ansible_play_batch"]]
    if missing:  # it would be missing when it is needed: with an error of its own above, or with `serial`
        found.append(
            f"{listed(missing)}: in the play, but not running this role (any more), which handles all hosts of a play at once. Correct its error "
            "above, if there is one, or leave it out with --limit; where the play has serial, remove that: maintain_max_unavailable says how many "
            "machines may be out."
        )
    return found


def unknown(
    action: Any, task_vars: Mapping[str, Any], hosts: Iterable[str], shared: Iterable[str] | None = None
) -> list[Unknown]:
    """The variables of the play and of these hosts that look like ours and are none.

    :arg shared: names that a task of the play sees; by default this one
    """
    names = {host: task_vars["hostvars"].raw_get(host) for host in hosts}
    known = known_variables(partial(action._loader.load_from_file, unsafe=True))
    return unknown_of_play(task_vars if shared is None else shared, names, known)


def strategy_problems(strategy: str) -> list[str]:
    """Why a run can't be played so, in a sentence."""
    if goes_together(strategy):
        return []
    return [
        f"Role maintain needs the strategy linear, and this play has {strategy}: all machines have to go from task to task together. "
        "Write `strategy: linear` into the play (else ansible.cfg or ANSIBLE_STRATEGY says which one it is)."
    ]


def late_report(task_vars: Mapping[str, Any]) -> str:
    """Why a run is not begun that a rulebook asks for, in a sentence: the signature of a report has no time of its own, so an old one could be
    sent once more by whoever has recorded it. "" where nothing speaks against it.
    """
    written = task_vars.get("azure_maintenance_report_time")
    if not written:  # a survey of AWX gives "" for a question that nobody has answered
        return ""
    received = task_vars.get("azure_maintenance_report_received") or iso_utc(time.time())
    try:
        apart = abs((_moment(received) - _moment(written)).total_seconds())
    except ValueError as error:
        return f"Nothing was started: it is not known whether the report that asks for this run is too old ({one_line(error, 200)})."
    if apart <= 60 * REPORT_AGE:
        return ""
    return (
        f"Nothing was started: the report that asks for this run is of {written}, and arrived at {received}. A report counts for {REPORT_AGE} "
        "minutes, as an older one may be a copy that somebody has sent again. If the network or the rulebook was "
        "down, nothing has to be done: the next report or the schedule of maintain handles events that are still there. If it was not, compare "
        "the clocks of the controller and of the machine."
    )


def _moment(text: Any) -> datetime.datetime:
    return datetime.datetime.strptime(str(text), "%Y-%m-%dT%H:%M:%SZ")
