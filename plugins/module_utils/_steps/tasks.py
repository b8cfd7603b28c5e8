# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``tasks``: runs a file of tasks of the user, and another one to take it back. The files that verify are its kin.

Private to this collection.
"""

import os

from .step_type import Host, Step, StepError, StepType, Words


def _complete(step: Step, host: Host, system: str) -> Words:
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


TYPE = StepType(
    name="tasks",
    options={"do": {"type": "str"}, "undo": {"type": "str"}},
    own=True,
    complete=_complete,
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
