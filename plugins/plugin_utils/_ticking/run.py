# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run of role maintain, as the actions ``decide`` and ``tick`` keep it: begun, and moved on by the answers of a tick.

Private to this collection.

It is a variable that all hosts of the play have in common, as are the answers, each in those of its host.
"""

from __future__ import annotations

import platform
import secrets
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ansible.utils.display import Display

from ...module_utils._clock import steady
from ...module_utils._core.mark_view import is_made_for_azure
from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import listed
from .._ansible import plain
from .._drain import orders, own_tasks
from .._fleet import record as run_record
from .._fleet.result import news
from .._fleet.schema import Record, RunOptions
from .._notify.notifications import tell

SILENT = "Its task returned nothing that could be read."


def checked(number: int | None, answer: Mapping[str, Any], silent: str = SILENT) -> dict[str, Any]:
    """The answer, or as ``lost`` why there is none.

    :arg number: of the call; before ansible-core 2.19 that of an answer may be a text
    """
    if answer.get("lost") or str(answer.get("number")) != str(number):
        return {"lost": answer.get("lost") or answer.get("msg") or silent}
    return dict(answer)


RECORD = "__maintain_record"
FOUND = "__maintain_found"
"""The variable of what is known of a host when a run begins."""
LEFT = "It has left the play: after an error of its own, which is shown above, or by a meta task such as end_host."
_KEYS = frozenset(Record.__annotations__)

Variables = Mapping[str, Any]
"""Of the task, as Ansible hands them to an action."""


def begun(task_vars: Variables, given: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a run that has a name of its own; or, where its options contradict each other, why it does not begin.

    :arg given: ``members``, the hosts that it answers for; ``check``, whether it only shows what it would do; ``job``, in AWX
    """
    hosts = [plain(_of_host(task_vars, host)[FOUND]) for host in given["members"]]
    run: RunOptions = {
        "run": f"run-{secrets.token_hex(4)}",
        "job": given["job"],
        "controller": platform.node(),
        "check": given["check"],
    }
    try:
        return dict(run_record.begun(hosts, run, steady(), time.time()), changed=False)
    except ScheduledEventsError as error:
        return dict(failed=True, msg=error.message)


Notify = Callable[[], Any]
"""Returns whom to notify (maintain_notify)."""


def ticked(task_vars: Variables, notify: Notify) -> dict[str, Any]:
    """The record after a tick, by what the machines answered that were called in it, with what others did for them."""
    record, present = _record(task_vars), task_vars["ansible_play_batch"]
    variables = {host: _of_host(task_vars, host) for host in record["todo"]["calls"] if host in present}
    return _decided(record, lambda: answers(record, variables), notify)


def decided(task_vars: Variables, answered: Mapping[str, Mapping[str, Any]], notify: Notify) -> dict[str, Any]:
    """The same, of a tick in which these machines have just returned these results."""
    record = _record(task_vars)
    calls = record["todo"]["calls"]
    brought = {host: checked(calls[host]["number"], came) for host, came in answered.items()}
    return _decided(record, lambda: brought, notify)


def unchanged(task_vars: Variables) -> dict[str, Any]:
    """The record, of a task that has nothing to do."""
    return dict(_record(task_vars), changed=False, skipped=True)


def waits_with(task_vars: Variables) -> bool:
    """Whether the run waits with the task's host alone."""
    record = task_vars[RECORD]
    return not record["finished"] and bool(record["todo"]["alone"] == task_vars["inventory_hostname"])


def _record(task_vars: Variables) -> Record:
    """Without what Ansible has added to the result of the task that returned it."""
    return cast("Record", {key: plain(value) for key, value in task_vars[RECORD].items() if key in _KEYS})


def _of_host(task_vars: Variables, host: str) -> Variables:
    """Not templated: what is needed of them was set by tasks, and needs it no more."""
    variables: Variables = task_vars["hostvars"].raw_get(host)
    return variables


def _decided(record: Record, bring: Callable[[], Mapping[str, Mapping[str, Any]]], notify: Notify) -> dict[str, Any]:
    try:
        return dict(moved_on(record, bring(), notify), changed=False)
    except Exception as error:  # the record stays: whoever recovers the machines after a failure goes by it
        words = f"The run could not be decided on ({type(error).__name__}: {error})."
        return dict(record, changed=False, failed=True, msg=words, exception=traceback.format_exc())


def moved_on(record: Record, answered: Mapping[str, Mapping[str, Any]], notify: Notify = list) -> Record:
    """The record after a tick, when the next one is due. What is new is printed at once, under whatever callback."""
    after = run_record.ticked(record, answered, steady(), time.time())
    marked = _marked(after)
    if marked and not _marked(record):
        Display().display(_first_mark_words(after, marked))
    for line in news(record, after):
        Display().display(line)
    tell(record, after, notify)
    if not after["finished"]:
        time.sleep(after["todo"]["seconds"])
    return after


def answers(record: Record, variables: Mapping[str, Variables]) -> dict[str, dict[str, Any]]:
    """What the machines answered that were called in this tick, with what others did for them.

    :arg variables: of those that are still in the play
    """
    return {
        host: _answer(record, host, variables[host]) if host in variables else {"lost": LEFT, "left": True}
        for host in record["todo"]["calls"]
    }


def _marked(record: Record) -> list[str]:
    """The hosts that are marked by this run."""
    run = record["run"]["run"]
    return [
        host
        for host, machine in record["hosts"].items()
        if machine["mark"] and (machine["mark"].get("holder") or {}).get("run") == run
    ]


_FOLDERS = ((True, "/var/lib/azure-maintenance"), (False, r"%ProgramData%\AzureMaintenance"))


def _first_mark_words(record: Record, marked: Sequence[str]) -> str:
    """Said while it can be said: nothing runs after an interruption."""
    is_real = all(is_made_for_azure(record["hosts"][host]["mark"] or {}) for host in marked)
    rehearsed = (
        "" if is_real else " (A rehearsal does not: rehearse with -e rehearse_state=absent recovers its machines.)"
    )
    systems = {record["hosts"][host]["is_linux"] for host in marked}
    folders = [folder for is_linux, folder in _FOLDERS if is_linux in systems]
    return (
        f"{listed(marked)}: taken out of service from here on, with the mark of {record['run']['run']} (mark.json in "
        f"{' and '.join(folders)}, or in azure_maintenance_folder). If this run is interrupted, begin the same command again: it "
        f"goes on by the marks.{rehearsed} Playbook cloudops.azure_maintenance.status shows them."
    )


def _answer(record: Record, host: str, variables: Variables) -> dict[str, Any]:
    answer = checked(record["todo"]["calls"][host]["number"], plain(variables.get("__drain_answer") or {}))
    if answer.get("lost"):
        return answer
    # Nothing else of it: in that of an empty loop ansible-core 2.19 warns of a key of its own, as soon as that is read.
    rounds = plain((variables.get("__drain_did") or {}).get("results") or [])
    if not rounds and not answer.get("elsewhere"):
        return answer
    steps, failure = plain(variables["__drain_plan"]["steps"]), plain(variables.get("__drain_failure") or {})
    allowed = host in record["todo"]["tasks_allowed"]
    jobs = record["hosts"][host]["jobs"]
    own = own_tasks.came(answer, steps, jobs, allowed, failure)
    return orders.with_others(answer, steps, rounds, own, jobs)
