# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of this machine: its hooks, and the drain steps of its settings, by type of event; and those of an outage.

Private to this collection.
"""

from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Tuple

from ..._steps.hook import PHASE_OF
from ..._steps.step_type import Step
from ..._steps.types import CLOSING_HOOKS
from .hooks import Hooks
from .options import Configuration

HOOKS = tuple(PHASE_OF)
CLOSING = tuple(PHASE_OF[kind] for kind in CLOSING_HOOKS)


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


def with_context(steps: Iterable[Step], context: Mapping[str, Any]) -> List[Step]:
    """The steps, of which hooks learn what happened.

    :arg context: a report, in the one JSON form of this collection
    """
    return [dict(step, context=dict(context)) if step["type"] in HOOKS else step for step in steps]


class Found(NamedTuple):
    """The steps of this machine by type of event, and what is wrong with its hooks.

    lacking: by type, which prepare hook is not run though it is there, or should be, as a clause
    recovery_lacks: the same of recover hooks
    """

    steps: Dict[str, Tuple[Step, ...]] = {"": ()}
    problems: Tuple[str, ...] = ()
    lacking: Mapping[str, str] = {}
    recovery_lacks: Mapping[str, str] = {}


def found_steps(configuration: Configuration, hooks_of: Callable[..., Hooks] = Hooks) -> Found:
    """What stands ready, and what is wrong with hooks: one that is refused is said, and the others run.

    A recover hook that is refused, or missing, is among the steps all the same.
    """
    wishes = {key: {"limit": one.limit, "user": one.user} for key, one in configuration.hooks.items()}
    hooks = hooks_of(configuration.hooks_folder, wishes, configuration.hook_limit)
    steps: Dict[str, Tuple[Step, ...]] = {}
    problems: List[str] = list(hooks.unknown().values())
    lacking: Dict[bool, Dict[str, str]] = {False: {}, True: {}}  # by whether the hook is for a recovery
    for kind in sorted({"", *hooks.kinds()}):
        here: List[Step] = []
        for phase in PHASE_OF.values():
            found, closes = hooks.found(phase, kind), phase in CLOSING
            here.extend(found.steps)
            refused = [f"hook {key} is not run: {why}" for key, why in sorted(found.refused.items())]
            problems.extend(f"The {words}" for words in refused)
            if closes:  # a recovery without it would be none: it says why the hook was not run
                here.extend(found.not_run)
            clauses = [*(f"the {words}" for words in refused), *hooks.missing(phase, kind).values()]
            if clauses:
                lacking[closes].setdefault(kind, clauses[0])
        steps[kind] = (*here, *configuration.steps)
    return Found(steps, tuple(sorted(set(problems))), lacking[False], lacking[True])
