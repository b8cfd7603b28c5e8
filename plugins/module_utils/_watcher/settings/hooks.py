# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hooks there are for a phase and a type of event, as steps of the machine program; and why one is refused.

Private to this collection.
"""

import os
import re
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Set, Tuple

from ..._machine import trust
from ..._steps import hook as hook_steps
from ..._steps.step_type import Step
from ..._text import listed, one_line

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
    """What a look into a hook folder has found."""

    steps: Tuple[Step, ...]  # in the order in which they run
    refused: Dict[str, str]  # by key: why it is not run, and what to do
    not_run: Tuple[Step, ...] = ()  # of these, and of those that the configuration names and that are not there


class Hooks:
    """The hooks of a machine.

    :arg folder: the one that holds prepare.d, recover.d and notify.d
    :arg wishes: what the configuration says of single ones, by their keys: ``limit`` and ``user``
    :arg limit: seconds for those of which it does not say
    :arg unfit: why a file is not run, in a sentence, or ""
    """

    def __init__(
        self,
        folder: str,
        wishes: Mapping[str, Mapping[str, Any]],
        limit: float = HOOK_LIMIT,
        unfit: Callable[[str], str] = trust.unfit,
    ) -> None:
        self._folder = folder
        self._wishes = wishes
        self._limit = limit
        self._unfit = unfit

    def kinds(self) -> Set[str]:
        """The types of events, in lower case, that have folders of their own, or should have."""
        named = {key.split("/")[1] for key in self._wishes if key.count("/") > 1}
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
            for key in self._wishes
            if key not in known
        }

    def _at(self, key: str) -> Hook:
        return Hook(key, key.split("/")[-1], os.path.join(self._folder, key))

    def _step(self, hook: Hook, phase: str, number: int = 0) -> Step:
        wish = self._wishes.get(hook.key) or {}
        limit = float(wish.get("limit") or self._limit)
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
            "user": wish.get("user") or "",
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
