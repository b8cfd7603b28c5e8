# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of role drain: all of its hosts are prepared, or recovered.

Private to this collection.

Where the user's own task files are due, it returns ``own``, and is to be gone through once more after them; else ``finished``. What has come of
each host is in ``hosts``. It never fails: with run_once that would be a failure of hosts that take no part, too.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._clock import steady
from .._drain import alone
from .._lines.reach import variables_of
from .._variables import refused
from . import between_entries, handlers, taking_part
from .calls import Calls
from .drain_options import drained
from .drain_run import Drained, DrainRun
from .given import unknown
from .machine_line import lines_to

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    list=dict(type="str", choices=["prepare", "recover"], required=True),
    # What the task returned before, of hosts that go on
    before=dict(type="dict"),
)


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """
    :arg action: of the task
    """
    before = arguments["before"]
    if before:
        kept = between_entries.kept(task_vars, before)
        hosts = {host: Drained.kept(one) for host, one in kept.data["hosts"].items()}
        run = DrainRun(hosts, kept.data["records"], kept)
    else:
        hosts = _hosts(action, task_vars, arguments["list"], taking_part.who_takes_part(task_vars))
        run = DrainRun(hosts)
    with lines_to(action, task_vars, {host: one.plan for host, one in hosts.items()}) as lines:
        own = run.go_on(Calls(lines, hosts))
    topic = handlers.PREPARED if arguments["list"] == "prepare" else handlers.RECOVERED
    done = [host for host, one in run.records.items() if one["finished"] and one["result"]["ok"]]
    found = dict(
        changed=False,
        finished=not own,
        ended=steady(),
        hosts={host: _said(one) for host, one in run.records.items()},
        topics=handlers.of_hosts(action._task, topic, done),
    )
    if own:
        name = f"drain-{secrets.token_hex(4)}"
        found.update(
            between_entries.returned(name, own, {"hosts": hosts, "records": run.records}, run.answers, run.left)
        )
    return found


def _said(record: alone.Record) -> dict[str, Any]:
    return {"result": record["result"], "show": record["show"], "fail": record["fail"] or not record["finished"]}


def _hosts(action: Any, task_vars: Mapping[str, Any], name: str, hosts: Iterable[str]) -> dict[str, Drained]:
    found: dict[str, Drained] = {}
    for host in hosts:
        variables = variables_of(action, task_vars, host)
        trouble = ""
        if name == "prepare":  # to recover a machine must not fail for a slip
            problems = refused(unknown(action, task_vars, [host], variables))
            trouble = " ".join([*problems, "Nothing was changed."]) if problems else ""
        found[host] = drained(action, host, name, variables, trouble)
    return found
