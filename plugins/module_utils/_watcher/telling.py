# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whoever hears of what happens: the log at once; the history, and the spool of those to be sent to, beside the loop.

Private to this collection.
"""

import os
from typing import Any, Callable, List, Optional

from .._clock import Clock
from .._machine.lease import Moment
from .acts import Say
from .destinations import spool_names
from .facts import Identity
from .history import History
from .log import Log
from .outbox import Outbox
from .report import Machine, Report, priority, report_of
from .settings import Configuration
from .spool import Spool


class Telling:
    """Makes a report of what is said, and hands it on. Nothing of it fails, and nothing waits.

    :arg moment: says what the machine's clocks show
    """

    def __init__(
        self, configuration: Configuration, version: str, moment: Callable[[], Moment], log: Log, clock: Clock
    ) -> None:
        self._machine = Machine(hostname(), version)
        self._moment = moment
        self._log = log
        self._clock = clock
        self._identity: Optional[Identity] = None
        self._history = History(configuration.folder, configuration.history_bytes)
        self.configure(configuration)
        self._outbox = Outbox([lambda report: self._history.add(report), self._spooled])

    def configure(self, configuration: Configuration) -> None:
        """Go by other settings from now on."""
        self._configuration = configuration
        self._history = History(configuration.folder, configuration.history_bytes)
        self._spool = Spool(configuration.folder, {}, configuration.spool_bytes, self._dropped)

    def tell(self, say: Say, identity: Optional[Identity]) -> None:
        self._identity = identity
        report = report_of(say, identity, self._moment(), self._machine)
        event = report["event"] or {}
        self._log.say(
            report["message"],
            priority(report),
            report=report["id"],
            happened=report["happened"],
            outage=report["outage"],
            outcome=report["outcome"],
            id=event.get("id"),
            type=event.get("type"),
            name=report["machine"]["name"],
        )
        self._outbox.put(report)

    def problems(self) -> List[str]:
        """What is wrong with telling, for people."""
        found = [self._history.problem, self._spool.problem, self._outbox.problem]
        if self._outbox.lost:
            found.append(f"{self._outbox.lost} reports were lost, as the disk was too slow for them")
        return [words for words in found if words]

    def stop(self, seconds: float = 2.0) -> None:
        """Give what was said just now the time to be written down."""
        self._outbox.flush(seconds, self._clock)

    def _spooled(self, report: Report) -> None:
        configuration, spool = self._configuration, self._spool
        # Hooks come and go without anybody's telling.
        spool.destinations = spool_names(configuration.reports, has_notify_hooks(configuration.hooks_folder))
        spool.add(report)

    def _dropped(self, words: str, count: int, why: str) -> Report:
        message = f"{count} report{'' if count == 1 else 's'} for {words} dropped: {why}."
        details: Any = {"count": count, "destination": words}
        return report_of(Say("dropped", message, details=details), self._identity, self._moment(), self._machine)


def has_notify_hooks(folder: str) -> bool:
    """Whether there is anything in notify.d."""
    try:
        return bool(os.listdir(os.path.join(folder, "notify.d")))
    except OSError:
        return False


def hostname() -> str:
    """The machine's own name for itself."""
    return os.uname().nodename
