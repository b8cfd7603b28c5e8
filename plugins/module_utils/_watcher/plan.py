# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of an outage whose events may be of several types: those of all of them, each once. Pure.

Private to this collection.
"""

from typing import Dict, List, Mapping, Sequence, Tuple

from .._steps.step_type import Step

HOOKS = ("prepare_hook", "recover_hook")


def steps_of(steps: Mapping[str, Sequence[Step]], kinds: Sequence[str]) -> Tuple[Step, ...]:
    """What is done for events of these types: first the hooks, by name, then the other steps in the user's order.

    :arg steps: by type in lower case; under "" those of any other
    """
    found: Dict[str, Step] = {}
    for kind in kinds or ("",):
        for step in steps.get(kind, steps.get("", ())):
            found.setdefault(step["key"], step)
    hooks: List[Step] = [step for step in found.values() if step["type"] in HOOKS]
    hooks.sort(key=lambda step: (step["name"], step["key"]))
    return (*hooks, *(step for step in found.values() if step["type"] not in HOOKS))
