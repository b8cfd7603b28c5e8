# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a run of role maintain begins: stops one that can't do its work, and says what a person should know before it waits.

Changes nothing, and asks no machine: what they answered is in the variables of their hosts.

Private to this collection.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from ansible.plugins.action import ActionBase
from ansible.plugins.loader import strategy_loader

from ..module_utils._clock import steady
from ..plugin_utils._ansible import plain
from ..plugin_utils._forks import load_filters, look_up_sources
from ..plugin_utils._notify.notifications import refused_receivers
from ..plugin_utils._preflight import Asked, errors, table, warnings
from ..plugin_utils._variables import Unknown, known_variables, named, refused, unknown_of_play

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    part=dict(type="str", choices=["play", "names", "host", "machines"], required=True),
    balancers=dict(type="list", elements="dict", default=[]),
    delegates=dict(type="list", elements="dict", default=[]),
)

load_filters()
look_up_sources()


class ActionModule(ActionBase):
    _supports_check_mode = True
    _requires_connection = False

    def run(self, tmp=None, task_vars=None):
        task_vars = task_vars or {}
        found = dict(super().run(tmp, task_vars), changed=False)
        del tmp  # has had no effect for long
        options = self.validate_argument_spec(ARGUMENTS)[1]
        if options["part"] == "machines":
            return dict(found, **self._machines(task_vars, options))
        hosts = [task_vars["inventory_hostname"]] if options["part"] == "host" else task_vars["ansible_play_hosts_all"]
        problems = refused(self._unknown(task_vars, hosts))
        if options["part"] == "play":
            problems += strategy_problems(strategy_of(self._task))
            problems += refused_receivers(plain(self._templar.template(task_vars.get("maintain_notify"))))
        if problems:
            return dict(found, failed=True, msg=" ".join([*problems, "Nothing was changed."]))
        return found

    def _unknown(self, task_vars: Mapping[str, Any], hosts: Iterable[str]) -> list[Unknown]:
        """Variables of these hosts and of the play that look like ours and are none."""
        variables = {host: task_vars["hostvars"].raw_get(host) for host in hosts}
        return unknown_of_play(task_vars, variables, known_variables(self._loader.load_from_file))

    def _machines(self, task_vars: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
        record, at = plain(task_vars["__maintain_record"]), steady()
        # Not templated: what is needed of them was set by tasks, and needs it no more.
        variables = {host: task_vars["hostvars"].raw_get(host) for host in record["hosts"]}
        asked = {host: _asked(plain(found)) for host, found in variables.items()}
        balancers = [dict(_came(one), place=one["__maintain_place"]) for one in options["balancers"]]
        delegates = [dict(_came(one), host=one["__maintain_delegate"]["host"]) for one in options["delegates"]]
        lines = table(record, asked, at)
        said = warnings(record, asked, int(task_vars["ansible_forks"]), balancers, delegates, at)
        said += named(self._unknown(task_vars, variables))
        # Of the former nothing is left when the task is over: Ansible has shown them.
        result = {"warnings": said, "findings": list(said)}
        failures = errors(record, asked, is_there)
        if failures:
            return dict(result, failed=True, msg=" ".join(failures), machines=lines)
        return dict(result, msg=lines, _ansible_verbose_always=True)


def _came(one: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a round of action ``elsewhere`` brought."""
    found: Mapping[str, Any] = one.get("went_wrong") or one
    return found


def _asked(variables: Mapping[str, Any]) -> Asked:
    answers = (variables.get("__drain_answer") or {}).get("answers") or ()
    return Asked(
        steps=variables["__drain_plan"]["steps"],
        ready=next((answer for answer in answers if "lacks" in answer), None),
    )


# ---- what the controller itself says ----


def strategy_of(task: Any) -> str:
    """The strategy of the play that a task is in."""
    parent = task
    while parent is not None and getattr(parent, "_play", None) is None:
        parent = parent._parent
    return str(parent._play.strategy) if parent else "linear"


def strategy_problems(strategy: str) -> list[str]:
    """Why a run can't be played so, in a sentence: it has to go from task to task with all hosts, as those strategies do that are made out of
    Ansible's own."""
    kind = strategy_loader.get(strategy, class_only=True)
    if kind is None or any(base.__module__ == "ansible.plugins.strategy.linear" for base in kind.__mro__):
        return []
    return [
        f"Role maintain needs the strategy linear, and this play has {strategy}: all machines have to go from task to task together. "
        "Write `strategy: linear` into the play (else ansible.cfg or ANSIBLE_STRATEGY says which one it is)."
    ]


def is_there(collection: str) -> bool:
    """Whether a collection is installed where Ansible searches."""
    try:
        importlib.import_module(f"ansible_collections.{collection}")
    except ImportError:
        return False
    return True
