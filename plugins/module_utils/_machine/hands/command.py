# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``command`` on this machine.

Private to this collection.
"""

import glob
import os
from typing import Any, Dict

from ..._steps.outcome import exit_words, kept_back
from ..hand import DONE, FAILED, Piece, Progress
from ..job_hand import JobHand, answer, become, encoded
from ..keeper import Work


class CommandHand(JobHand):
    """Runs a command, and another one to take it back."""

    def work(self, piece: Piece) -> Work:
        step = piece.step

        def run() -> Dict[str, Any]:
            os.environb.update({encoded(name): encoded(value) for name, value in step["environment"].items()})
            if step.get("chdir"):
                os.chdir(encoded(_path(step["chdir"])))
            if step.get("creates"):
                there = bool(glob.glob(encoded(_path(step["creates"]))))
                if there == (piece.direction == "do"):
                    said = "exists" if there else "does not exist"
                    return answer(DONE, "" if step["no_log"] else f"skipped, since {step['creates']} {said}")
            # As ansible.builtin.command has it: no shell, but ~ and variables
            argv = [_path(argument) for argument in step[piece.direction]["argv"]]
            return become(argv)

        return run

    def judged(self, piece: Piece, result: Dict[str, Any]) -> Progress:
        if result["rc"] in piece.step["ok_codes"]:
            return Progress(DONE)
        if piece.step["no_log"]:
            return Progress(FAILED, kept_back(f" with {result['rc']}"))
        return Progress(FAILED, exit_words(result))


def _path(text: str) -> str:
    return os.path.expanduser(os.path.expandvars(text))
