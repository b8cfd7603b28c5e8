# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Wires the watcher together: what its loop works with, everything that touches the world, so that a test may bring its own; and which
of it is used on a Linux machine.

Private to this collection.
"""

import os
import sys
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ..._clock import Clock
from ..._machine.mark import Store
from ..._machine.platform import native
from ..._machine.program import Parts as ProgramParts
from ..._machine.step_runner import StepRunner
from ..._machine.system import Wake, WatchedSystem, moment_of
from ..._steps.step_type import Step
from ..engine.interface import Facts, Go, Identity, Say
from ..engine.snapshot import asker
from ..host.this_host import HOST
from ..imds.facade import ImdsFacade
from ..metrics.metrics_file import MetricsFile
from ..reports.report import Report
from ..reports.systemd_transport import Log, Notify
from ..settings.hooks import Found
from ..settings.options import Configuration
from ..settings.settings import SettingsFile
from .command_queue import CommandQueue
from .machine_program import MachineProgram, objection
from .state_files import HoldFile, RememberedState, ServiceFlag, SuppressedEvents
from .status_file import StatusFile
from .this_system import here

Tell = Callable[[Sequence[Say], Optional[Identity], Callable[[List[Report]], None]], None]


class Inside(NamedTuple):
    """What decides, does and reports: the insides of the watcher, which know nothing of its threads and files.

    store: where the mark is
    runner_of: what a step is begun with
    find: the steps by the configuration, hooks among them
    context: what a hook gets to know of the event that it runs for
    tell: hands on what happened, and before that all reports that are not written down to what keeps them
    degraded: why the state can't be written, "" when it can
    make_handling: out of what the one before wanted to be remembered
    untold: why what happened could not be written down, "" when it could
    take_up: writes down what the watcher before this one has not
    """

    store: Store
    runner_of: Callable[[Step], Optional[StepRunner]]
    end_jobs: Callable[[], bool]
    find: Callable[[Configuration], Found]
    context: Callable[[Go, Facts], Mapping[str, Any]]
    tell: Tell
    degraded: Callable[[], str]
    make_handling: Callable[[Dict[str, Any]], Any]
    untold: Callable[[], str] = lambda: ""
    stop: Callable[[], None] = lambda: None
    take_up: Callable[[Sequence[Report]], None] = lambda reports: None


class Components(NamedTuple):
    """A whole watcher: its insides, its own files, and what the loop works with.

    about: version, pid and the like, to be published
    """

    inside: Inside
    settings: SettingsFile
    metadata: ImdsFacade
    program: MachineProgram
    system: WatchedSystem
    clock: Clock
    wake: Wake
    log: Log
    notify: Notify
    published: StatusFile
    flag: ServiceFlag
    metrics: MetricsFile
    orders: CommandQueue
    hold: HoldFile
    suppressed: SuppressedEvents
    remembered: RememberedState
    about: Dict[str, Any]

    def start(self) -> None:
        """Begin what runs beside the loop."""
        self.inside.take_up(self.remembered.reports)
        self.system.start()
        self.metadata.start()

    def stop(self) -> None:
        self.system.stop()
        self.metadata.stop()
        self.inside.stop()


def assemble(
    settings: SettingsFile,
    inside: Inside,
    clock: Clock,
    log: Log,
    notify: Notify,
    about: Dict[str, Any],
    run_folder: str,
) -> Components:
    """Everything as it is on a machine.

    :arg about: version, pid and the like
    :arg run_folder: for what must not outlive a boot
    """
    configuration = settings.current
    folder = configuration.folder
    system = here.watched_system(clock, configuration.boot_timeout, here.this_system(os.environ))
    wake = here.make_wake()
    program = MachineProgram(
        ProgramParts(
            store=inside.store,
            clock=clock,
            moment=system.moment,
            transport=lambda clock: None,  # the polls are the watcher's own
            runner_of=inside.runner_of,
            end_jobs=inside.end_jobs,
        )
    )

    hold, suppressed = HoldFile(folder), SuppressedEvents(folder)  # those of the thread that approves

    def why_not(events: Tuple[str, ...], own: Tuple[str, ...]) -> str:
        if (suppressed.read() - program.confirmed_events()).intersection(event.upper() for event in events):
            return "a person has recovered the machine despite it"
        us = asker(metadata.identity, settings.current.endpoint)
        return objection(*program.mark(), own, us, system.moment(), hold.read())

    metadata = ImdsFacade(
        configuration,
        clock,
        wake.wake,
        why_not,
        expects_events=any(program.mark()),
    )
    return Components(
        inside=inside,
        settings=settings,
        metadata=metadata,
        program=program,
        system=system,
        clock=clock,
        wake=wake,
        log=log,
        notify=notify,
        published=StatusFile(folder, clock),
        flag=ServiceFlag(run_folder),
        metrics=MetricsFile(run_folder, folder, str(about["version"]), clock),
        orders=CommandQueue(folder),
        hold=HoldFile(folder),
        suppressed=SuppressedEvents(folder),
        remembered=RememberedState(run_folder),
        about=about,
    )


def inside_of(configuration: Configuration, clock: Clock, log: Log, about: Mapping[str, Any]) -> Inside:
    """The insides as they are on a machine."""
    # Not at the top: what has nothing to do with them is tested without them.
    from ..._machine.step_runners import make_runners
    from ..._machine.supervisor import AT_LAST, GRACE
    from ..engine.engine import Engine
    from ..reports.report import Machine
    from ..reports.reporter import Reporter
    from ..settings.hooks import found_steps
    from .disk_reserve import DiskReserve, ReservedStore

    system = here.this_system(os.environ)
    folder = configuration.folder
    reserve = DiskReserve(folder)
    store = ReservedStore(folder, clock, reserve)
    # -S: it starts faster, and needs nothing but Python
    jobs = here.make_jobs(store.jobs, system.boot_id(), (sys.executable, "-I", "-S", about["program"]))
    runners = make_runners(jobs)
    machine = Machine(native.host_name(), about["version"], HOST.name)
    reporter = Reporter(configuration, machine, lambda: moment_of(system, clock), clock, log)

    def find(now: Configuration) -> Found:
        reporter.configure(now)
        return found_steps(now)

    return Inside(
        store=store,
        runner_of=lambda step: runners.get(step["type"]),
        end_jobs=lambda: jobs.end_all(GRACE + AT_LAST + 0.5),
        find=find,
        context=reporter.context,
        tell=reporter.tell,
        degraded=lambda: reserve.degraded() or store.unwritable(),
        make_handling=Engine,
        untold=reporter.problem,
        stop=reporter.stop,
        take_up=reporter.take_up,
    )
