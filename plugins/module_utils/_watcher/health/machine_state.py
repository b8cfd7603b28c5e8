# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether load balancers should send traffic to this machine; and the files that say so: whether there is a mark, what the watcher has published
about it, and its metrics.

Private to this collection.

The maintenance mark alone decides: it is written before the first step of a preparation and removed after the last one of a recovery, it
outlives the watcher and a reboot, and one that nobody can read is there all the same.

The files are read by a user without rights. The folder of the mark lets nobody list it, and lets this user see whether a name is there: on
Linux by its mode (0711), on Windows by its access list (``host/windows_host.py``).
"""

import math
import os
from typing import NamedTuple, Optional

from ..._clock import Clock


class MachineState(NamedTuple):
    """What is known of the machine."""

    is_marked: bool = False
    phase: str = ""  # what the watcher last published about the mark; "" when it has published nothing since the boot
    problem: str = ""  # why nobody can tell whether it is marked


class Answer(NamedTuple):
    """What a load balancer gets."""

    is_in_service: bool
    words: str  # one line, without any text of an event


UNCHECKED = "its maintenance mark can't be checked"
"""In the words of an answer that says nothing about the machine."""


def answer_of(state: MachineState, app_problem: str = "") -> Answer:
    """A machine of which nothing is known is in service: a watcher that fails must not take a fleet out of traffic.

    :arg app_problem: why the application counts as down, "" when it answers or was not asked
    """
    if state.is_marked:
        phase = state.phase or "marked, and the watcher has not reported since the boot"
        return Answer(False, f"out of service for maintenance: {phase}")
    if app_problem:
        return Answer(False, f"the application is down: {app_problem}")
    if state.problem:
        return Answer(True, f"in service, but {UNCHECKED}: {state.problem}")
    return Answer(True, "in service")


MARK = "mark.json"
OUT_OF_SERVICE = "out-of-service"
METRICS = "metrics.prom"
_MOST_BYTES = 200
_MOST_METRICS = 64 * 1024
_PAUSES = (0.01, 0.02, 0.0)
REPLACED_WITHIN = 5.0
"""Seconds for which a mark that was seen counts although it can't be: Windows refuses to look at a file in the moment that it is replaced."""


class StateFiles:
    """The files of one machine.

    :arg folder: of the mark
    :arg run_folder: of what the watcher publishes, which a boot clears
    """

    def __init__(self, folder: str, run_folder: str, clock: Optional[Clock] = None) -> None:
        self._clock = clock or Clock()
        self._seen = -math.inf  # when the mark was seen last
        self._mark = os.path.join(folder, MARK)
        self._published = os.path.join(run_folder, OUT_OF_SERVICE)
        self._metrics = os.path.join(run_folder, METRICS)

    def read(self) -> MachineState:
        try:
            os.stat(self._mark)
        except FileNotFoundError:
            self._seen = -math.inf
            return MachineState()
        except OSError as error:
            if self._clock.now() - self._seen > REPLACED_WITHIN:
                return MachineState(problem=str(error.strerror))
        else:
            self._seen = self._clock.now()
        return MachineState(is_marked=True, phase=self._phase())

    def metrics(self) -> Optional[bytes]:
        """As the watcher has last written them; None where there are none since the boot."""
        return self._content(self._metrics, _MOST_METRICS)

    def _phase(self) -> str:
        text = (self._content(self._published, _MOST_BYTES) or b"").decode("ascii", "replace")
        line = text.partition("\n")[0].strip()
        return line if line.isprintable() else ""

    def _content(self, path: str, most: int) -> Optional[bytes]:
        """None where it can't be read."""
        for pause in _PAUSES:
            try:
                with open(path, "rb") as file:
                    return file.read(most)
            except PermissionError:  # on Windows also while it is replaced
                self._clock.sleep(pause)
            except OSError:
                break
        return None
