# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at a step that others do: which modules of Ansible's it has called, and what is asked about what came back. A module that goes on
in the background is begun once, and looked at until it has ended.

Private to this collection.

Ansible keeps a file of each such job where it runs, with the command line and its output, and leaves it there. Reading and
removing it is a start of PowerShell each. So that of a step with secrets is removed at once, any other one with the file of its
inverse: not before the machine is approved, when it costs time that others wait for.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, TypeGuard

from ...module_utils._steps.step_type import Step, TaskResult
from .elsewhere import AtHand, Outcome, has_ended


class Order(NamedTuple):
    """One call of a module."""

    use: str
    options: Mapping[str, Any]
    lasts: int = 0
    """Seconds that it may go on in the background, as a job that Ansible keeps there; 0 where the call is to end by itself."""
    environment: Mapping[str, str] = {}
    ok_codes: Sequence[int] | None = None
    """Exit codes with which a command has succeeded."""
    failure_answers: bool = False
    """Whether a failure is an answer like others, such as that of a server which is not ready yet."""
    of: str = ""
    """The module whose result this call returns in the end, where it is another one."""


Call = Callable[[Order], TaskResult]
"""Has it called: the module's result, or under ``went_wrong`` one that is a failure."""


class Seen(NamedTuple):
    """What a look has seen."""

    result: TaskResult
    about: Sequence[str] = ()
    """What is asked about it, in words of the step's type; none where only success counts."""
    job: Any = None
    """What the next look at it has to know."""


class Way(NamedTuple):
    """How a type of step is done by Ansible's modules."""

    look: Callable[[AtHand, Any, Call], Seen]
    """Begins the step at hand, or sees how far it is. Gets the job of the look before; None where there was none."""
    before: Callable[[Step, Call], TaskResult] | None = None
    """Asks for the state, the initial one and that of the second look; None where neither matters."""


def part_of(hand: AtHand) -> Any:
    """What the user wrote under ``do`` or ``undo``."""
    return hand["step"].get(hand["direction"]) or {}


def seconds_of(hand: AtHand) -> int:
    """The whole seconds that are left to it."""
    return max(1, int(hand["left"]))


def options(**given: Any) -> dict[str, Any]:
    """The options of a module, without those that are None."""
    return {name: value for name, value in given.items() if value is not None}


def all_of(results: Sequence[TaskResult]) -> TaskResult:
    """Several calls as one result."""
    return {"results": list(results)} if results else {}


def went_well(result: TaskResult) -> bool:
    """Whether nothing of it went wrong."""
    return not any("went_wrong" in one for one in [result, *result.get("results", ())])


STATUS = "ansible.builtin.async_status"


def proven(call: Call, proofs: Mapping[str, str]) -> Call:
    """The same calls, where a result has failed that does not say what was done: a module may end early, and its answer be cut short.

    :arg proofs: by the name of a module the field that it returns when it has done its work
    """

    def proven_call(order: Order) -> TaskResult:
        came = call(order)
        field = _missing_proof(order, came, proofs.get(order.of or order.use, ""))
        if not field:
            return came
        words = f"{order.of or order.use} returned no {field}, so it is not known whether it succeeded"
        return {"changed": bool(came.get("changed")), "went_wrong": {**came, "failed": True, "msg": words}}

    return proven_call


def _missing_proof(order: Order, came: TaskResult, proof: str) -> str:
    """The field that a result lacks; "" where it lacks none. What counts a failure as an answer is asked about it."""
    if "went_wrong" in came or came.get("skipped") or order.failure_answers:
        return ""
    goes_on = order.lasts or (order.use == STATUS and not has_ended(came))
    field = "ansible_job_id" if goes_on else proof
    return field if field and came.get(field) in (None, "", {}) else ""


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
        if "went_wrong" in began:
            return Seen(began)
        job = Job(jid=began["ansible_job_id"], is_over=False, failed=None)
    came = call(Order(STATUS, {"jid": job["jid"]}, ok_codes=hand["step"].get("ok_codes", [0]), of=order.use))
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


FOLDER = pathlib.Path(__file__).parents[3] / "roles" / "drain" / "files"


def script(name: str, **parameters: Any) -> Order:
    """One look of a script."""
    text = (FOLDER / name).read_text(encoding="ascii").rstrip()
    options = {"script": text, "parameters": dict(parameters, Limit=1), "error_action": "stop"}
    return Order("ansible.windows.win_powershell", options)
