# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the metadata service who this machine is, until it has said so. Beside the looks, the first of which may take two minutes.

Private to this collection.
"""

import threading
from typing import Callable, Optional

from .._errors import ScheduledEventsError
from .._imds.client import NAME, NAME_TIMEOUT
from .._imds.option_names import WATCHER, with_variables
from .._text import one_line
from .asking import Asking
from .facts import Identity

VM_ID = "vmId"
PAUSES = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)


class Asker:
    """The thread that asks.

    :arg woken: called when the answer is there
    identity: None until it is known; problem: why it is not
    """

    def __init__(self, asking: Asking, woken: Callable[[], None]) -> None:
        self.identity: Optional[Identity] = None
        self.problem = "The metadata service has not said yet who this machine is."
        self._asking = asking
        self._woken = woken
        self._tries = 0
        self._transport = asking.transport()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="identity", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                pause = self.ask()
            except Exception as error:  # the thread must live until it knows
                self.problem, pause = f"Asking who this machine is failed: {one_line(error)}", PAUSES[-1]
            if pause is None:
                break
            self._stop.wait(pause)
        self._transport.close()

    def ask(self) -> Optional[float]:
        """Ask once; returns the seconds until the next try, None when it is known."""
        client = self._asking.client(self._transport)
        try:
            name, vm_id = (client.machine_text(leaf, NAME_TIMEOUT) for leaf in (NAME, VM_ID))
            self.problem = self._objection(name, vm_id)
        except ScheduledEventsError as error:
            self.problem = with_variables(f"Who this machine is could not be asked: {error.message}", WATCHER)
        if self.problem:
            self._tries += 1
            return PAUSES[min(self._tries, len(PAUSES)) - 1]
        if not self._stop.is_set():
            self.identity = Identity(name, vm_id)
            self._woken()
        return None

    def _objection(self, name: str, vm_id: str) -> str:
        """What keeps the answer from being used."""
        given = self._asking.configuration.resource_name
        if not name or not vm_id:
            return f"The metadata service gave an empty {'name' if not name else VM_ID} for this machine."
        if given and given.lower() != name.lower():
            return (
                f"resource_name says that this machine is {given}, but the metadata service says that it is {name}. "
                "Nothing is done, since it might be done for the wrong machine: correct resource_name, or leave it out."
            )
        return ""
