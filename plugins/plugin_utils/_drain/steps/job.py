# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module that goes on in the background: it is begun once, and looked at until it has ended. Pure.

Ansible keeps a file of each such job where it runs, with the command line and its output, and leaves it there. Reading and
removing it is a start of PowerShell each. So that of a step with secrets is removed at once, any other one with the file of its
inverse: not before the machine is approved, when it costs time that others wait for.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypedDict, TypeGuard

from ..elsewhere import AtHand, Outcome, has_ended
from .way import Call, Order, Seen

STATUS = "ansible.builtin.async_status"


class Job(TypedDict):
    """What the next look has to know."""

    jid: str  # Ansible's name of it
    is_over: bool
    failed: Outcome | None  # what came of it then, where it failed; its file is not there to say so again


def followed(hand: AtHand, job: Job | None, call: Call, order: Order) -> Seen:
    """Begin it unless there is a job, and see how far that is."""
    if job and job["is_over"]:
        return Seen({"ansible_job_id": job["jid"], "finished": True}, job=job)
    if job is None:
        began = call(order)
        jid = began.get("ansible_job_id")
        if "went_wrong" in began or jid is None:
            return Seen(began)
        job = Job(jid=jid, is_over=False, failed=None)
    came = call(Order(STATUS, {"jid": job["jid"]}, ok_codes=hand["step"].get("ok_codes", [0])))
    return Seen(came, job=Job(jid=job["jid"], is_over=has_ended(came.get("went_wrong", came)), failed=None))


def is_job(job: Any) -> TypeGuard[Job]:
    """Whether what a look has to know is one of these."""
    return isinstance(job, Mapping) and "is_over" in job


def remove(hand: AtHand, job: Job, earlier: Iterable[Any], call: Call, undoes_it: bool) -> None:
    """Have the files removed that nobody needs any more, when a look has seen that the job is over.

    :arg earlier: what the run has to know of doing the step that is undone now
    :arg undoes_it: whether the run that does a step is also the one that undoes it
    """
    step = hand["step"]
    if undoes_it and hand["direction"] == "do" and step.get("undoes") and not step.get("no_log"):
        return  # with its inverse
    left = [] if step.get("no_log") else [one for one in earlier if is_job(one)]
    for one in [*left, job]:
        call(Order(STATUS, {"jid": one["jid"], "mode": "cleanup"}))  # whatever comes of it
