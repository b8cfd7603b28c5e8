# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""``azure-maintenance recover``: the machine is recovered now.

Private to this collection.

The service does it. Where none runs, only a person can say that the event is over, by force; then it is done here, in the watcher's
place: the command holds the watcher's own lock all the time, so a service that is started meanwhile ends, and is started again (after 2 s on
Linux, after 5, 30 and 60 s on Windows) until it can have that; and it changes the mark as the watcher does, by the same loop and the same
numbers. Only nobody polls: what the events do is a person's to know.
"""

import argparse
import os
import sys
from typing import Any, Dict, List, Mapping, Sequence

from ..._clock import Deadline
from ..engine.interface import Say
from ..host.this_host import HOST
from ..metrics.metrics_file import MetricsFile
from ..reports.systemd_transport import NOTICE, Log, Notify
from ..service.command_queue import Command, CommandQueue
from ..service.loop import Loop
from ..service.state_files import AlreadyRunning, InstanceLock
from ..service.status_file import StatusFile
from ..service.wiring import Inside, assemble, inside_of
from ..settings.settings import SettingsError, SettingsFile
from .cli import FINE, NO_ANSWER, NOT_ROOT, WRONG, CliContext, Subcommand
from .command_client import give


def recover_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--force",
        action="store_true",
        help="recover although the event is not over, the service does not run, or another run owns the mark (that run is not stopped)",
    )


def run_recover(options: argparse.Namespace, here: CliContext) -> int:
    mark = here.mark()
    if here.is_root and mark.value is None and not mark.problem:
        here.tell("This machine is not marked: it is in service, as far as this program knows. Nothing was done.")
        return FINE
    what = "recover the machine"
    if here.must_be_root(what):
        return NOT_ROOT
    try:
        if is_running(here.folder):
            return give(here, "recover", what, force=options.force)
        return _run_offline(options, here)
    except AlreadyRunning:
        here.complain("The watcher has just been started. Nothing was done: run it again.")
        return NO_ANSWER
    except OSError as error:
        here.complain(f"Could not determine in {here.folder} whether the watcher runs: {error.strerror or error}.")
        return WRONG


def _run_offline(options: argparse.Namespace, here: CliContext) -> int:
    force = "azure-maintenance recover --force"
    try:
        settings = SettingsFile(here.settings)
    except SettingsError as error:
        here.complain(
            f"The watcher does not run, and its settings, which say how to recover the machine, are not valid. {error.message} "
            f"Correct that, or run role watcher again; then run: {HOST.start()}. It recovers the machine when its event is over. To recover it "
            f"at once: {force}. What was done to the machine: azure-maintenance status. Nothing was done."
        )
        return NO_ANSWER
    if not options.force:
        here.complain(
            f"The watcher does not run, so it is not known whether the machine's event is over. Nothing was done. Run: {HOST.start()}. It recovers the "
            f"machine when the event is over (why it ended: {HOST.log_end()}). To recover the machine now, "
            f"without it, whatever its event says: {force}"
        )
        return NO_ANSWER
    return recover_offline(here, settings)


WITHIN = 3600.0
"""Seconds after which it is given up: every hook and step has a limit of its own, below that."""

RECOVER = "recover"


def is_running(folder: str) -> bool:
    """Whether a watcher runs for a folder.

    :raises OSError: when nobody can tell
    """
    try:
        InstanceLock(folder).release()
    except AlreadyRunning:
        return True
    return False


def recover_offline(here: CliContext, settings: SettingsFile, inside_for: Any = inside_of) -> int:
    """Recover the machine, whatever its event says; returns the exit code.

    :raises AlreadyRunning: when a watcher has been started in this moment
    """
    lock = InstanceLock(settings.current.folder)
    try:
        here.tell(
            "The watcher does not run: this command recovers the machine itself, which takes as long as hooks and steps do."
        )
        return _recover_offline(here, settings, inside_for)
    except KeyboardInterrupt:
        here.complain(
            "Not finished: running hooks and steps continue. Run the command again, or start the watcher, which then recovers the machine."
        )
        raise
    finally:
        lock.release()


def _recover_offline(here: CliContext, settings: SettingsFile, inside_for: Any) -> int:
    folder, log = settings.current.folder, _CliLog(here)
    about = {"version": here.version, "pid": os.getpid(), "program": os.path.abspath(sys.argv[0])}
    inside: Inside = inside_for(settings.current, here.clock, log, about)
    inside = inside._replace(make_handling=_NoEngine)
    parts = assemble(settings, inside, here.clock, log, Notify({}, _not_sent), about, HOST.run_folder)
    order = Command("by hand", RECOVER, by=here.caller(), force=True)
    parts = parts._replace(
        orders=_OneCommand(folder, order),
        published=_NoStatusFile(folder, here.clock),
        metrics=_NoMetricsFile(HOST.run_folder, folder, here.version, here.clock),
    )
    loop = Loop(parts)
    deadline = Deadline(here.clock, WITHIN)
    while not loop.outcomes:
        pause = loop.tick()
        if deadline.passed():
            here.complain(f"Not finished after {WITHIN:g} s. See azure-maintenance status, and run it again.")
            return WRONG
        here.clock.sleep(pause if not loop.outcomes else 0.0)
    done = bool(loop.outcomes[-1]["done"])
    if done:
        words = "This machine was recovered by a command while its watcher did not run."
        parts.inside.tell([Say("recovered", words)], None, lambda reports: None)
    inside.stop()
    return FINE if done else WRONG


class _OneCommand(CommandQueue):
    """The one order of the person who calls. Those in the folder wait for the service."""

    def __init__(self, folder: str, order: Command) -> None:
        super().__init__(folder)
        self._orders = [order]

    def take(self) -> List[Command]:
        taken, self._orders = self._orders, []
        return taken


class _NoEngine:
    """A handling that wants nothing: what is done is what was ordered."""

    decisions: Mapping[str, Any] = {}
    unreadable: Sequence[str] = ()

    def __init__(self, remembered: Mapping[str, Any]) -> None:
        pass

    def tick(self, facts: Any) -> List[Any]:
        return []


class _NoStatusFile(StatusFile):
    """Nobody is to take this process for a watcher."""

    def publish(self, state: Dict[str, Any]) -> None:
        pass


class _NoMetricsFile(MetricsFile):
    """Likewise."""

    def publish(self, facts: Any) -> None:
        pass


class _CliLog(Log):
    """What a person has to know."""

    def __init__(self, here: CliContext) -> None:
        self._here = here

    def say(self, message: str, priority: int = NOTICE, **fields: Any) -> None:
        if priority <= NOTICE:
            self._here.tell(message)


def _not_sent(address: str, message: bytes) -> bool:
    return False


SUBCOMMANDS = {
    "recover": Subcommand(recover_arguments, run_recover),
}
