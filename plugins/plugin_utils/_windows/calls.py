# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Windows machine does in a tick: the machine program, run here over what look.ps1 does there.

It asks when it needs an answer, and what is to be changed is changed at once, as on a Linux machine.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleConnectionFailure

from ...module_utils._caller import Caller
from ...module_utils._clock import Clock, Deadline
from ...module_utils._machine.beside_mark import lasting, watched
from ...module_utils._machine.program import Parts, lost, perform
from .boot import Boot
from .connection_errors import connection_problem
from .lacks import lacking
from .machine import Execute, WindowsMachine, WindowsProblem
from .store import FOLDER, WindowsStore
from .transport import WindowsTransport

LIMIT = 60.0  # seconds of a call, beside the wait in it: the first one starts PowerShell
_LEAST = 2.0


def limit(requests: Iterable[Mapping[str, Any]], longest: float = 0.0) -> float:
    """How many seconds a call with these requests may take.

    :arg longest: beside the wait in it, where the inventory says that
    """
    wait = max((float(request.get("wait") or 0) for request in requests), default=0.0)
    return wait + (longest or LIMIT)


def perform_on_windows(
    name: str, execute: Execute, call: Mapping[str, Any], clock: Clock | None = None, caller: Caller | None = None
) -> dict[str, Any]:
    """Answer one call (``options``, ``requests``, ``steps``) for a Windows machine, as the machine program does.

    :arg name: the host, as the inventory calls it
    :arg execute: has look.ps1 carry out requests there, or runs a module of Ansible's, and returns the result
    """
    clock = clock or Clock()
    machine = WindowsMachine(name, execute, clock)
    try:
        answer = _performed(machine, call, clock, caller)
    except (WindowsProblem, AnsibleConnectionFailure) as error:
        machine.lost = machine.lost or error
    if machine.lost is None:
        return answer
    why = machine.lost.message if isinstance(machine.lost, WindowsProblem) else connection_problem(str(machine.lost))
    return dict(lost(why), unsent=not machine.has_posted)


class _OwnClock(Clock):
    """Durations by the controller's clock, the time of day by the machine's: not-before is reckoned by that, as on Linux machines."""

    def __init__(self, clock: Clock, boot: Boot) -> None:
        self._clock, self._boot = clock, boot

    def now(self) -> float:
        return self._clock.now()

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)

    def wall(self) -> float:
        return self._boot.wall()


def _performed(machine: WindowsMachine, call: Mapping[str, Any], clock: Clock, caller: Caller | None) -> dict[str, Any]:
    began, requests = clock.now(), call["requests"]
    seconds = float(call["options"].get("seconds") or limit(requests))
    store = WindowsStore(machine, call["options"].get("folder") or FOLDER)
    boot = Boot(machine, clock, store.there)
    moment, taken = boot.moment(), clock.now() - began
    # Nothing is begun when nobody waits for this call any more: not here, and not there.
    sent = moment.uptime - taken
    left = max(_LEAST, seconds - taken)
    within = {"uptime": sent, "boot_id": moment.boot_id, "until": sent + seconds}
    machine.window = boot.window(seconds - taken)
    answer = perform(
        dict(call, options=dict(call["options"], seconds=left, within=within)),
        Parts(
            store=store,
            clock=_OwnClock(clock, boot),
            moment=boot.moment,
            transport=lambda timed: WindowsTransport(machine, timed, store),
            runner_of=lambda step: None,  # all its steps are carried out elsewhere
            caller=caller,
            held=lambda wall: lasting(store.hold(), wall),
            watched=lambda steps: watched(store.said_of_watcher(), boot.moment(), steps),
        ),
    )
    for request, said in zip(requests, answer["answers"], strict=True):
        is_due = request.get("always") or not any(one.get("events") for one in answer["answers"])
        if request["do"] == "ready" and "lacks" in said and is_due:
            said["lacks"].update(lacking(machine, call.get("steps") or (), Deadline(clock, left / 2)))
    return answer
