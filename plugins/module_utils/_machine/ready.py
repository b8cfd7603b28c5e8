# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a machine could be taken out of service, as far as a look shows: its mark, its own steps. Changes nothing.

Private to this collection.
"""

from typing import Any, Dict, Sequence

from .._clock import Deadline
from .._steps.step_type import Step
from .._text import one_line
from .program import Parts

SECONDS = 3.0  # in which it looks at steps: others wait for the call


def ready(steps: Sequence[Step], parts: Parts) -> Dict[str, Any]:
    """What speaks against it.

    :return: ``mark``, why it could not be written, and ``lacks``, what its own steps lack, by their keys; and beside these
        ``wall``, the time of day here
    """
    asking = Deadline(parts.clock, SECONDS)
    lacks: Dict[str, str] = {}
    for step in steps:
        if step["elsewhere"]:
            continue
        try:
            why = "no time was left to look at it" if asking.passed() else parts.hand_of(step).lacks(step)
        except Exception as error:  # a look must not keep a run from what it can do
            why = f"it could not be looked at: {one_line(error, 300) or type(error).__name__}"
        if why:
            lacks[step["key"]] = why
    return {"mark": parts.store.unwritable(), "lacks": lacks, "wall": parts.clock.wall()}
