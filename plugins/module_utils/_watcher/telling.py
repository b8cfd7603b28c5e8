# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands on what happened: to the journal at once; to the history and to whoever is to hear of it beside the loop. And to hooks.

Private to this collection.
"""

from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional

from .._clock import Clock
from .._core.lease import Moment
from .._events.event import Event
from .._events.lifecycle import CANCELLED
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

_MOST = 100  # events that are remembered


class _Seen(NamedTuple):
    """An event as it was last spoken of."""

    event: Event
    notice: Optional[float] = None
    outcome: str = ""  # "" while it is not over


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
        self._seen: Dict[str, _Seen] = {}
        self._history = History(configuration.folder, configuration.history_bytes)
        self.configure(configuration)
        self._outbox = Outbox((self._history.add, self._spooled))

    def _spooled(self, report: Dict[str, Any]) -> None:
        self._spool.add(report)  # another one after other settings

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
        if say.event:
            self._remember(_Seen(say.event, say.notice, say.outcome))
        report = self._report(say, identity)
        words = {
            name[len(PREFIX) :].lower(): text
            for name, text in journal_fields(report).items()
            if name.startswith(PREFIX)
        }
        self._log.say(report["message"], priority(report), **words)
        self._outbox.put(report)

    def context(self, go: Go, facts: Facts) -> Report:
        """What hooks get to know: a report about the event that the machine is prepared for, or brought back from.

        One that has left the document is described as it was last seen; after a restart that is what the mark knows of it.
        """
        document = facts.look.document.events if facts.look else ()
        there = {event.key: event for event in document}
        ids = [str(event) for event in (*go.events, *(facts.mark or {}).get("events", ()))]
        found = [event for event in ids if event.upper() in there] or ids
        seen = self._about(found[0], there, go, facts) if found else None
        outage = str(go.note.get("outage") or "")
        happened, words = "shown", "The machine is to be prepared."
        if go.to == "recovered":
            is_open = seen is not None and seen.event.key in there
            happened = "failed" if is_open else "cancelled" if seen and seen.outcome == CANCELLED else "over"
            words = "The machine is to be put back into service."
        if seen is None:
            return self._report(Say(happened, words, outage=outage), facts.identity)
        return self._report(Say(happened, words, *seen, outage=outage), facts.identity)

    def _about(self, event_id: str, there: Mapping[str, Event], go: Go, facts: Facts) -> _Seen:
        known = self._seen.get(event_id.upper())
        event = there.get(event_id.upper())
        if event:
            known = _Seen(event, known.notice if known else None)
            self._remember(known)
        if known:
            return known
        kind = str((go.note.get("types") or {}).get(event_id) or "")
        names = (facts.identity.name,) if facts.identity else ()
        return _Seen(Event(event_id, kind, "", "VirtualMachine", names, names, "", None, "", "", None))

    def _remember(self, seen: _Seen) -> None:
        self._seen.pop(seen.event.key, None)
        self._seen[seen.event.key] = seen
        while len(self._seen) > _MOST:
            del self._seen[next(iter(self._seen))]

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
