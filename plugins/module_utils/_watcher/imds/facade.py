# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service as the loop sees it: what its threads have found out, and where approvals go.

Private to this collection.

Approvals are sent beside the loop, and none is retried here: handling asks anew when it is due. Other settings make other sessions;
what was seen before stays known, so that nothing of it is taken for gone.
"""

import queue
import threading
from typing import Any, Callable, Dict, Optional, Sequence, Set, Tuple

from ..._clock import Clock
from ..._errors import ScheduledEventsError
from ..._imds.http_transport import HttpTransport
from ..._text import one_line
from ..engine.interface import Identity, PollResult, Posted
from ..settings.options import Configuration
from .session import Connect, EventPoller, IdentityPoller, ImdsSession

TOO_OLD = 5.0
"""Seconds after which an approval is not sent any more: what spoke for it was seen too long ago."""

KEPT = 3600.0  # seconds

_Ids = Tuple[str, ...]


class ApprovalSender:
    """The thread that posts.

    :arg objection: asked right before: why these events must not be approved any more, "" when they may; and for which of them the
        machine has to be prepared
    :arg woken: called when it is known what came of it
    """

    def __init__(self, session: ImdsSession, objection: Callable[[_Ids, _Ids], str], woken: Callable[[], None]) -> None:
        self.session = session
        self._objection = objection
        self._woken = woken
        self._waiting: queue.Queue[Optional[Tuple[_Ids, float]]] = queue.Queue()
        self._under_way: Set[str] = set()
        self._own: Set[str] = set()  # the keys of those for which the machine has to be prepared
        self._posted: Dict[str, Posted] = {}
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="posting", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._waiting.put(None)

    def approve(self, events: Sequence[str], at: float, own: Sequence[str] = ()) -> None:
        """Have them sent, those that are not being sent already.

        :arg at: when it was decided: from what was known then they must not be sent too late
        """
        with self._lock:
            self._own.update(event.upper() for event in own)
            self._own.difference_update(event.upper() for event in events if event not in own)
            new = tuple(event for event in events if event.upper() not in self._under_way)
            self._under_way.update(event.upper() for event in new)
        if new:
            self._waiting.put((new, at))

    def posted(self) -> Dict[str, Posted]:
        """What came of the last approval of each event, by its key."""
        with self._lock:
            oldest = self.session.clock.now() - KEPT
            self._posted = {key: posted for key, posted in self._posted.items() if posted.at >= oldest}
            return dict(self._posted)

    def _run(self) -> None:
        while True:
            asked = self._waiting.get()
            if asked is None:
                return
            self.send(*asked)

    def send(self, events: _Ids, asked_at: float) -> None:
        """Send one approval, and keep what came of it."""
        try:
            why = self._sent(events, asked_at)
        except Exception as error:  # a thread that is gone would approve nothing any more
            why = f"The approval failed: {type(error).__name__}: {one_line(error)}"
        at = self.session.clock.now()
        with self._lock:
            for event in events:
                self._posted[event.upper()] = Posted(at, not why, why)
                self._under_way.discard(event.upper())
        self._woken()

    def _sent(self, events: _Ids, asked_at: float) -> str:
        """Why it was not taken; "" when it was."""
        waited = self.session.clock.now() - asked_at
        if waited > TOO_OLD:
            return f"It was not sent: it waited for {waited:.0f} s, and much may have changed since."
        objection = self._objection(events, tuple(event for event in events if event.upper() in self._own))
        if objection:
            return f"It was not sent: {objection}"
        transport = self.session.transport()
        try:
            self.session.client(transport).approve(events)
        except ScheduledEventsError as error:
            return error.message
        finally:
            transport.close()
        return ""


HUNG = 130.0
"""Seconds after which a poll that has not ended is not going to: the first answer may take 120."""


class ImdsFacade:
    """Polls, identity and approvals, each in a thread of its own.

    :arg woken: called when there is something new
    :arg objection: asked right before an approval is sent; see :class:`ApprovalSender`
    :arg expects_events: see :class:`.session.EventPoller`
    """

    def __init__(
        self,
        configuration: Configuration,
        clock: Clock,
        woken: Callable[[], None],
        objection: Callable[[Tuple[str, ...], Tuple[str, ...]], str],
        expects_events: bool = False,
        connect: Connect = HttpTransport,
    ) -> None:
        self._clock = clock
        self._woken = woken
        self._connect = connect
        self._session = ImdsSession(configuration, clock, connect)
        self._event_poller = EventPoller(self._session, woken, expects_events)
        self._identity_poller = IdentityPoller(self._session, woken)
        self._approval_sender = ApprovalSender(self._session, objection, woken)

    def start(self) -> None:
        for thread in (self._identity_poller, self._event_poller, self._approval_sender):
            thread.start()

    def stop(self) -> None:
        for thread in (self._identity_poller, self._event_poller, self._approval_sender):
            thread.stop()

    def configure(self, configuration: Configuration) -> None:
        """Go by other settings from now on."""
        if _service(configuration) == _service(self._session.configuration):
            return
        another = _whom(configuration) != _whom(self._session.configuration)
        self._event_poller.stop()
        self._session = ImdsSession(configuration, self._clock, self._connect)
        self._approval_sender.session = self._session
        self._event_poller = EventPoller(self._session, self._woken, latest=self._event_poller.latest)
        if another:  # else the machine is who it was, though nobody may be there to say so at this moment
            self._identity_poller.stop()
            self._identity_poller = IdentityPoller(self._session, self._woken)
            self._identity_poller.start()
        self._event_poller.start()

    @property
    def identity(self) -> Optional[Identity]:
        return self._identity_poller.identity

    @property
    def unknown(self) -> str:
        """Why it is not known who the machine is."""
        return self._identity_poller.problem

    @property
    def polled(self) -> Optional[PollResult]:
        return self._event_poller.latest

    @property
    def poll_problem(self) -> str:
        return self._event_poller.poll_problem

    def about(self) -> Dict[str, Any]:
        """For people."""
        return {
            "endpoint": self._session.configuration.endpoint,
            "api_version": self._session.api_version,
            "polls": self._event_poller.polls,
            "failures": self._event_poller.failures,
            "warnings": list(self._event_poller.warnings),
        }

    def approve(self, events: Sequence[str], at: float, own: Sequence[str] = ()) -> None:
        """:arg at: when it was decided; own: see :class:`.interface.Approve`"""
        self._approval_sender.approve(events, at, own)

    def posted(self) -> Dict[str, Posted]:
        return self._approval_sender.posted()

    def hangs(self) -> bool:
        """Whether the polls have come to a halt, other than by order of the service."""
        now = self._clock.now()
        return now - self._event_poller.ended > HUNG and now > self._event_poller.left_alone_until


def _service(configuration: Configuration) -> Tuple[Any, ...]:
    """What of the settings says whom to ask, and how."""
    return (*_whom(configuration), configuration.api_version, configuration.interval)


def _whom(configuration: Configuration) -> Tuple[Any, ...]:
    """What of them says whom to ask, and for whom."""
    return (configuration.endpoint, configuration.resource_name)
