# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""When a scope is listened for: enabled by its first request, disabled after a day without one."""

from typing import Callable

from .journal import Journal
from .model import Scope
from .scenario import Settings
from .timeline import Timeline


class Enabling:
    """Enables and disables scopes."""

    def __init__(self, timeline: Timeline, journal: Journal, settings: Callable[[], Settings]) -> None:
        self._timeline = timeline
        self._journal = journal
        self._settings = settings

    def asked(self, scope: Scope) -> float:
        """Somebody asks for a scope's document: enables it if need be. Returns how long (virtual) the answer takes."""
        scope.last_request = self._timeline.now()
        if not scope.enabled:
            self.enable(scope, new=True)
        return max(0.0, scope.ready_at - self._timeline.now())

    def enable(self, scope: Scope, new: bool) -> None:
        """From now on; `new`: by a request, not from the beginning."""
        now = self._timeline.now()
        scope.enabled = True
        scope.opened += 1
        scope.incarnation = scope.spec.initial_incarnation
        scope.last_request = now
        scope.forget()
        scope.ready_at = now + (scope.spec.first_call_delay if new else 0)
        opened = scope.opened
        if new and scope.spec.events_delay:
            self._timeline.after(scope.spec.events_delay, lambda: self._listen(scope, opened))
        else:
            scope.listening = True
        if new:
            self._journal.add("scope", scope=scope.name, enabled=True, incarnation=scope.incarnation)
        self._watch_idleness(scope, opened)

    @staticmethod
    def _listen(scope: Scope, opened: int) -> None:
        if scope.enabled and scope.opened == opened:
            scope.listening = True
            if scope.events:
                scope.changed()

    def _watch_idleness(self, scope: Scope, opened: int) -> None:
        limit = self._settings().disable_after
        if not limit or not scope.enabled or scope.opened != opened:
            return
        left = scope.last_request + limit - self._timeline.now()
        if left > 0:
            self._timeline.after(left, lambda: self._watch_idleness(scope, opened))
            return
        scope.enabled = scope.listening = False
        scope.incarnation = scope.spec.initial_incarnation
        scope.forget()
        self._journal.add("scope", scope=scope.name, enabled=False, incarnation=scope.incarnation)
