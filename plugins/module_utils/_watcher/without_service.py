# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine is put back into service by force although no watcher runs: by the command itself, in the watcher's place.

Private to this collection.

It holds the watcher's own lock all the time, so a service that is started meanwhile waits until it is over; and it changes the mark as the
watcher does, by the same loop and the same numbers. Only nobody looks: what the events do is a person's to know.
"""

import os
import sys
from typing import Any, Dict, List, Mapping, Sequence

from .._clock import Deadline
from .acts import Say
from .reports.systemd_transport import NOTICE, Log, Notify
from .service.command_queue import Command, CommandQueue
from .service.loop import Loop
from .service.state_files import RUN_FOLDER, AlreadyRunning, InstanceLock
from .service.status_file import StatusFile
from .service.wiring import Inside, assemble, inside_of
from .settings.settings_file import SettingsFile
from .surroundings import FINE, WRONG, Surroundings

WITHIN = 3600.0
"""Seconds after which it is given up: every hook and step has a limit of its own, below that."""

RECOVER = "recover"


def runs(folder: str) -> bool:
    """Whether a watcher runs for a folder.

    :raises OSError: when nobody can tell
    """
    try:
        InstanceLock(folder).release()
    except AlreadyRunning:
        return True
    return False


def recover(here: Surroundings, settings: SettingsFile, inside_for: Any = inside_of) -> int:
    """Put the machine back, whatever its event says; returns the exit code.

    :raises NotAlone: when a watcher has been started in this moment
    """
    lock = InstanceLock(settings.current.folder)
    try:
        here.tell(
            "The watcher does not run: this command puts the machine back itself, which takes as long as hooks and steps do."
        )
        return _recover(here, settings, inside_for)
    except KeyboardInterrupt:
        here.complain(
            "Not over: what runs goes on. Run it again, or start the watcher, which brings the machine back then."
        )
        raise
    finally:
        lock.release()


def _recover(here: Surroundings, settings: SettingsFile, inside_for: Any) -> int:
    folder, log = settings.current.folder, _Words(here)
    about = {"version": here.version, "pid": os.getpid(), "program": os.path.abspath(sys.argv[0])}
    inside: Inside = inside_for(settings.current, here.clock, log, about)
    inside = inside._replace(make_handling=_Nothing)
    parts = assemble(settings, inside, here.clock, log, Notify({}, _nobody), about, RUN_FOLDER).parts
    order = Command("by hand", RECOVER, by=here.caller(), force=True)
    loop = Loop(parts._replace(orders=_One(folder, order), published=_Unpublished(folder, here.clock)))
    deadline = Deadline(here.clock, WITHIN)
    while not loop.outcomes:
        pause = loop.tick()
        if deadline.passed():
            here.complain(f"Not over after {WITHIN:g} s. See azure-maintenance status, and run it again.")
            return WRONG
        here.clock.sleep(pause if not loop.outcomes else 0.0)
    done = bool(loop.outcomes[-1]["done"])
    if done:
        parts.tell(
            Say("recovered", "A person has put this machine back into service, while its watcher did not run."), None
        )
    inside.stop()
    return FINE if done else WRONG


class _One(CommandQueue):
    """The one order of the person who calls. Those in the folder wait for the service."""

    def __init__(self, folder: str, order: Command) -> None:
        super().__init__(folder)
        self._orders = [order]

    def take(self) -> List[Command]:
        taken, self._orders = self._orders, []
        return taken


class _Nothing:
    """A handling that wants nothing: what is done is what was ordered."""

    wishes: Mapping[str, Any] = {}
    unreadable: Sequence[str] = ()

    def __init__(self, remembered: Mapping[str, Any]) -> None:
        pass

    def tick(self, facts: Any) -> List[Any]:
        return []


class _Unpublished(StatusFile):
    """Nobody is to take this process for a watcher."""

    def publish(self, state: Dict[str, Any]) -> None:
        pass


class _Words(Log):
    """What a person has to know."""

    def __init__(self, here: Surroundings) -> None:
        self._here = here

    def say(self, message: str, priority: int = NOTICE, **fields: Any) -> None:
        if priority <= NOTICE:
            self._here.tell(message)


def _nobody(address: str, message: bytes) -> bool:
    return False
