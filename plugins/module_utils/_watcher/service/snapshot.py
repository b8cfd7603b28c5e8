# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Takes a snapshot of the facts once a tick: settings, steps, mark, document.

Private to this collection.

Most ticks find nothing new, so what is dear is looked at when there is a reason to: hooks when another document comes and now and
then, files when they have changed.
"""

from typing import Any, List, Mapping, Optional, Sequence

from ..._steps.step_type import Step
from ..engine.facts import Answer, Facts
from ..reports.systemd_transport import ERROR, NOTICE, WARNING
from ..settings.hooks import Found
from ..settings.options import Settings
from .wiring import Components

HOOKS_EVERY = 30.0  # seconds after which the hooks are looked at again


class Snapshots:
    """What one watcher knows."""

    def __init__(self, parts: Components) -> None:
        self._parts = parts
        self._found = Found()
        self._found_at: Optional[float] = None
        self._document: Any = None
        self._settings = Settings()

    def facts(self, answer: Optional[Answer], stopping: bool) -> Facts:
        """As it is now.

        :arg answer: of the machine program to the last ``Go``
        """
        parts = self._parts
        self._look_at_hooks()
        mark, unreadable = parts.program.mark()
        return Facts(
            now=parts.clock.now(),
            moment=parts.system.moment(),
            settings=self._settings,
            identity=parts.metadata.identity,
            look=parts.metadata.look,
            blind=parts.metadata.blind,
            mark=mark,
            unreadable=unreadable,
            answer=answer,
            posted=parts.metadata.posted(),
            hold=parts.hold.read(),
            yes=parts.program.confirmed_events(),
            steps=self._found.steps,
            going_down=parts.system.going_down or stopping,
            settled=parts.system.settled,
            degraded=parts.degraded(),
            lacking=self._found.lacking,
            recovery_lacks=self._found.recovery_lacks,
            endpoint=parts.settings.current.endpoint,
            put_back=parts.put_back.read(),
        )

    def look_at_settings(self, anyway: bool = False) -> None:
        """Follow the file as it is now, where it can be followed."""
        parts, file = self._parts, self._parts.settings
        before, folder = file.problem, file.current.folder
        if anyway:
            self._found_at = None
        if file.look(anyway):
            parts.log.say(f"{file.path} has changed and is followed from now on.", NOTICE)
            if file.current.folder != folder:
                parts.log.say("The state stays in its folder until the watcher is restarted.", WARNING)
            parts.metadata.configure(file.current)
            self._found_at = None
        if file.problem and file.problem != before:
            parts.log.say(f"{file.problem} The settings as they were before stay in force.", ERROR)

    def check(self) -> List[str]:
        """Look at everything again; returns what is wrong."""
        self.look_at_settings(anyway=True)
        self._found_at = None
        self._look_at_hooks()
        return self.problems(self._parts.degraded())

    def steps(self) -> Mapping[str, Sequence[Step]]:
        """Those of this machine by type of event."""
        self._look_at_hooks()
        return self._found.steps

    def problems(self, degraded: str) -> List[str]:
        """What keeps the watcher from its work, or may, for people."""
        parts = self._parts
        unknown = "" if parts.metadata.identity else parts.metadata.unknown
        own = (parts.settings.problem, *self._found.problems, parts.metadata.blind, unknown, degraded)
        written = (parts.published.problem, parts.flag.problem, parts.metrics.problem)
        return [problem for problem in (*own, *written, parts.untold()) if problem]

    def _look_at_hooks(self) -> None:
        parts, now = self._parts, self._parts.clock.now()
        look = parts.metadata.look
        document = look.document if look else None
        if self._found_at is not None and now - self._found_at < HOOKS_EVERY and document is self._document:
            return
        before = self._found.problems
        self._found, self._found_at, self._document = parts.find(parts.settings.current), now, document
        self._settings = _with_limits(parts.settings.current.settings, self._found.steps)
        for problem in self._found.problems:
            if problem not in before:
                parts.log.say(problem, WARNING)


def _with_limits(settings: Settings, steps: Mapping[str, Sequence[Step]]) -> Settings:
    """With the seconds that all that is done for one event takes at most, and all that takes it back."""
    limits = [sum(step["timeout"] for step in some if step["does"]) for some in steps.values()]
    undos = [sum(step["undo_timeout"] for step in some if step["undoes"]) for some in steps.values()]
    return settings._replace(limits=float(max(limits, default=0.0)), undo_limits=float(max(undos, default=0.0)))
