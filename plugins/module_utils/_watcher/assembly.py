# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Puts the watcher together: which of its parts are used on a Linux machine.

Private to this collection.
"""

import os
import sys
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Tuple

from .._clock import Clock
from .._machine.program import Parts as ProgramParts
from .._machine.step_runner import StepRunner
from .._machine.store import FolderStore
from .._machine.store_interface import Store
from .._machine.system import moment_of
from .._steps.step_type import Step
from .acts import Go, Say
from .facts import Facts, Identity
from .hold import HoldFile
from .linux import PipeWake, linux_system, this_system
from .log import Log
from .metadata import Metadata
from .notify import Notify
from .orders import Orders
from .own_mark import asker
from .parts import Found, Parts
from .program import Program, objection
from .published import Published
from .put_back import PutBack
from .remembered import Remembered
from .settings import Configuration
from .settings_file import SettingsFile


class Inside(NamedTuple):
    """What decides, does and reports: the insides of the watcher, which know nothing of its threads and files.

    See :class:`.parts.Parts`; ``store`` is where the mark is, ``jobs`` what steps and hooks are begun with.
    """

    store: Store
    runner_of: Callable[[Step], Optional[StepRunner]]
    end_jobs: Callable[[], bool]
    find: Callable[[Configuration], Found]
    context: Callable[[Go, Facts], Mapping[str, Any]]
    tell: Callable[[Say, Optional[Identity]], None]
    crippled: Callable[[], str]
    make_handling: Callable[[Dict[str, Any]], Any]
    untold: Callable[[], str] = lambda: ""
    stop: Callable[[], None] = lambda: None


class Assembled(NamedTuple):
    """A whole watcher; ``start`` begins what runs beside the loop."""

    parts: Parts
    start: Callable[[], None]
    stop: Callable[[], None]


def assemble(
    settings: SettingsFile,
    inside: Inside,
    clock: Clock,
    log: Log,
    notify: Notify,
    about: Dict[str, Any],
    run_folder: str,
) -> Assembled:
    """Everything as it is on a machine.

    :arg about: version, pid and the like
    :arg run_folder: for what must not outlive a boot
    """
    configuration = settings.current
    folder = configuration.folder
    system = linux_system(clock, configuration.settle, this_system(os.environ))
    wake = PipeWake()
    program = Program(
        ProgramParts(
            store=inside.store,
            clock=clock,
            moment=system.moment,
            transport=lambda clock: None,  # the looks are the watcher's own
            find=lambda: None,
            runner_of=inside.runner_of,
            end_jobs=inside.end_jobs,
        )
    )

    hold, put_back = HoldFile(folder), PutBack(folder)  # those of the thread that approves

    def why_not(events: Tuple[str, ...], own: Tuple[str, ...]) -> str:
        if (put_back.read() - program.yes()).intersection(event.upper() for event in events):
            return "a person has put the machine back into service in spite of it"
        us = asker(metadata.identity, settings.current.endpoint)
        return objection(*program.mark(), own, us, system.moment(), hold.read())

    metadata = Metadata(
        configuration,
        clock,
        wake.wake,
        why_not,
        expects_events=any(program.mark()),
        find=lambda: _endpoints(clock),
    )
    parts = Parts(
        settings=settings,
        metadata=metadata,
        program=program,
        system=system,
        clock=clock,
        wake=wake,
        log=log,
        notify=notify,
        published=Published(folder, clock),
        orders=Orders(folder),
        hold=HoldFile(folder),
        put_back=PutBack(folder),
        remembered=Remembered(run_folder),
        find=inside.find,
        context=inside.context,
        tell=inside.tell,
        crippled=inside.crippled,
        make_handling=inside.make_handling,
        about=about,
        untold=inside.untold,
    )

    def start() -> None:
        system.start()
        metadata.start()

    def stop() -> None:
        system.stop()
        metadata.stop()
        inside.stop()

    return Assembled(parts, start, stop)


def _endpoints(clock: Clock) -> Any:
    from .._imds.discovery import Files, find_endpoints  # hardly anybody needs it

    return find_endpoints(Files(), clock.wall())


def inside_of(configuration: Configuration, clock: Clock, log: Log, about: Mapping[str, Any]) -> Inside:
    """The insides as they are on a machine."""
    # Not at the top: what has nothing to do with them is tested without them.
    from .._machine.step_runners import make_runners
    from .._machine.supervisor import AT_LAST, GRACE
    from .._machine.systemd_jobs import jobs_of
    from .finding import found_steps
    from .handling import Handling
    from .report import Machine
    from .reserve import Reserve, ReservedStore
    from .telling import Telling

    system = this_system(os.environ)
    folder = configuration.folder
    store, reserve = FolderStore(folder, clock), Reserve(folder)
    # -S: it starts faster, and needs nothing but Python
    jobs = jobs_of(store.jobs, system.boot_id(), (sys.executable, "-I", "-S", about["program"]))
    runners = make_runners(jobs)
    machine = Machine(os.uname().nodename, about["version"])
    telling = Telling(configuration, machine, lambda: moment_of(system, clock), clock, log)

    def find(now: Configuration) -> Found:
        telling.configure(now)
        return found_steps(now)

    return Inside(
        store=ReservedStore(store, reserve),
        runner_of=lambda step: runners.get(step["type"]),
        end_jobs=lambda: jobs.end_all(GRACE + AT_LAST + 0.5),
        find=find,
        context=telling.context,
        tell=telling.tell,
        crippled=lambda: reserve.crippled() or store.unwritable(),
        make_handling=Handling,
        untold=telling.problem,
        stop=telling.stop,
    )
