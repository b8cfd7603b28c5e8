# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher does next: the facts of one tick in, acts out. Pure.

Private to this collection.

It may be killed after any act and begin anew: all that it has to know then stands in the mark, and in the document.
"""

from typing import Any, Dict, List, Mapping, Optional, Tuple

from ..._core.decision import PREPARING, may_be_sent
from ..._core.mark_view import COPIED, OURS, UNIDENTIFIED, MarkView, is_copied
from ..._core.tracked_event import FOREVER, UNBROKEN, Poll, polled
from ..._core.transitions import PREPARED, RECOVERED
from ..._text import one_line
from . import engine_state, unreadable_entries
from .decision import EventDecision, decision_on, judged, keys_of_others
from .engine_state import MachineEvent, Recollection, unpacked
from .interface import Approve, Facts, Go, PollResult, PutAside, Remember, Say
from .progress import Progress, forgotten, late, progress
from .snapshot import PAUSE, Reckoning, Snapshot, note_of, own_mark, reckoned
from .tick_reports import news
from .transitions import target

REMEMBER = 4.0
"""Seconds between two recollections at most: a watch counts as broken after 10."""


class Engine:
    """:arg remembered: what the process before this one has left by :class:`.interface.Remember`"""

    def __init__(self, remembered: Optional[Mapping[str, Any]] = None) -> None:
        self._remembered = remembered or {}
        self._known = Recollection()
        self._since: Optional[float] = None  # when the first tick was
        self._polled: Optional[PollResult] = None  # the last one whose document is one
        self._taken: Optional[Tuple[int, str]] = None  # number of the last answer that was taken, and by which name
        self._reckoning: Optional[Reckoning] = None
        self._clocks: Optional[Reckoning] = None  # of the last tick
        self._kept = 0.0
        self.decisions: Dict[str, EventDecision] = {}
        """Of each event that is not over, by key: for whoever asks how things stand."""
        self.unreadable: List[str] = []
        """What of the document can't be read, and what follows from it: likewise."""

    def tick(self, facts: Facts) -> List[Any]:
        """What is to be done now, in this order."""
        if self._since is None:
            self._since = facts.now
            self._known = unpacked(self._remembered, facts.moment, facts.now) or Recollection()
        mark = own_mark(facts)
        self._recall(facts, mark)
        self._take_look(facts, mark)
        here = self._here(facts, mark)
        for key, life in here.lives.items():
            here.lives[key] = judged(here, life)
        found = self._follow(here)
        says = self._news(here, found)
        for key in forgotten(here) if found else ():  # their end was reported
            del here.lives[key]
        aside = _aside(here)
        says += [Say("clone_detected", act.why) for act in aside]
        approvals = self._approvals(here)
        go = None if aside else target(here, self.decisions, self._known.tried)
        if go and go.to == PREPARED:
            here.lives.update(_begun(here, go))
        if go and go.to == RECOVERED:
            # The mark may be gone before the next tick, which may be another process's: it must not ask who has taken it off.
            self._known.begun = self._known.begun._replace(phase="recovering")
        acts = [*aside, *([go] if go else []), *approvals]
        # Remembered before it is done: whoever comes after this process knows at least of what may have been done.
        return [*says, *self._remember(facts, bool(says or acts)), *acts]

    # ---- what is known ----

    def _recall(self, facts: Facts, mark: MarkView) -> None:
        """The events of the mark that this process has not seen."""
        name = facts.identity.name if facts.identity else ""
        note = note_of(facts.mark) if mark.owner == OURS else {}
        types = {event_id.upper(): kind for event_id, kind in (note.get("types") or {}).items()}
        for key, event_id in mark.ids.items():
            if key not in self._known.lives:
                kind = types.get(key, "")
                self._known.lives[key] = engine_state.recalled(event_id, kind, name, note, facts.now)

    def _take_look(self, facts: Facts, mark: MarkView) -> None:
        """What the last answer says of this machine's events, and of whether others are out."""
        polled, known = facts.polled, self._known
        name = facts.identity.name if facts.identity else ""
        if polled is None or self._taken == (polled.number, name):
            return
        self._taken = (polled.number, name)
        if polled.document.incarnation is None:
            return  # an empty answer is no document
        self._reckoning = reckoned(polled, facts.moment, facts.now)
        gap = self._gap(polled)
        has_rebooted = mark.owner == OURS and mark.boot_id not in ("", facts.moment.boot_id)
        self._take_poll(_poll(polled, known.lives, self._reckoning.wall, gap), name, facts.now, has_rebooted)
        # Until the name was known all events counted as others'; its own do not leave by its becoming known.
        known.others_left = bool(polled.document.lacks(known.others)) or (known.others_left and gap <= UNBROKEN)
        if gap > UNBROKEN or polled.document.lacks(known.others):
            known.quiet_since = polled.at
        known.name = name or known.name
        self._polled, known.polled_at, known.date = polled, polled.at, polled.date
        known.others = keys_of_others(polled.document, known.name)

    def _take_poll(self, poll: Poll, name: str, now: float, has_rebooted: bool) -> None:
        """What a document makes of the machine's events.

        :arg has_rebooted: whether the machine was rebooted since it was prepared
        """
        lives = self._known.lives
        before = {key: life.tracked for key, life in lives.items()}
        approved = [key for key, life in lives.items() if life.approved]
        rebooted = [key for key in approved if has_rebooted and lives[key].is_recalled]
        after = polled(before, [poll], now, approved, lambda event: bool(name) and event.affects(name), rebooted)
        for key, tracked in after.items():
            lives[key] = engine_state.followed(lives[key], tracked) if key in lives else engine_state.begun(tracked)

    def _gap(self, polled: PollResult) -> float:
        """Seconds for which nobody had polled. A machine that Azure lets stand still does not feel it; the service's clock goes on."""
        if self._known.polled_at is None:
            return FOREVER
        felt = polled.at - self._known.polled_at
        before = self._known.date
        stood = 0.0 if polled.date is None or before is None else polled.date - before - felt
        return felt + stood if stood > PAUSE else felt

    def _here(self, facts: Facts, mark: MarkView) -> Snapshot:
        wall = self._reckoning.wall_at(facts.now) if self._reckoning else facts.moment.wall
        document = self._polled.document if self._polled else None
        known = self._known
        asked = self._polled.asked if self._polled else known.polled_at
        quiet = facts.now - known.quiet_since
        return Snapshot(facts, wall, mark, known.lives, document, known.polled_at, asked, quiet, known.others_left)

    def _follow(self, here: Snapshot) -> Optional[Progress]:
        """What all that means for the events and their outage; None while nobody knows whose the mark is."""
        found = None
        if here.marked.owner != UNIDENTIFIED:
            found = progress(here, self._known)
            here.lives.update(found.lives)
            self._known.begun, self._known.tried = found.begun, found.tried
            self._known.answered = found.answer.at if found.answer else self._known.answered
        self.decisions = {life.key: decision_on(here, life) for life in here.open}
        if found:
            here.lives.update(late(here, self.decisions))
        self.unreadable = unreadable_entries.sentences(here)
        return found

    # ---- what is reported ----

    def _news(self, here: Snapshot, found: Optional[Progress]) -> List[Say]:
        since = here.now if self._since is None else self._since
        reported = news(here, found, self.decisions, self._known.reported, self._clocks, since)
        self._clocks = Reckoning(here.now, here.facts.moment.wall)
        self._known.reported = reported.of_machine
        for key, said in reported.of_events.items():
            if said != here.lives[key].said:
                here.lives[key] = here.lives[key]._replace(said=said)
        return reported.says

    # ---- approve ----

    def _approvals(self, here: Snapshot) -> List[Any]:
        """What is approved now. That it is stands in the mark first, so that nobody will call cancelled what was approved."""
        due = []
        for key, life in [(key, here.lives[key]) for key, found in self.decisions.items() if found.approve]:
            if here.is_marked(life) and not here.second_look.allows(here.now):
                continue
            here.lives[key] = life = life._replace(approved=True)
            if here.is_marked(life) and not here.notes("approved", key):
                continue
            if _may_be_sent(here, life):
                here.lives[key] = life._replace(asked=here.now)
                due.append(life)
        own = tuple(life.event.event_id for life in due if self.decisions[life.key].action in PREPARING)
        return [Approve(tuple(life.event.event_id for life in due), own)] if due else []

    # ---- kept ----

    def _remember(self, facts: Facts, has_acted: bool) -> List[Any]:
        if not has_acted and facts.now - self._kept < REMEMBER:
            return []
        self._kept = facts.now
        return [Remember(self._known.packed(facts.moment, facts.now))]


def _poll(polled: PollResult, lives: Mapping[str, MachineEvent], wall: float, gap: float) -> Poll:
    """A document as the core takes it.

    :arg wall: the Unix time of its answer
    """
    events = {event.key: event for event in polled.document.events}
    # What a document leaves out is kept.
    due = {key: life.event.not_before_time for key, life in lives.items()}
    due.update((key, event.not_before_time) for key, event in events.items() if event.not_before_time is not None)
    return Poll(
        engine_state.HERE,
        polled.asked,
        polled.at,
        events,
        {key: moment - wall for key, moment in due.items() if moment is not None},
        frozenset(entry.key for entry in polled.document.unusable),
        unwatched=gap,
    )


def _begun(here: Snapshot, go: Go) -> Dict[str, MachineEvent]:
    """The events whose preparation is asked for now for the first time."""
    keys = [event_id.upper() for event_id in go.events if not go.no_new_steps]
    return {key: here.lives[key]._replace(begun=here.now) for key in keys if here.lives[key].begun is None}


def _aside(here: Snapshot) -> List[PutAside]:
    """What was copied from another machine."""
    hold, acts = here.facts.hold, []
    if here.marked.owner == COPIED:
        acts.append(PutAside(f"The mark is of {here.marked.owner_words}, of which this machine is a copy.", "mark"))
    if hold and is_copied(hold.vm_id, here.vm_id):
        why = f"The hold is of VM {one_line(hold.vm_id)}, of which this machine is a copy."
        acts.append(PutAside(why, "hold"))
    return acts


def _may_be_sent(here: Snapshot, life: MachineEvent) -> bool:
    posted = here.facts.posted.get(life.key)
    return may_be_sent(here.now, life.asked, posted.at if posted else None, bool(posted and posted.accepted))
