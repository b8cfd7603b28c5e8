# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of the watcher's loop share: a whole watcher whose insides are played, on an emulator or on nothing."""

import json
import threading
import time

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.step_runner import (
    DONE,
    Progress,
    StepRunner,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import (
    Approve,
    Go,
    Say,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.systemd_transport import (
    Log,
    Notify,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.loop import Loop
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service.wiring import Inside, assemble
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import Found
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import (
    SettingsFile,
)


def step(name="10-app", kind="command"):
    """A step as its plan has it."""
    return {
        "type": kind,
        "key": f"{kind} {name}",
        "number": 1,
        "name": name,
        "does": f"do {name}",
        "undoes": f"undo {name}",
        "timeout": 60.0,
        "undo_timeout": 40.0,
        "elsewhere": False,
    }


class QuickHand(StepRunner):
    """Does everything at once, and writes down when."""

    moment = staticmethod(time.monotonic)

    def __init__(self):
        self.begun = []

    def begin(self, step_run):
        self.begun.append((step_run.direction, step_run.step["name"], self.moment()))
        return Progress(DONE)

    def check(self, step_run):
        return Progress(DONE)


class Lines(Log):
    """A log that can be read."""

    def __init__(self):
        self.lines = []

    def say(self, message, priority=6, **fields):
        self.lines.append(message)

    def has(self, words):
        return any(words in line for line in self.lines)


class Simple:
    """A handling for tests: prepares for each own event, approves it, recovers when it is gone."""

    def __init__(self, remembered):
        self.seen = []
        self.decisions, self.unreadable = {}, []

    def tick(self, facts):
        self.seen.append(facts)
        if facts.identity is None or facts.polled is None:
            return []
        own = [event for event in facts.polled.document.events if event.affects(facts.identity.name)]
        if own and not facts.mark:
            return [Say("scheduled", "An event is shown.", own[0]), self._go("prepared", own)]
        if own and facts.mark["phase"] != "prepared":
            return [self._go("prepared", own)]
        due = [event.event_id for event in own if event.is_scheduled and self._is_due(facts, event)]
        if due:
            return [Approve(tuple(due))]
        return [self._go("recovered", [])] if facts.mark and not own else []

    @staticmethod
    def _go(to, events):
        return Go(to, 600.0, tuple(event.event_id for event in events), {})

    @staticmethod
    def _is_due(facts, event):
        posted = facts.posted.get(event.key)
        return posted is None or facts.now - posted.at >= 1.0


def settings(where, **keys):
    """A file of settings in a folder; its path."""
    path = where / "watcher.json"
    path.write_text(json.dumps(dict({"format": 1, "folder": str(where / "state")}, **keys)), encoding="utf-8")
    path.chmod(0o600)
    return path


class Watched:
    """A watcher in this process, in threads of its own.

    :arg folder: of its settings and its state
    :arg found: the steps by type of event
    """

    def __init__(self, folder, handling=Simple, found=None, **keys):
        self.file = settings(folder, **keys)
        self.state = folder / "state"
        self.state.mkdir(mode=0o700)
        self.clock = Clock()
        self.log, self.hand, self.says, self.sent = Lines(), QuickHand(), [], []
        self.steps = {"": (step(),)} if found is None else found
        store = FolderStore(str(self.state), self.clock)
        inside = Inside(
            store=store,
            runner_of=lambda one: self.hand,
            end_jobs=lambda: True,
            find=lambda configuration: Found(self.steps),
            context=lambda go, facts: {"of": list(go.events)},
            tell=lambda says, identity, keep: self.says.extend(says),
            degraded=lambda: "",
            make_handling=self._make,
        )
        self._handling = handling
        self.handlings = []
        environment = {"NOTIFY_SOCKET": "nobody", "WATCHDOG_USEC": "600000"}
        notify = Notify(environment, lambda address, message: bool(self.sent.append(message.decode())) or True)
        about = {"version": "0.0.1", "pid": 1}
        self.parts = assemble(
            SettingsFile(str(self.file)), inside, self.clock, self.log, notify, about, str(folder / "run")
        )
        self.loop = Loop(self.parts)
        self._thread = threading.Thread(target=self.loop.run, daemon=True)

    def _make(self, remembered):
        self.handlings.append(self._handling(remembered))
        return self.handlings[-1]

    @property
    def handling(self):
        return self.handlings[-1]

    def __enter__(self):
        self.parts.orders.make()
        self.parts.start()
        self._thread.start()
        return self

    def __exit__(self, *exc_info):
        self.loop.stop()
        self._thread.join(60)
        self.parts.stop()
        assert not self._thread.is_alive()

    def published(self):
        try:
            return json.loads((self.state / "watcher.json").read_text(encoding="utf-8"))
        except OSError:
            return {}


def until(condition, seconds=240):
    """What the condition answers once that is something. On a busy machine a program such as Java needs more than a minute to start."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{condition} did not come true within {seconds} s"
        time.sleep(0.02)
