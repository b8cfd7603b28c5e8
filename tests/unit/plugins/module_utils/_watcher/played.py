# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A watcher's loop without threads: its clock, its service, its machine and its handling are played, its files are real."""

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import parse_document
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import (
    Identity,
    PollResult,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.metrics.metrics_file import (
    MetricsFile,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.linux_system import (
    Wake,
    WatchedSystem,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.loop import Loop
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.status_file import StatusFile
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import Watched
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    ScriptedClock,
    document,
)


class PlayedHandling:
    """Wants what a test tells it to; a list of acts, or an exception."""

    def __init__(self, remembered):
        self.remembered = remembered
        self.acts = []
        self.facts = []
        self.decisions, self.unreadable = {}, []

    def tick(self, facts):
        self.facts.append(facts)
        if isinstance(self.acts, Exception):
            raise self.acts.with_traceback(None)  # with a traceback of its own
        return self.acts


class PlayedSystem(WatchedSystem):
    def __init__(self, clock):
        self._clock = clock
        self.closely = []

    def moment(self):
        return Moment(self._clock.wall(), self._clock.now(), "boot-1")

    def watch_closely(self, closely):
        self.closely.append(closely)


class PlayedWake(Wake):
    def __init__(self):
        self.waits, self.woken, self.then = [], 0, lambda: None

    def wait(self, seconds):
        self.waits.append(seconds)
        self.then()

    def wake(self):
        self.woken += 1


class PlayedMetadata:
    """A service that has answered."""

    def __init__(self, clock):
        self._clock = clock
        self.identity, self.unknown, self.poll_problem, self.endpoint = (
            Identity("web1", "VM-1"),
            "",
            "",
            "http://imds.test",
        )
        self.polled, self.approved, self.configured, self.hung = None, [], [], False
        self.shows()

    def shows(self, *events):
        number = self.polled.number + 1 if self.polled else 1
        found = parse_document(document(number, *events), "2020-07-01")
        self.polled = PollResult(found, self._clock.now(), None, number, self._clock.now())

    def approve(self, events, at, own=()):
        self.approved.append((events, at))

    def posted(self):
        return {}

    def configure(self, configuration):
        self.configured.append(configuration)

    def about(self):
        return {"polls": self.polled.number if self.polled else 0}

    def hangs(self):
        return self.hung


class Played(Watched):
    """See above; ``tick`` lets a second pass."""

    def __init__(self, folder, **keys):
        super().__init__(folder, PlayedHandling, **keys)
        self.clock = ScriptedClock()
        self.system, self.wake, self.metadata = PlayedSystem(self.clock), PlayedWake(), PlayedMetadata(self.clock)
        self.told = []
        self.parts = self.parts._replace(
            clock=self.clock,
            system=self.system,
            wake=self.wake,
            metadata=self.metadata,
            published=StatusFile(str(self.state), self.clock),
            metrics=MetricsFile(str(folder / "run"), str(self.state), "0.0.1", self.clock),
            inside=self.parts.inside._replace(tell=self._tell),
        )
        self.parts.orders.make()
        self.loop = Loop(self.parts)

    def _tell(self, says, identity, keep):
        keep([])
        self.told.extend(says)

    def tick(self, *acts, seconds=1.0):
        """One tick in which handling wants this; returns how long the loop would sleep then."""
        if acts:
            self.handling.acts = acts[0] if isinstance(acts[0], Exception) else list(acts)
        self.clock.elapsed += seconds
        return self.loop.tick()

    @property
    def facts(self):
        return self.handling.facts[-1]
