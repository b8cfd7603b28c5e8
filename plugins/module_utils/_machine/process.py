# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program as a process: its call is on standard input, its answer a line of standard output.

The line begins with a word that whoever calls has given as an argument, so that it is found among what others say there:
greetings of the machine, lectures of sudo. Another argument, where there is one, is a folder in which nobody but this user can write.

Private to this collection.
"""

import json
import sys
from typing import Any, Callable, Dict, List, Optional

from .._caller import Caller
from .._clock import Clock, Moment
from .._text import one_line
from .program import Parts, lost, perform
from .store import FOLDER, FolderStore
from .system import System, moment_of

_STDOUT = 1  # the file descriptor on which somebody waits for the answer


def main() -> None:
    try:
        answer = json.dumps(_answer(), allow_nan=False)
    except Exception as error:  # an answer is owed, whatever it is
        why = one_line(error, 500)
        answer = json.dumps(lost(f"The machine program failed: {type(error).__name__}{f': {why}' if why else ''}"))
    sys.stdout.write(f"\n{''.join(sys.argv[1:2])}{answer}\n")
    sys.stdout.flush()


def _answer() -> Dict[str, Any]:
    call = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    clock, system = Clock(), System()
    store = FolderStore(call["options"].get("folder") or FOLDER, clock)
    return perform(
        call,
        Parts(
            store=store,
            clock=clock,
            moment=lambda: moment_of(system, clock),
            transport=lambda clock: _transport(clock, store, system, call["options"]),
            runner_of=_runners(store, system, call["options"]),
            caller=Caller(output=_STDOUT),
            end_jobs=lambda: _end_jobs(store, system),
            has_started=lambda: _has_started(system),
            held=lambda wall: _held(store, wall),
            watched=lambda steps: _watched(store, moment_of(system, clock), steps),
        ),
    )


def _transport(clock: Clock, store: FolderStore, system: System, options: Dict[str, Any]) -> Any:
    from .._imds.endpoint import DEFAULT_ENDPOINT
    from .._imds.http_transport import HttpTransport
    from .machine_rate import rates

    folder = "".join(sys.argv[2:3])
    if not folder:
        return HttpTransport(clock)
    watcher = _watched(store, moment_of(system, clock), [])
    has_watcher = bool(watcher and watcher["alive"])
    return HttpTransport(clock, *rates(clock, folder, options.get("endpoint") or DEFAULT_ENDPOINT, has_watcher))


def _held(store: FolderStore, wall: float) -> Optional[Dict[str, Any]]:
    from .beside_mark import lasting_hold

    return lasting_hold(store.folder, wall)


def _watched(store: FolderStore, moment: Moment, steps: List[Dict[str, Any]]) -> Optional[Dict[str, Any]]:
    from .beside_mark import published, watched

    return watched(published(store.folder), moment, steps)


def _end_jobs(store: FolderStore, system: System) -> bool:
    from .jobs import Jobs
    from .supervisor import AT_LAST, GRACE

    return Jobs(store.jobs, system.boot_id()).end_all(GRACE + AT_LAST + 0.5)


def _has_started(system: System) -> bool:
    from .system import has_started

    return has_started(system.uptime())


def _runners(store: FolderStore, system: System, options: Dict[str, Any]) -> Callable[[Any], Any]:
    made: Dict[str, Any] = {}

    def runner_of(step: Any) -> Any:
        if not made:
            from .jobs import Jobs
            from .step_runners import make_runners

            made.update(make_runners(Jobs(store.jobs, system.boot_id()), options.get("user") or ""))
        return made.get(step["type"])

    return runner_of


if __name__ == "__main__":
    main()
