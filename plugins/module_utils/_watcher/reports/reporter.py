# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports what happened: to the journal at once, to the history and to the queue beside the loop; and describes an event to hooks.

Private to this collection.

A disk that is slow or hangs keeps nobody from preparing. A report is in the queue first, then in the history, lines of JSON for people. What a
watcher that is killed has not got there is taken up again at the next start: see :class:`.RememberedState`.
"""

import collections
import contextlib
import json
import os
import queue
import threading
from typing import Any, Callable, Deque, Dict, List, Mapping, NamedTuple, Optional, Sequence

from ..._clock import Clock, Deadline, Moment
from ..._events.event import Event
from ..._events.lifecycle import CANCELLED
from ..._machine.platform import native
from ..engine.interface import Facts, Go, Identity, Say
from ..settings.destinations import spool_names
from ..settings.hooks import NOTIFY, Hooks
from ..settings.options import Configuration
from .report import Machine, Report, journal_fields, line_of, priority, report_of
from .report_queue import ReportQueue
from .systemd_transport import Log

HISTORY, OLDER_HISTORY = "history.jsonl", "history.1.jsonl"
HISTORY_BYTES = 1024 * 1024  # bytes of both files


class Past(NamedTuple):
    """What is left of the history."""

    reports: List[Report]  # the latest one last
    damaged: int  # lines that can't be read
    problem: str  # why a file can't be read; "" when it can


class History:
    """The history in a folder.

    :arg limit: bytes of both files together
    """

    def __init__(self, folder: str, limit: int = HISTORY_BYTES) -> None:
        self._path = os.path.join(folder, HISTORY)
        self._older = os.path.join(folder, OLDER_HISTORY)
        self._limit = limit
        self.problem = ""
        """Why the last report could not be written; "" when it was."""

    def add(self, report: Report) -> bool:
        """Write it down; whether that went well. Nothing depends on it."""
        line = line_of(report)
        try:
            if self._is_full(len(line)):
                native.replace(self._path, self._older)
            self._append(line)
        except OSError as error:
            self.problem = f"{self._path} can't be written: {error.strerror or error}"
            return False
        self.problem = ""
        return True

    def _is_full(self, more: int) -> bool:
        try:
            size = os.stat(self._path).st_size
        except FileNotFoundError:
            return False
        return size > 0 and size + more > self._limit // 2

    def _append(self, line: bytes) -> None:
        descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | native.AS_IT_IS, 0o600)
        try:
            size = os.fstat(descriptor).st_size
            os.lseek(descriptor, max(0, size - 1), os.SEEK_SET)
            # Somebody was cut off in the middle of a line, which must not spoil this one, too.
            if size and os.read(descriptor, 1) != b"\n":
                line = b"\n" + line
            written = os.write(descriptor, line)
            if written < len(line):
                raise OSError(0, "the disk is full")
        finally:
            os.close(descriptor)


def past(folder: str, most: int) -> Past:
    """The latest reports of a history, at most so many."""
    lines: List[str] = []
    problem = ""
    for name in (OLDER_HISTORY, HISTORY):
        try:
            with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
                lines += [line for line in file if line.strip()]
        except FileNotFoundError:
            pass
        except OSError as error:
            problem = f"{os.path.join(folder, name)} can't be read: {error.strerror or error}"
    found = [_report_in(line) for line in lines]
    reports = [report for report in found if report]
    return Past(reports[-most:] if most else [], len(found) - len(reports), problem)


def _report_in(line: str) -> Report:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and isinstance(found.get("happened"), str) else {}


MOST_WAITING = 1000  # reports that may wait to be written down


class ReportWriter:
    """Hands reports to those who write them down, in order, in a thread of its own.

    :arg tell: called with each report, one after the other; what one of them raises is kept from the others
    """

    def __init__(self, tell: Sequence[Callable[[Report], object]], most: int = MOST_WAITING) -> None:
        self._tell = list(tell)
        self._queue: queue.Queue[Report] = queue.Queue(most)
        self._waiting: Deque[Report] = collections.deque()
        self._thread = threading.Thread(target=self._work, name="reports", daemon=True)
        self._thread.start()
        self._lost = self._counted = 0  # reports that found no place, and how many of them somebody has asked for
        self.problem = ""
        """What one of those who write them down raised last: it should never be anything."""

    def put(self, report: Report) -> None:
        """Take it, at once."""
        self._waiting.append(report)
        try:
            self._queue.put_nowait(report)
        except queue.Full:
            self._waiting.pop()
            self._lost += 1

    def missed(self) -> int:
        """How many found no place since this was last called, as nothing was written down for long. For those who write down."""
        before, self._counted = self._counted, self._lost
        return self._counted - before

    def waiting(self) -> List[Report]:
        """Those that are not written down yet."""
        return list(self._waiting)

    def flush(self, seconds: float, clock: Optional[Clock] = None) -> bool:
        """Wait until all is written down, at most so long; whether it is."""
        clock = clock or Clock()
        deadline = Deadline(clock, seconds)
        while self._queue.unfinished_tasks:
            if deadline.passed():
                return False
            clock.sleep(0.01)
        return True

    def _work(self) -> None:
        while True:
            report = self._queue.get()
            for tell in self._tell:
                try:
                    tell(report)
                except Exception as error:
                    self.problem = f"{type(error).__name__}: {error}"
            self._waiting.popleft()
            self._queue.task_done()


LAST_WORDS = 2.0  # seconds in which what was said last is written down when the watcher ends

_MOST_EVENTS = 100  # events that are remembered
_MOST_KEPT = 100  # reports that are not written down yet, and which a watcher that is killed leaves to the next one


class _Seen(NamedTuple):
    """An event as it was last spoken of."""

    event: Event
    notice: Optional[float] = None
    outcome: str = ""  # "" while it is not over


class Reporter:
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
        self._folder = configuration.folder
        self._history = History(configuration.folder, configuration.history_bytes)
        self.configure(configuration)
        self._writer = ReportWriter((self._queued, self._history.add))

    def _queued(self, report: Dict[str, Any]) -> None:
        self._queue.add(report, self._writer.missed())  # another one after other settings

    def configure(self, configuration: Configuration) -> None:
        """Go by these settings, and by the hooks in notify.d as they are now."""
        self._machine = self._machine._replace(labels=configuration.labels)
        hooks = Hooks(configuration.hooks_folder, {})
        some = [hooks.found(NOTIFY, kind) for kind in ("", *hooks.kinds())]
        has_hooks = any(found.steps or found.refused for found in some)
        names = spool_names(configuration.reports, has_hooks)
        if names != self._names:
            self._names = names
            self._queue = ReportQueue(configuration.folder, names, configuration.spool_bytes, self._dropped)

    def tell(
        self,
        says: Sequence[Say],
        identity: Optional[Identity],
        keep: Callable[[List[Report]], None] = lambda reports: None,
    ) -> None:
        """Something happened.

        :arg keep: gets all reports that are not written down, before these are
        """
        for say in says:
            if say.event:
                self._remember(_Seen(say.event, say.notice, say.outcome))
        reports = [self._report(say, identity) for say in says]
        keep([*self._writer.waiting(), *reports][-_MOST_KEPT:])
        for report in reports:
            self._hand_on(report)

    def take_up(self, reports: Sequence[Report]) -> None:
        """What the watcher before this one has kept, where it was killed before it had written that down."""
        written = {report.get("id") for report in past(self._folder, MOST_WAITING).reports} if reports else set()
        for report in reports:
            with contextlib.suppress(KeyError, TypeError, AttributeError):  # the file is damaged
                if report["id"] not in written:
                    self._hand_on(report)

    def _hand_on(self, report: Report) -> None:
        self._log.say(report["message"], priority(report), **journal_fields(report))
        self._writer.put(report)

    def context(self, go: Go, facts: Facts) -> Report:
        """What hooks get to know: a report about the event that the machine is prepared for, or recovered from.

        One that has left the document is described as it was last seen; after a restart that is what the mark knows of it.
        """
        document = facts.polled.document.events if facts.polled else ()
        there = {event.key: event for event in document}
        ids = [str(event) for event in (*go.events, *(facts.mark or {}).get("events", ()))]
        found = [event for event in ids if event.upper() in there] or ids
        seen = self._about(found[0], there, go, facts) if found else None
        outage = str(go.note.get("outage") or "")
        happened, words = "scheduled", "The machine is to be prepared."
        if go.to == "recovered":
            is_open = seen is not None and seen.event.key in there
            happened = "prepare_failed" if is_open else "cancelled" if seen and seen.outcome == CANCELLED else "ended"
            words = "The machine is to be recovered."
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
        while len(self._seen) > _MOST_EVENTS:
            del self._seen[next(iter(self._seen))]

    def stop(self) -> None:
        """Have written down what was said last."""
        self._writer.flush(LAST_WORDS, self._clock)

    def problem(self) -> str:
        """Why history or spool could not be written the last time, for people."""
        return self._history.problem or self._queue.problem or self._writer.problem

    def _report(self, say: Say, identity: Optional[Identity]) -> Report:
        return report_of(say, identity, self._moment(), self._machine)

    def _dropped(self, where: str, count: int, why: str) -> Dict[str, Any]:
        words = f"{count} reports for {where} were dropped: {why}."
        return self._report(Say("reports_dropped", words, details={"count": count}), None)
