# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the machine program on a simulated Linux machine asks the metadata service: at once, and within its limit of requests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from . import collection
from .aside import Meanwhile
from .clock import Life
from .service import Failed

if TYPE_CHECKING:
    from .machine import Machine

clock = collection.part("module_utils._clock")
errors = collection.part("module_utils._errors")
machine_rate = collection.part("module_utils._machine.machine_rate")
transport = collection.part("module_utils._imds.transport")


class Rate(machine_rate.MachineRate):
    """The limit of requests, noted in memory."""

    def __init__(self, machine: Machine, own: Any, goes_first: bool) -> None:
        most = machine_rate.limits(machine.watcher is not None)[goes_first]
        super().__init__(own, "", most, lambda: machine.uptime, goes_first)
        self._machine = machine

    @contextlib.contextmanager
    def _noted(self) -> Iterator[list[float]]:
        times = list(self._machine.requests)
        yield times
        self._machine.requests = times


class Transport(transport.Transport):
    """Asks the machine's metadata service. Polls that would see the same again are not made."""

    def __init__(self, machine: Machine, run: str, own: Any, meanwhile: Meanwhile) -> None:
        super().__init__(own)
        self._machine, self._run, self._meanwhile = machine, run, meanwhile
        self._rates = {"GET": Rate(machine, own, False), "POST": Rate(machine, own, True)}

    def get(self, url: str, headers: Any, timeout: float) -> Any:
        return self._exchange("GET", url, b"", timeout)

    def post(self, url: str, headers: Any, body: bytes, timeout: float) -> Any:
        return self._exchange("POST", url, body, timeout)

    def _exchange(self, method: str, url: str, body: bytes, timeout: float) -> Any:
        rate = self._rates[method]
        rate.wait()
        try:
            self._machine.was_asked()
            answer = self._meanwhile(self._machine.service.exchange(method, url, body, timeout, self._run))
        except Failed as failed:
            kind = errors.AnswerTimeout if failed.too_slow else errors.Unreachable
            raise kind(str(failed), url=url) from failed
        finally:
            rate.ended()
        return transport.Answer(answer[0], {"content-length": str(len(answer[1]))}, answer[1])

    def get_until_changed(
        self, url: str, headers: Any, timeout: float, known: bytes, interval: float, limit: float
    ) -> tuple[Any, int]:
        deadline, polls = clock.Deadline(self.clock, limit), 0
        self.moments = None
        while True:
            last, asked = deadline.passed(), self.clock.now()
            polls += 1
            try:
                answer = self.get(url, headers, timeout)
            except errors.TransportError as error:
                error.polls = polls
                raise
            self.moments = transport.in_a_row(self.moments, transport.Moments(asked, asked, self.clock.now()))
            if last or not (answer.status == 200 and answer.body == known):
                return answer, polls
            self._meanwhile(self._idle(deadline, interval))

    def _idle(self, deadline: Any, interval: float) -> Life:
        machine, began = self._machine, self._machine.clock.now
        yield from machine.service.until_other(deadline.remaining())
        yield min(deadline.remaining(), machine.azure.chance.random() * interval)
        # As if it had been asked all the time
        if self.moments is not None and machine.clock.now > began:
            self.moments = self.moments._replace(asked=machine.clock.now)
        yield from machine.frozen()
