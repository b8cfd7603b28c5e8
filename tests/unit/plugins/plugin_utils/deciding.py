# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run of role maintain, as its task keeps it; host web1 is the VM vm1."""

from __future__ import annotations

import types

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import run

# As a template of an old ansible-core hands them over: numbers and truth values are texts.
OPTIONS = {
    "policy": DEFAULT_POLICY,
    "margin": "60",
    "allow_unknown": "False",
    "prepare_before": "3600.0",
    "on_failure": "revert",
    "recover_timeout": "900",
    "max_unavailable": "50%",
    "max_domains": "0",
    "settle": "0",
    "hold": "wait",
}
SAME = {"event_timeout": "3600", "rounds": "1", "wait_timeout": "1000"}


def facts(host, **more):
    given = {
        "host": host,
        "scope": "web",
        "resource_name": "",
        "is_linux": "True",
        "group": "",
        "steps": "1",
        "needs": "60.0",
    }
    return dict(given, options=OPTIONS, same=SAME, task_seconds="0", **more)


def of_hosts(variables, **others):
    """The variables of a task, with those of each host."""
    return {"hostvars": types.SimpleNamespace(raw_get=variables.__getitem__), **others}


def begun(*hosts):
    return run.begun([facts(host) for host in hosts], "", False)


def ticked(record, answers):
    """The record after its calls were made, and these answers have come."""
    said = run.Announced(record)
    run_record.sent(record)
    run.move_on(record, answers)
    said.go_on()
    return record
