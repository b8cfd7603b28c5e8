# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Between the tasks of a tick and its decision: the run's name, the answers out of the hosts' variables, what is said, the rest.

Private to this collection.
"""

from __future__ import annotations

import platform
import secrets
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ansible.utils.display import Display

from ..module_utils._clock import steady
from ..module_utils._core.mark_endpoint import is_made_for_azure
from ..module_utils._text import listed
from ._deciding import happened
from ._deciding.news import news
from ._deciding.schema import Record
from ._drain import orders, own_tasks
from ._filter import plain
from ._notify.telling import tell

LEFT = "It has left the play: after an error of its own, which is shown above, or by a meta task such as end_host."
SILENT = "Its task returned nothing that could be read."


def load() -> None:
    """Nothing: whoever calls it has loaded this room."""


def begun(hosts: Sequence[Mapping[str, Any]], check: Any, job: Any) -> Record:
    """A record of a run that has a name of its own."""
    run = {"run": f"run-{secrets.token_hex(4)}", "job": job, "controller": platform.node(), "check": check}
    return happened.begun(hosts, run, steady())


def answers(
    record: Mapping[str, Any], hostvars: Mapping[str, Any], present: Collection[str]
) -> dict[str, dict[str, Any]]:
    """What the machines answered that were called in this tick, with what others did for them."""
    return {host: _answer(record, hostvars, host, present) for host in record["todo"]["calls"]}


def ticked(record: Record, answered: Mapping[str, Mapping[str, Any]], notify: Callable[[], Any] = list) -> Record:
    """The record after the tick, when the next one is due. What is new is said at once, under whatever callback.

    :arg notify: returns whom to notify (maintain_notify)
    """
    after = happened.after(record, answered, steady())
    marked = _marked(after)
    if marked and not _marked(record):
        Display().display(_first_mark_words(after, marked))
    for line in news(record, after):
        Display().display(line)
    tell(record, after, notify)
    if not after["finished"]:
        time.sleep(after["todo"]["seconds"])
    return after


def _marked(record: Record) -> list[str]:
    """The hosts that bear a mark of this run."""
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


def _answer(
    record: Mapping[str, Any], hostvars: Mapping[str, Any], host: str, present: Collection[str]
) -> dict[str, Any]:
    if host not in present:
        return {"lost": LEFT, "left": True}
    variables = hostvars[host]
    answer = checked(record["todo"]["calls"][host], variables.get("__maintain_answer") or {})
    if answer.get("lost"):
        return answer
    # Nothing else of it: in that of an empty loop ansible-core 2.19 warns of a key of its own, as soon as that is read.
    rounds = (variables.get("__maintain_did") or {}).get("results")
    if not rounds and not answer.get("elsewhere"):
        return answer
    steps, failure = plain(variables["__drain_plan"]["steps"]), plain(variables.get("__drain_failure") or {})
    allowed = host in record["todo"]["tasks_allowed"]
    jobs = record["hosts"][host]["jobs"]
    own = own_tasks.came(answer, steps, jobs, allowed, failure)
    return orders.with_others(answer, steps, plain(rounds or []), own, jobs)


def checked(call: Mapping[str, Any], answer: Mapping[str, Any]) -> dict[str, Any]:
    """What a task returned that called a machine, if that is an answer to this call; else as ``lost`` why there is none."""
    if answer.get("lost") or str(answer.get("number")) != str(call["number"]):
        return {"lost": answer.get("lost") or answer.get("msg") or SILENT}
    return dict(answer)
