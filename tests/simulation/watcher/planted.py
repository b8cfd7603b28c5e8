# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Faults that are planted in the handling, one for each kind of rule: the simulation has to see every one of them."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import mock

from .collection import ROOM, UTILS

LIVES = 500  # each fault is seen within so many


class Fault(NamedTuple):
    """What is changed: file (of the watcher, or with its room) and name, and what stands there instead, given what stood there."""

    rule: str  # of the oracle, which sees it
    words: str
    changes: list[tuple[str, str, Callable[[Any], Any]]]
    seed: int = 0  # that is known to show it
    mixed: bool = False  # in a set with Windows machines: no other shows it by this rule


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _real: lambda *_args, **_kwargs: value


def _is(value: Any) -> Callable[[Any], Any]:
    return lambda _real: value


def _lists_only_us(real: Any) -> Any:
    def lasting(here: Any, life: Any, *more: Any) -> Any:
        alone = life.tracked._replace(event=life.event._replace(resources=(here.name,)))
        return real(here, life._replace(tracked=alone), *more)

    return lasting


def _passes_for_prepared(real: Any) -> Any:
    return lambda *args: real(*args)._replace(prepared=True, lasting=())


def _sent_once(_real: Any) -> Any:
    return lambda _now, asked, *_answer: asked is None


def _always_quiet(real: Any) -> Any:
    return lambda event, document, name, _quiet, *args: real(event, document, name, 1e9, *args)


def _begins_more(real: Any) -> Any:
    def target(*args: Any) -> Any:
        found = real(*args)
        return found._replace(no_new_steps=False) if found and found.no_new_steps else found

    return target


def _other_outage(real: Any) -> Any:
    def target(here: Any, *args: Any) -> Any:
        found = real(here, *args)
        return found and found._replace(note={**found.note, "types": {}, "started": []})

    return target


def _cancelled(_real: Any) -> Any:
    return lambda tracked, *_when: "cancelled" if tracked.started is None else "completed"


def _forgets_that_it_told(real: Any) -> Any:
    def tell(self: Any, life: Any, happened: str, message: str, **more: Any) -> None:
        self.said[life.key] -= {happened}
        real(self, life, happened, message, **more)

    return tell


def _may_act_though_full(real: Any) -> Any:
    return property(lambda here: not here.facts.going_down and here.facts.identity is not None)


def _may_act_going_down(real: Any) -> Any:
    return property(lambda here: not here.facts.degraded and here.facts.identity is not None)


def _settled(real: Any) -> Any:
    return lambda here, tried: real(here, tried)._replace(settled=True)


def _knows_its_mark(real: Any) -> Any:
    def own_mark(facts: Any) -> Any:
        if facts.identity is None and facts.mark is not None:
            facts = facts._replace(identity=real.__globals__["Identity"]("", facts.mark["vm_id"]))
        return real(facts)

    return own_mark


def _knows_whom_it_listed(real: Any) -> Any:
    return lambda tracked, *polls: real(tracked, *polls)._replace(first_names=tracked.first_names)


def _watches_what_it_can_not_read(real: Any) -> Any:
    def lacked(tracked: Any, polls: Any, *args: Any) -> Any:
        for poll in polls:
            if poll.may_hold(tracked.event.key):
                seen = {observer: one._replace(polled=poll.got) for observer, one in tracked.sightings.items()}
                tracked = tracked._replace(sightings=seen)
        return real(tracked, [poll for poll in polls if not poll.may_hold(tracked.event.key)], *args)

    return lacked


def _feels_all(_real: Any) -> Any:
    return lambda self, look: 1e9 if self._known.polled_at is None else look.at - self._known.polled_at


def _has_looked(real: Any) -> Any:
    return lambda here, tried: real(here._replace(polled_at=0.0), tried)


def _waits_for_all(real: Any) -> Any:
    def prepared(machine: Any, events: Any, wanted: Any) -> Any:
        return real(machine, events, wanted) if all(one.shown for one in wanted) else None

    return prepared


def _waits_for_its_end(real: Any) -> Any:
    return lambda machine, events: [] if machine.view.is_recovering else real(machine, events)


def _never_again(real: Any) -> Any:
    return lambda machine, events: None if machine.view.is_partially_recovered else real(machine, events)


def _reads_all(real: Any) -> Any:
    return lambda event, document, *args: real(event, document._replace(unusable=()), *args)


def _takes_for_none(real: Any) -> Any:
    return lambda facts: real(facts._replace(unreadable=""))


def _seen_just_now(real: Any) -> Any:
    def unpacked(data: Any, moment: Any, now: float) -> Any:
        found = real(data, moment, now)
        if found is not None and found.polled_at is not None:
            found.polled_at, found.date = now, None
        return found

    return unpacked


def _minds_letters(_real: Any) -> Any:
    return lambda mark: {event: event for event in mark["events"]}


FAULTS = {
    "barrier": Fault(
        "barrier",
        "a machine that is not prepared passes for it",
        [("decision", "_standing", _passes_for_prepared)],
    ),
    "turn": Fault("turn", "it is always its turn", [("decision", "not_its_turn", _always(None))], seed=34),
    "space": Fault(
        "space", "nobody waits for others to come back", [("decision", "not_its_turn", _always_quiet)], seed=11
    ),
    "others": Fault(
        "allowed", "events of several machines are approved", [("decision", "_lasting", _lists_only_us)], seed=13
    ),
    "held": Fault("allowed", "nobody minds a hold", [("decision", "is_held", _always(False))], seed=34),
    "restarted": Fault(
        "again",
        "after a stranger's reboot nothing is done again",
        [("transitions", "_is_undone", _always(False))],
        seed=117,
    ),
    "lost": Fault(
        "prompt",
        "an approval is sent once, and never again",
        [("engine", "may_be_sent", _sent_once)],
    ),
    "one-look": Fault(
        "early",
        "two looks in a moment show that an event is gone",
        [("_core.tracked_event", "GONE_APART", _is(0.0))],
        seed=1,
    ),
    "cancelled": Fault(
        "claim", "what was not seen to start was cancelled", [("_core.tracked_event", "_outcome", _cancelled)], seed=8
    ),
    "kept": Fault(
        "early",
        "no event keeps a machine out of service",
        [("_core.transitions", "is_held", _always(False)), ("_core.transitions", "_is_under_event", _always(False))],
    ),
    "never-back": Fault("ends", "nobody is recovered", [("transitions", "_recover", _always(None))]),
    "struck": Fault("struck", "hooks are begun under an event", [("engine", "target", _begins_more)], seed=2),
    "settled": Fault("settled", "the boot is not waited for", [("transitions", "_machine", _settled)]),
    "late": Fault(
        "due", "nothing is prepared unless voluntarily", [("_core.deadlines", "urgency", _always("later"))], seed=1
    ),
    "full": Fault("full", "a full disk is no obstacle", [("snapshot", "Snapshot.may_act", _may_act_though_full)]),
    "going-down": Fault(
        "going-down",
        "a system that goes down is no obstacle",
        [("snapshot", "Snapshot.may_act", _may_act_going_down)],
        seed=15,
    ),
    "copy": Fault(
        "copy", "another machine's mark passes for its own", [("_core.mark_view", "is_copied", _always(False))], seed=16
    ),
    "name-late": Fault(
        "copy", "a mark is its own before it knows who it is", [("engine", "own_mark", _knows_its_mark)], seed=18
    ),
    "grown": Fault(
        "claim",
        "the mark passes for all that is known of an event",
        [("_core.tracked_event", "_seen", _knows_whom_it_listed)],
        seed=13,
    ),
    "taken-off": Fault(
        "claim",
        "what it was about to do is not remembered",
        [("engine", "RECOVERED", _is("nothing of this name"))],
        seed=444,
    ),
    "unfelt": Fault(
        "claim", "a machine feels it when it stands still", [("engine", "Engine._gap", _feels_all)], seed=216
    ),
    "unseen": Fault(
        "unseen",
        "a recovery goes on before anybody has polled",
        [("transitions", "_machine", _has_looked)],
        seed=219,
    ),
    "absent": Fault(
        "due", "what may be over holds up what comes", [("_core.transitions", "_prepared", _waits_for_all)], seed=64
    ),
    "letters": Fault(
        "early", "ids differ by their letters", [("_core.mark_view", "event_ids", _minds_letters)], seed=149
    ),
    "run": Fault(
        "held",
        "a run's mark is none",
        [("_core.mark_view", owner, _is("nobody")) for owner in ("RUN", "EXPIRED", "DRAIN")],
        seed=52,
    ),
    "twice": Fault("told", "what was told is told again", [("event_reports", "EventNews.tell", _forgets_that_it_told)]),
    "waits": Fault(
        "in-time",
        "what has to be prepared for now waits for the end of a recovery",
        [("_core.transitions", "_taken_up", _waits_for_its_end)],
        seed=365,
    ),
    "put-back": Fault(
        "stays",
        "nobody minds that a person has recovered the machine",
        [("decision", "is_suppressed", _always(False)), ("transitions", "is_suppressed", _always(False))],
        seed=20,
    ),
    "unfit": Fault(
        "allowed",
        "nobody minds a recover hook that can't be run",
        [("decision", "_of_its_type", _always(""))],
        seed=111,
    ),
    "given-up": Fault(
        "ends",
        "a recovery that has failed is not tried again, whatever is put right",
        [("transitions", "becomes", _never_again)],
    ),
    "unread": Fault(
        "turn", "what can't be read is nobody's event", [("decision", "not_its_turn", _reads_all)], seed=142
    ),
    "lost-id": Fault(
        "early",
        "an event whose entry can't be read has left",
        [("_core.tracked_event", "Poll.may_hold", _always(False))],
        seed=9,
    ),
    "unwatched": Fault(
        "claim",
        "what can't be read is watched all the same",
        [("_core.tracked_event", "_lacked", _watches_what_it_can_not_read)],
        seed=74,
    ),
    "unread-silent": Fault(
        "silent",
        "nobody says what can't be read",
        [("unreadable_entries", "news", lambda _real: lambda _here, reported: ([], dict(reported)))],
        seed=9,
    ),
    "damaged-mark": Fault(
        "claim", "a mark that can't be read passes for none", [("engine", "own_mark", _takes_for_none)], seed=18
    ),
    "silent": Fault(
        "silent",
        "nobody says who was hit",
        [("event_reports", "EventNews._take_strike", _always(None))],
        seed=2,
    ),
}


FAULTS["restarted-late"] = Fault(
    "space",
    "a watcher that is started again takes what was seen last for seen just now",
    [("engine", "unpacked", _seen_just_now)],
    seed=427,
    mixed=True,  # systemd starts it again at once
)


@contextlib.contextmanager
def planted(name: str) -> Iterator[None]:
    """With one of FAULTS, or with none."""
    with contextlib.ExitStack() as stack:
        for file, path, change in FAULTS[name].changes if name else ():
            owner: Any = importlib.import_module(f"{UTILS if file.startswith('_core') else ROOM}.{file}")
            *classes, attribute = path.split(".")
            for step in classes:
                owner = getattr(owner, step)
            stack.enter_context(mock.patch.object(owner, attribute, change(getattr(owner, attribute))))
        yield
