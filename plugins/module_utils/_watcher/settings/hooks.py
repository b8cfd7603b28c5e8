# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hooks there are for a phase and a type of event, as steps of the machine program, and why one is refused; and all steps of this
machine by type of event: hooks and drain steps.

Private to this collection.
"""

import os
import re
from typing import Any, Callable, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Set, Tuple

from ..._machine import trust
from ..._steps import hook as hook_steps
from ..._steps.hook import PHASE_OF
from ..._steps.step_type import Step
from ..._steps.types import CLOSING_HOOKS
from ..._text import listed, one_line
from .options import Configuration
from .values import HookOptions

NOTIFY = "notify"
PHASES = tuple(hook_steps.PHASES)

HOOK_LIMIT = 300.0
"""Seconds that a hook may take, where the configuration does not say."""

_LEFT_OVER = re.compile(r"(~|\.swp|\.(rpm|dpkg-|ucf-)\w+)$")  # by editors and package managers


class Hook(NamedTuple):
    """A file of a hook folder."""

    key: str  # as the configuration and reports name it: prepare.d/10-app, prepare.d/Reboot/10-app
    name: str
    path: str


class HooksFound(NamedTuple):
    """What was found in a hook folder."""

    steps: Tuple[Step, ...]  # in the order in which they run
    refused: Dict[str, str]  # by key: why it is not run, and what to do
    not_run: Tuple[Step, ...] = ()  # of these, and of those that the configuration names and that are not there


class Hooks:
    """The hooks of a machine.

    :arg folder: the one that holds prepare.d, recover.d and notify.d
    :arg options: what the configuration says of single ones, by their keys
    :arg limit: seconds for those of which it does not say
    :arg unfit: why a file is not run, in a sentence, or ""
    """

    def __init__(
        self,
        folder: str,
        options: Mapping[str, HookOptions],
        limit: float = HOOK_LIMIT,
        unfit: Callable[[str], str] = trust.unfit,
    ) -> None:
        self._folder = folder
        self._options = options
        self._limit = limit
        self._unfit = unfit

    def kinds(self) -> Set[str]:
        """The types of events, in lower case, that have folders of their own, or should have."""
        named = {key.split("/")[1] for key in self._options if key.count("/") > 1}
        return {kind.lower() for phase in PHASES for kind in self._folders(phase)} | {kind.lower() for kind in named}

    def found(self, phase: str, kind: str) -> HooksFound:
        """The hooks of a phase for a type of event, written in any case; "" for one that has no folder of its own."""
        steps: List[Step] = []
        refused: Dict[str, str] = {}
        not_run = [
            dict(self._step(self._at(key), phase), refused=why) for key, why in self.missing(phase, kind).items()
        ]
        for hook in sorted(self._hooks(phase, kind), key=lambda hook: (hook.name, hook.key)):
            why = self._unfit(hook.path)
            if why:
                refused[hook.key] = why
                not_run.append(self._step(hook, phase))
            else:
                steps.append(self._step(hook, phase, len(steps) + 1))
        return HooksFound(tuple(steps), refused, tuple(not_run))

    def missing(self, phase: str, kind: str) -> Dict[str, str]:
        """Of :meth:`unknown` those that would run in a phase, for a type of event."""
        return {
            key: words
            for key, words in self.unknown().items()
            if key.startswith(f"{phase}.d/") and (key.count("/") < 2 or key.split("/")[1].lower() == kind.lower())
        }

    def unknown(self) -> Dict[str, str]:
        """By key, what is wrong with names in the configuration that no file has."""
        known = {
            hook.key for phase in PHASES for kind in ("", *self._folders(phase)) for hook in self._hooks(phase, kind)
        }
        there = f"there are {listed(sorted(known))}" if known else "there are none"
        return {
            key: f"the configuration names the hook {one_line(key)}, and {self._folder} has no such file; {there}"
            for key in self._options
            if key not in known
        }

    def _at(self, key: str) -> Hook:
        return Hook(key, key.split("/")[-1], os.path.join(self._folder, key))

    def _step(self, hook: Hook, phase: str, number: int = 0) -> Step:
        given = self._options.get(hook.key, HookOptions())
        limit = given.limit or self._limit
        words = f"run {one_line(hook.key)}"
        kind = hook_steps.PHASES[phase].kind or hook_steps.PREPARE  # a notify hook is one that is only done, too
        return {
            "key": hook.key,
            "number": number,
            "name": hook.name,
            "type": kind.name,
            "path": hook.path,
            "timeout": limit,
            "undo_timeout": limit,
            "user": given.user,
            "elsewhere": False,
            "does": "" if kind.closing else words,
            "undoes": words if kind.closing else "",
            "context": {},
        }

    def _hooks(self, phase: str, kind: str) -> List[Hook]:
        folders = [""] + [name for name in self._folders(phase) if kind and name.lower() == kind.lower()]
        found = []
        for folder in folders:
            inside = os.path.join(self._folder, f"{phase}.d", folder)
            for name in _names(inside):
                path = os.path.join(inside, name)
                if not os.path.isdir(path):
                    found.append(Hook("/".join(filter(None, (f"{phase}.d", folder, name))), name, path))
        return found

    def _folders(self, phase: str) -> List[str]:
        """The folders for single types of events."""
        inside = os.path.join(self._folder, f"{phase}.d")
        return [name for name in _names(inside) if os.path.isdir(os.path.join(inside, name))]


def _names(folder: str) -> List[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    return sorted(name for name in names if not name.startswith(".") and not _LEFT_OVER.search(name))


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


def hooks_in(configuration: Configuration, hooks_of: Callable[..., Hooks] = Hooks) -> Hooks:
    """The hooks of the folder that the configuration names, with the options that it gives them."""
    return hooks_of(configuration.hooks_folder, configuration.hooks, configuration.hook_limit)


def found_steps(configuration: Configuration, hooks_of: Callable[..., Hooks] = Hooks) -> Found:
    """What stands ready, and what is wrong with hooks: one that is refused is said, and the others run.

    A recover hook that is refused, or missing, is among the steps all the same.
    """
    hooks = hooks_in(configuration, hooks_of)
    steps: Dict[str, Tuple[Step, ...]] = {}
    problems: List[str] = list(hooks.unknown().values())
    lacking: Dict[bool, Dict[str, str]] = {False: {}, True: {}}  # by whether the hook is for a recovery
    for kind in sorted({"", *hooks.kinds()}):
        here: List[Step] = []
        for phase in PHASES:
            found, closes = hooks.found(phase, kind), phase in CLOSING
            refused = [f"hook {key} is not run: {why}" for key, why in sorted(found.refused.items())]
            problems.extend(f"The {words}" for words in refused)
            if phase == NOTIFY:  # no steps: the sender of reports runs these
                continue
            here.extend(found.steps)
            if closes:  # a recovery without it would be none: it says why the hook was not run
                here.extend(found.not_run)
            clauses = [*(f"the {words}" for words in refused), *hooks.missing(phase, kind).values()]
            if clauses:
                lacking[closes].setdefault(kind, clauses[0])
        steps[kind] = (*here, *configuration.steps)
    return Found(steps, tuple(sorted(set(problems))), lacking[False], lacking[True])
