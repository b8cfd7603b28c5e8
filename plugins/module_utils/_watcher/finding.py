# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of this machine by type of event: its hooks, and the drain steps of its settings.

Private to this collection.
"""

from typing import Callable, Dict, List, Tuple

from .._steps.step_type import Step
from .hooks import PREPARE, RECOVER, Hooks
from .parts import Found
from .settings import Configuration


def found_steps(configuration: Configuration, hooks_of: Callable[..., Hooks] = Hooks) -> Found:
    """What stands ready, and what is wrong with hooks: one that is refused is said, and the others run.

    A recover hook that is refused, or missing, is among the steps all the same.
    """
    wishes = {key: {"limit": one.limit, "user": one.user} for key, one in configuration.hooks.items()}
    hooks = hooks_of(configuration.hooks_folder, wishes, configuration.hook_limit)
    steps: Dict[str, Tuple[Step, ...]] = {}
    problems: List[str] = list(hooks.unknown().values())
    lacking: Dict[str, Dict[str, str]] = {PREPARE: {}, RECOVER: {}}
    for kind in sorted({"", *hooks.kinds()}):
        here: List[Step] = []
        for phase in (PREPARE, RECOVER):
            found = hooks.found(phase, kind)
            here.extend(found.steps)
            refused = [f"hook {key} is not run: {why}" for key, why in sorted(found.refused.items())]
            problems.extend(f"The {words}" for words in refused)
            if phase == RECOVER:  # a recovery without it would be none: it says why the hook was not run
                here.extend(found.not_run)
            clauses = [*(f"the {words}" for words in refused), *hooks.missing(phase, kind).values()]
            if clauses:
                lacking[phase][kind] = clauses[0]
        steps[kind] = (*here, *configuration.steps)
    return Found(steps, tuple(sorted(set(problems))), lacking[PREPARE], lacking[RECOVER])
