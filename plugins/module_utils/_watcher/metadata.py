# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service as the loop sees it: what its threads have found out, and where approvals go.

Private to this collection.

Other settings make other conversations; what was seen before stays known, so that nothing of it is taken for gone.
"""

from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from .._clock import Clock
from .._imds.http_transport import HttpTransport
from .asking import Asking, Connect
from .facts import Identity, Look, Posted
from .identity import Asker
from .looking import Looking
from .posting import Posting
from .settings import Configuration

HUNG = 130.0
"""Seconds after which a look that has not ended is not going to: the first answer may take 120."""


class Metadata:
    """Looks, identity and approvals, each in a thread of its own.

    :arg woken: called when there is something new
    :arg objection: asked right before an approval is sent; see :class:`.posting.Posting`
    :arg expects_events: see :class:`.looking.Looking`
    """

    def __init__(
        self,
        configuration: Configuration,
        clock: Clock,
        woken: Callable[[], None],
        objection: Callable[[Tuple[str, ...], Tuple[str, ...]], str],
        expects_events: bool = False,
        find: Optional[Callable[[], Any]] = None,
        connect: Connect = HttpTransport,
    ) -> None:
        self._clock = clock
        self._woken = woken
        self._find = find
        self._connect = connect
        self._asking = Asking(configuration, clock, find, connect)
        self._looking = Looking(self._asking, woken, expects_events)
        self._asker = Asker(self._asking, woken)
        self._posting = Posting(self._asking, objection, woken)

    def start(self) -> None:
        for thread in (self._asker, self._looking, self._posting):
            thread.start()

    def stop(self) -> None:
        for thread in (self._asker, self._looking, self._posting):
            thread.stop()

    def configure(self, configuration: Configuration) -> None:
        """Go by other settings from now on."""
        if _service(configuration) == _service(self._asking.configuration):
            return
        another = _whom(configuration) != _whom(self._asking.configuration)
        self._looking.stop()
        endpoint = self._asking.endpoint
        self._asking = Asking(configuration, self._clock, self._find, self._connect)
        if not another:
            self._asking.endpoint = endpoint  # it may have been found elsewhere
        self._posting.asking = self._asking
        self._looking = Looking(self._asking, self._woken, latest=self._looking.latest)
        if another:  # else the machine is who it was, though nobody may be there to say so at this moment
            self._asker.stop()
            self._asker = Asker(self._asking, self._woken)
            self._asker.start()
        self._looking.start()

    @property
    def identity(self) -> Optional[Identity]:
        return self._asker.identity

    @property
    def unknown(self) -> str:
        """Why it is not known who the machine is."""
        return self._asker.problem

    @property
    def look(self) -> Optional[Look]:
        return self._looking.latest

    @property
    def blind(self) -> str:
        return self._looking.blind

    def about(self) -> Dict[str, Any]:
        """For people."""
        return {
            "endpoint": self._asking.endpoint,
            "api_version": self._asking.api_version,
            "looks": self._looking.polls,
            "failures": self._looking.failures,
            "warnings": list(self._looking.warnings),
        }

    def approve(self, events: Sequence[str], at: float, own: Sequence[str] = ()) -> None:
        """:arg at: when it was decided; own: see :class:`.acts.Approve`"""
        self._posting.approve(events, at, own)

    def posted(self) -> Dict[str, Posted]:
        return self._posting.posted()

    def hangs(self) -> bool:
        """Whether the looks have come to a halt, other than by order of the service."""
        now = self._clock.now()
        return now - self._looking.ended > HUNG and now > self._looking.left_alone_until


def _service(configuration: Configuration) -> Tuple[Any, ...]:
    """What of the settings says whom to ask, and how."""
    return (*_whom(configuration), configuration.api_version, configuration.interval)


def _whom(configuration: Configuration) -> Tuple[Any, ...]:
    """What of them says whom to ask, and for whom."""
    return (configuration.endpoint, configuration.discover, configuration.resource_name)
