# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands on what happened: to the journal at once; to the history and to whoever is to hear of it beside the loop. And to hooks.

Private to this collection.
"""

from typing import Any, Callable, Dict, Optional

from .._clock import Clock
from .._machine.lease import Moment
from .acts import Go, Say
from .destinations import spool_names
from .facts import Facts, Identity
from .history import History
from .hooks import NOTIFY, Hooks
from .log import PREFIX, Log
from .outbox import Outbox
from .report import Machine, Report, journal_fields, priority, report_of
from .settings import Configuration
from .spool import Spool

LAST_WORDS = 2.0  # seconds in which what was said last is written down when the watcher ends

_HAPPENED = {"prepared": "shown", "recovered": "over"}
"""What has happened to the event when hooks are run on the way to there."""


class Telling:
    """Of one watcher.

    :arg moment: now, by the machine's clocks
    """

    def __init__(
        self, configuration: Configuration, machine: Machine, moment: Callable[[], Moment], clock: Clock, log: Log
    ) -> None:
        self._machine = machine
        self._moment = moment
        self._clock = clock
        self._log = log
        self._names: Optional[Dict[str, str]] = None
        self._history = History(configuration.folder, configuration.history_bytes)
        self.configure(configuration)
        self._outbox = Outbox((self._history.add, lambda report: self._spool.add(report)))

    def configure(self, configuration: Configuration) -> None:
        """Go by these settings, and by the hooks in notify.d as they are now."""
        hooks = Hooks(configuration.hooks_folder, {})
        has_hooks = any(hooks.found(NOTIFY, kind).steps for kind in ("", *hooks.kinds()))
        names = spool_names(configuration.reports, has_hooks)
        if names != self._names:
            self._names = names
            self._spool = Spool(configuration.folder, names, configuration.spool_bytes, self._dropped)

    def tell(self, say: Say, identity: Optional[Identity]) -> None:
        """Something happened."""
        report = self._report(say, identity)
        words = {
            name[len(PREFIX) :].lower(): text
            for name, text in journal_fields(report).items()
            if name.startswith(PREFIX)
        }
        self._log.say(report["message"], priority(report), **words)
        self._outbox.put(report)

    def context(self, go: Go, facts: Facts) -> Report:
        """What hooks are told: a report about the event that the machine is prepared for, or brought back from."""
        wanted = {event.upper() for event in (*go.events, *(facts.mark or {}).get("events", ()))}
        events = facts.look.document.events if facts.look else ()
        found = [event for event in events if event.key in wanted]
        event = found[0] if found else None
        outage = str(go.note.get("outage") or "")
        words = (
            "The machine is to be prepared." if go.to == "prepared" else "The machine is to be put back into service."
        )
        return self._report(Say(_HAPPENED.get(go.to, go.to), words, event, outage=outage), facts.identity)

    def stop(self) -> None:
        """Have written down what was said last."""
        self._outbox.flush(LAST_WORDS, self._clock)

    def problem(self) -> str:
        """Why history or spool could not be written the last time, for people."""
        return self._history.problem or self._spool.problem or self._outbox.problem

    def _report(self, say: Say, identity: Optional[Identity]) -> Report:
        return report_of(say, identity, self._moment(), self._machine)

    def _dropped(self, where: str, count: int, why: str) -> Dict[str, Any]:
        return self._report(Say("dropped", f"{count} reports for {where} were dropped: {why}."), None)
