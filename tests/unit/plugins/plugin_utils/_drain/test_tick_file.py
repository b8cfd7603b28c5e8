# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tasks a tick consists of, by the steps of the hosts that run side by side."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.filter.drain_tick import drain_tick
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.tick_file import tick_file
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ticking import alone
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._drain.test_drain_plan import (
    COMMAND,
    CONNECTIONS,
    HAPROXY,
    HTTP,
    ROOT,
    SERVICE,
    TASKS,
    host,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.deciding import of_hosts

OWN = [SERVICE, COMMAND, HTTP, CONNECTIONS]
DELEGATED = {**COMMAND, "delegate_to": "lb1"}
OPTIONS = {
    "host": "web1",
    "list": "prepare",
    "budgets": {},
    "job": "",
    "whose": "",
    "unmarked": False,
    "check_mode": False,
    "may_fail": False,
}
CHOICES = pytest.mark.parametrize(
    "steps, verify, name",
    [
        ([], [], "ticks"),
        (OWN, [], "ticks"),
        ([*OWN, HAPROXY], [], "ticks_with_others"),
        ([*OWN, DELEGATED], [], "ticks_with_others"),
        ([TASKS], [], "ticks_with_own_tasks"),
        ([*OWN, HAPROXY, TASKS], [], "ticks_with_own_tasks"),
        (OWN, ["after.yml"], "ticks_with_own_tasks"),
    ],
    ids=["nothing", "machine", "load balancer", "delegate", "own tasks", "all", "verification"],
)


def plan(steps, verify=()):
    made = make_plan(steps, host(), verify)
    assert made["errors"] == []
    return made


def begun(**plans):
    """The record of web1, beside other hosts; a host whose plan is None has not taken part in the role yet."""
    variables = {name: {} if made is None else {alone.PLAN: made} for name, made in plans.items()}
    task_vars = {**variables["web1"], **of_hosts(variables, ansible_play_batch=list(plans))}
    return alone.begun(task_vars, {**OPTIONS, "budgets": {"prepare": 300.0, "revert": 60.0}})


@CHOICES
def test_a_tick_has_the_tasks_that_the_steps_need(steps, verify, name):
    assert tick_file(plan(steps, verify)["steps"]) == name
    assert (ROOT / "roles" / "drain" / "tasks" / "tick" / f"{name}.yml").is_file()


@CHOICES
def test_both_roles_choose_alike(steps, verify, name):
    assert drain_tick(plan(steps, verify)["steps"], "ticks") == name  # role maintain
    assert begun(web1=plan(steps, verify))["tick_file"] == name


@CHOICES
def test_hosts_side_by_side_have_the_same_file(steps, verify, name):
    """Ansible would run different ones one after the other."""
    assert begun(web1=plan(OWN), web2=plan(steps, verify), web3=None)["tick_file"] == name
