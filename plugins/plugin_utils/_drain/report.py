# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read of role ``drain``: what came of a step, by its task's result, and of a whole run, as ``drain_result``. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from ...module_utils._steps.sequence import after
from ...module_utils._steps.step_type import MOST, Step, TaskResult, exit_words, kept_back, rounds
from ...module_utils._steps.types import type_of
from ...module_utils._text import last_line, one_line


class Report(TypedDict):
    """One entry of ``drain_result.steps``."""

    name: str
    type: str
    ok: bool
    changed: bool
    seconds: float
    message: str


def failed_words(host: str, step: Step, direction: str, why: str, seconds: float) -> str:
    """Why a step failed, with where and when."""
    what = type_of(step["type"]).undoing if direction == "undo" else step["type"]
    return f"{host}, step {step['number']} ({step['name']}), {what}: {why}{after(seconds)}"


def planned_step(name: str, kind: str, words: str) -> Report:
    """The report of a step that check mode left out."""
    return {"name": name, "type": kind, "ok": True, "changed": False, "seconds": 0.0, "message": f"would {words}"}


def lost(step: Step, result: TaskResult) -> str:
    """Which machine was lost on the way, and how; "" when none was."""
    for item in rounds(result):
        if item.get("unreachable"):
            place = type_of(step["type"]).place(step, item)
            reason = f"unreachable: {one_line(item.get('msg'), MOST) or 'the connection was lost'}"
            return f"{place[0]} {reason}" if place else reason
    return ""


def why_failed(step: Step, result: TaskResult) -> str:
    """Why a step failed, by what the task returned that failed."""
    definition = type_of(step["type"])
    gone = lost(step, result)
    if gone:
        return gone
    if _given_up(result):
        return "it did not end within its time, and may still be running there"
    if _cut_off(result) or definition.timed_out(result):
        return "it did not end within its time"
    failure = next((item for item in rounds(result) if item.get("failed")), result)
    if step.get("no_log"):
        code: Any = failure.get("rc", failure.get("status_code", failure.get("status")))
        return kept_back("" if code is None else f" with {code}")
    place = ", ".join(definition.place(step, failure))
    return f"{place}: {explain(failure)}" if place else explain(failure)


def explain(result: TaskResult) -> str:
    """A failed module's result in one line: what it said, and for a command its exit code and its last words."""
    if result.get("rc") is not None and ("cmd" in result or "stdout" in result):
        return exit_words(result)
    errors = result.get("error")
    if isinstance(errors, list) and errors and isinstance(errors[0], Mapping):  # ansible.windows.win_powershell
        details = errors[0].get("error_details") or {}
        return one_line(details.get("message") or errors[0].get("output"), MOST) or "PowerShell failed"
    text = one_line(result.get("msg"), MOST)
    if not text or text.startswith("MODULE FAILURE"):
        text = last_line(result.get("module_stderr"), MOST) or last_line(result.get("exception"), MOST) or text
    return text or "it failed and said nothing"


def _given_up(result: TaskResult) -> bool:
    """Whether Ansible no longer waits for a job in the background, which it does not end on Windows."""
    return "timed out waiting for module completion" in str(result.get("msg", ""))


def _cut_off(result: TaskResult) -> bool:
    """Whether Ansible ended the task: by the keyword ``timeout``, or a job by the limit that it was given."""
    said = str(result.get("msg", ""))
    if said == "Timeout exceeded" and "child_pid" in result:  # a job in the background, which it ends on Linux
        return True
    # ansible-core 2.16 has no ``timedout``
    return bool(result.get("timedout")) or "in the expected time frame" in said


class Result(TypedDict):
    """``drain_result`` or ``drain_recover_result``."""

    ok: bool
    seconds: float
    steps: list[Report]
    failed_step: str
    message: str
    reverted: bool
    revert_errors: list[str]


def result_of_run(reports: Sequence[Report], reverts: Sequence[Report] | None, trouble: str, seconds: float) -> Result:
    """The result of a run.

    :arg reverts: the reports of undoing the steps; None when nothing was undone
    :arg trouble: why steps could not be run at all, whatever they are
    """
    failures = [report for report in reports if not report["ok"]]
    revert_errors = [report["message"] for report in reverts or [] if not report["ok"]]
    sentences = [trouble] if trouble else [report["message"] for report in failures]
    if revert_errors:
        sentences.append(f"Undoing it failed as well: {'. '.join(revert_errors)}")
    elif reverts is not None:
        sentences.append("What was done is undone")
    return {
        "ok": not trouble and not failures,
        "seconds": round(seconds, 1),
        "steps": list(reports),
        "failed_step": failures[0]["name"] if failures else "",
        "message": _joined(sentences),
        "reverted": reverts is not None and not revert_errors,
        "revert_errors": revert_errors,
    }


def result_of_check(reports: Sequence[Report], seconds: float) -> Result:
    """The result of check mode, where the reports say what would be done."""
    result = result_of_run(reports, None, "", seconds)
    result["message"] = "Check mode: nothing was run."
    return result


def _joined(sentences: Sequence[str]) -> str:
    return " ".join(f"{sentence.rstrip('.')}." for sentence in sentences)
