# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps that run what the user has written, and something else to take it back: ``command``, a command; ``tasks``, a file of tasks. The
files that verify are its kin.

Private to this collection.
"""

import os
import shlex
from typing import Any, Dict, Mapping

from .._text import last_line, one_line
from .step_type import (
    BECOME,
    MOST,
    NO_LOG,
    Host,
    Step,
    StepError,
    StepType,
    TaskResult,
    Words,
    exit_words,
    has_run,
    kept_back,
    kind_of,
)


def _complete_command(step: Step, host: Host, system: str) -> Words:
    texts = {}
    for direction in ("do", "undo"):
        if step.get(direction):
            step[direction] = _command(step[direction], direction, system)
            texts[direction] = _text(step[direction], step["no_log"])
    if "check" in step:
        _complete_check(step, system)
    step["environment"] = {str(key): str(value) for key, value in step["environment"].items()}
    words = {direction: f"run {text}" for direction, text in texts.items()}
    return Words(texts.get("do") or texts["undo"], words.get("do", ""), words.get("undo", ""))


def _complete_check(step: Step, system: str) -> None:
    step["check"] = _command(step["check"], "check", system)
    if not step.get("do"):
        raise StepError("check asks whether what do has done still stands, and the step has no do")
    if step.get("creates"):
        raise StepError("check and creates don't go together: where the path exists, do would not be done again")


def _command(value: Any, key: str, system: str) -> Dict[str, Any]:
    """A command as the modules want it: ``{"argv": [...]}``; a Windows command line stays as it is: ``{"cmd": "..."}``"""
    if isinstance(value, str):
        if system == "windows" and value.strip():
            return {"cmd": value}
        try:
            argv = shlex.split(value)
        except ValueError as error:
            raise StepError(f"{key} can't be split into arguments: {error}") from error
    elif isinstance(value, (list, tuple)) and not any(isinstance(part, (list, tuple, Mapping)) for part in value):
        argv = [str(part) for part in value]
    else:
        raise StepError(f"{key} is {kind_of(value)}, not a command line or a list of arguments")
    if not argv or not argv[0]:
        raise StepError(f"{key} names no program")
    return {"argv": argv}


def _text(command: Mapping[str, Any], no_log: bool) -> str:
    if "cmd" in command:
        return "a command" if no_log else str(command["cmd"])
    return str(command["argv"][0]) if no_log else " ".join(shlex.quote(part) for part in command["argv"])


def _timed_out(result: TaskResult) -> bool:
    """The program ``timeout``, which the command runs under on Linux, ended it."""
    return result.get("rc") == 124 and "timeout" in str(result.get("cmd", ""))


CHECK_LASTS = 4
"""Seconds that a check may take where Ansible's modules run it on Linux."""


def _has_check(step: Mapping[str, Any]) -> bool:
    return bool(step.get("check"))


def checked(step: Step, result: TaskResult) -> Dict[str, Any]:
    """What the second look finds, by how the check ended."""
    return {"rc": result["rc"], "words": f"exit code {result['rc']}" if step["no_log"] else exit_words(result)}


def _checked_elsewhere(step: Step, result: TaskResult) -> Dict[str, Any]:
    if _timed_out(result):
        raise StepError(f"its check gave no answer: it did not end within {CHECK_LASTS} s")
    if not has_run(result):
        words = (
            kept_back()
            if step["no_log"]
            else last_line(result.get("stderr"), MOST) or one_line(result.get("msg"), MOST)
        )
        raise StepError(f"its check gave no answer: {words or 'no reason was given'}")
    return checked(step, result)


def _holds(step: Step, found: Mapping[str, Any]) -> str:
    return f"its check ended with {found['words']}" if found["rc"] else ""


COMMAND = StepType(
    name="command",
    options={
        "do": {"type": "raw"},
        "undo": {"type": "raw"},
        "check": {"type": "raw"},
        "creates": {"type": "str"},
        "chdir": {"type": "str"},
        "environment": {"type": "dict", "default": {}},
        "ok_codes": {"type": "list", "elements": "int", "default": [0]},
        "become": BECOME,
        "delegate_to": {"type": "str"},
        "no_log": NO_LOG,
    },
    complete=_complete_command,
    one_of=("do", "undo"),
    initial_state=_checked_elsewhere,
    holds=_holds,
    can_look=_has_check,
    asks_slowly=True,
    by_itself=True,
    in_background=True,
    timed_out=_timed_out,
)


def _complete_tasks(step: Step, host: Host, system: str) -> Words:
    words = {}
    subjects = {}
    for direction in ("do", "undo"):
        path = step.get(direction)
        if path:
            words[direction] = f"run the tasks of {path}"
            subjects[direction] = os.path.basename(path)
            step[direction] = _found(path, f"the file of {direction}", host)
    return Words(subjects.get("do") or subjects["undo"], words.get("do", ""), words.get("undo", ""))


def _complete_verification(step: Step, host: Host, system: str) -> Words:
    path = step["undo"]
    step["undo"] = _found(path, "the file", host)
    return Words(os.path.basename(path), "", f"run the tasks of {path}")


def _found(path: str, what: str, host: Host) -> str:
    found = host.find_file(path)
    if not found:
        raise StepError(f"{what} is not there: {path}")
    return found


TASKS = StepType(
    name="tasks",
    options={"do": {"type": "str"}, "undo": {"type": "str"}},
    own=True,
    complete=_complete_tasks,
    one_of=("do", "undo"),
)

VERIFICATION = StepType(
    name="verify",
    options={"undo": {"type": "str", "required": True}},
    own=True,
    complete=_complete_verification,
    undoing="verify",
    closing=True,
)
"""What a file of ``drain_verify_tasks`` is; no step of ``drain_steps`` can be of this type."""
