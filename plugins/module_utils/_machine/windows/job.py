# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A job as processes of its own: one keeps it, one does what its order says.

Private to this collection.
"""

import math
import os
import sys
from typing import Any, Dict, List

from ..._text import one_line
from .. import files
from ..hand import Piece
from ..hands.types import make_hands
from ..job import ORDER
from ..job_hand import JobHand
from .jobs import ANSWER, WindowsJobs


def main(arguments: List[str]) -> int:
    """Be one of both; the exit code, which nobody needs."""
    word, folder = arguments
    order = files.read(os.path.join(folder, ORDER))
    if order is None:
        sys.stderr.write(f"{folder} holds no order of a job.\n")
        return 2
    jobs = WindowsJobs(os.path.dirname(folder), order["boot_id"], order["program"], order["grace"])
    if word == "job":
        jobs.keep_ordered(os.path.basename(folder), order)
    else:
        files.replace(os.path.join(folder, ANSWER), _said(jobs, order))
    return 0


def _said(jobs: WindowsJobs, order: Dict[str, Any]) -> Dict[str, Any]:
    """Do the work; what is to be said of it. Where it runs another program, this process ends with that one's exit code."""
    given = order["piece"]
    piece = Piece(**dict(given, elapsed=math.inf if given["elapsed"] is None else given["elapsed"]))
    hand = make_hands(jobs)[piece.step["type"]]
    if not isinstance(hand, JobHand):
        raise TypeError(f"a step of type {piece.step['type']} is no job")
    try:
        return {"answer": hand.work(piece)()}
    except OSError as error:
        return {"problem": one_line(f"{error.filename}: {error.strerror}" if error.filename else error)}
    except Exception as error:  # it is the step's failure, whatever it is
        return {"problem": one_line(error) or type(error).__name__}
