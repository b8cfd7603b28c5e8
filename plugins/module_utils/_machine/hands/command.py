# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``command`` on this machine.

Private to this collection.
"""

import glob
import os
import re
from typing import Any, Dict, Mapping

from ..._steps.outcome import exit_words, kept_back
from ..._steps.step_type import Step
from ..hand import DONE, FAILED, Piece, Progress
from ..job_hand import JobHand, answer, encoded
from ..keeper import Work
from ..own_processes import become, set_environment

_VARIABLE = re.compile(r"\$(?:(\w+)|\{([^}]*)\})", re.ASCII)


class CommandHand(JobHand):
    """Runs a command, and another one to take it back."""

    def work(self, piece: Piece) -> Work:
        step = piece.step

        def run() -> Dict[str, Any]:
            set_environment(step["environment"])
            if step.get("chdir"):
                os.chdir(encoded(_path(step["chdir"], os.environ)))
            if step.get("creates"):
                there = bool(glob.glob(encoded(_path(step["creates"], os.environ))))
                if there == (piece.direction == "do"):
                    said = "exists" if there else "does not exist"
                    return answer(DONE, "" if step["no_log"] else f"skipped, since {step['creates']} {said}")
            # As ansible.builtin.command has it: no shell, but ~ and variables
            argv = [_path(argument, os.environ) for argument in step[piece.direction]["argv"]]
            return become(argv)

        return run

    def lacks(self, step: Step) -> str:
        return lacking(step, os.environ.get("PATH", "")) or super().lacks(step)

    def judged(self, piece: Piece, result: Dict[str, Any]) -> Progress:
        if result["rc"] in piece.step["ok_codes"]:
            return Progress(DONE)
        if piece.step["no_log"]:
            return Progress(FAILED, kept_back(f" with {result['rc']}"))
        return Progress(FAILED, exit_words(result))


def lacking(step: Step, path: str) -> str:
    """The folder or the program of a command that is not on this machine, as a clause; "" when all is there.

    :arg path: where programs are looked for, where the step does not say
    """
    import shutil  # takes time to import, and few calls need it

    environment = {**os.environ, "PATH": path, **(step.get("environment") or {})}  # as it is run
    folder = _path(step["chdir"], environment) if step.get("chdir") else ""
    if folder and not os.path.isdir(folder):
        return f"this machine has no folder {folder}"
    for direction in ("do", "undo"):
        program = _path(step[direction]["argv"][0], environment) if (step.get(direction) or {}).get("argv") else ""
        where = os.path.join(folder, program) if "/" in program else program
        if program and not shutil.which(where, path=environment["PATH"] or path):
            return f"this machine has no program {program}"
    return ""


def _path(text: str, environment: Mapping[str, str]) -> str:
    """A text with the variables of an environment, and ~, in their places."""

    def value(found: Any) -> str:
        return str(environment.get(found.group(1) or found.group(2), found.group()))

    expanded = _VARIABLE.sub(value, text)
    home = environment.get("HOME")
    if home and (expanded == "~" or expanded.startswith("~/")):
        return home.rstrip("/") + expanded[1:] or "/"
    return os.path.expanduser(expanded)  # that of another user, or where the environment names no home
