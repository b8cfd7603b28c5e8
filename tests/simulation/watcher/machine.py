# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One virtual machine: its watcher's process, its clocks, its disk, its network; and everything that befalls them."""

from __future__ import annotations

import email.utils
import functools
import json
import random
from collections.abc import Callable
from typing import Any

from lives.clock import Clock
from lives.journal import Journal, copied

from .azure import Entry, Scope
from .collection import parts
from .program import Piece, Program

WALL = 1767225600.0


class Killed(Exception):
    """The watcher is gone, in the middle of whatever it did."""


class Settings:
    """What the user of one machine wants, in plain words."""

    def __init__(
        self, do: str, mode: str, approve: str, before: float, cooldown: float, limits: float, undo: float
    ) -> None:
        self.do, self.mode, self.approve, self.before = do, mode, approve, before
        self.cooldown, self.limits, self.undo = cooldown, limits, undo

    def __repr__(self) -> str:
        return str(vars(self))


class Machine:
    """:arg every: seconds between two ticks"""

    system = "Linux"
    program_type = Program

    def __init__(
        self,
        name: str,
        scope: Scope,
        clock: Clock,
        journal: Journal,
        chance: random.Random,
        settings: Settings,
        pieces: list[Piece],
        every: float,
    ) -> None:
        self.name, self.vm_id, self.scope, self.clock, self.journal = name, f"id-{name}", scope, clock, journal
        self.chance, self.settings, self.every = chance, settings, every
        self.first_settings = settings
        self.program = self.program_type(self, pieces, self._place)
        self.windows: dict[str, list[tuple[float, float]]] = {
            "full": [],
            "blind": [],
            "hold": [],
            "nameless": [],
            "caseless": [],
            "slow": [],  # answers take seconds, and say how it was at some moment of that
            "lagging": [],  # they come from one of several that learn of things late
            "forgetful": [],  # nothing can be written to /run
            "unwritable": [],  # a mark can't be written, of which nobody knew before
            "unfit": [],  # its recover hooks have lost a right, or are gone
        }
        self.yes_from = 1e9
        self.put_back: set[str] = set()  # events despite which a person has recovered it; on its disk
        self.yes: set[str] = set()  # events to which a person has said yes: all that show from then on; on its disk
        self.yes_taken_back: set[str] = set()
        self.is_ordered = False  # to recover, by force
        self.wall_off = 0.0
        self.dates = True  # its service's answers tell the time
        self.copied_hold = False
        self.put_back_at = -1e9
        self.damaged_until = -1e9  # nobody can read its mark
        self.unread: tuple[str, ...] = ()  # ids of the entries of the last look that can't be read
        self.post_faults: list[str] = []  # one for each of the first posts: ok, lost, unanswered, refused
        self.settles = 10.0  # seconds from a boot until its jobs are over
        self.first_answers = [0.0]  # seconds from a boot until events are answered, boot by boot
        self.names_after = [0.0]  # seconds from a start of the watcher until it knows its name, start by start
        self.spells_oddly = False  # its service writes ids and names now in these letters, now in those
        self.up, self.taken, self.going_down = True, False, False
        self.boots, self.booted_at, self.booted_mono = 1, -500.0, -500.0
        self.watcher: Any = None
        self.started_at = 0.0
        self.kept: dict[str, Any] = {}  # what /run holds
        self.kept_at = 0.0
        self.posted: dict[str, Any] = {}
        self.answer: Any = None
        self.look: Any = None
        self.looks = 0
        self.seen: tuple[Entry, ...] = ()  # of the last look
        self.asks = False  # an answer is awaited
        self.turn = 0  # of the ticks that are due only the one of this turn comes
        self.stands_until, self.stood_still = 0.0, 0.0
        self.frozen: float | None = None  # what its clock says for as long as it stands still
        self.named_at = 0.0
        self.troubles: list[
            tuple[str, float, Callable[..., None], tuple[Any, ...]]
        ] = []  # each once, after it enters a phase
        self.entered_at = -1e9  # when its mark last came to another phase
        self.dies_in: int | None = None  # places until it is killed
        self.dies_with_power = False
        self.process = 0  # which one it is
        self.is_named = False  # it has learned who it is
        self.product_settings = _as_the_product_has_them(settings)

    @property
    def boot_id(self) -> str:
        return f"{self.name}-boot-{self.boots}"

    @property
    def mono(self) -> float:
        """The clock that nobody sets; it may stand still with the machine."""
        return self.clock.now - self.stood_still if self.frozen is None else self.frozen

    @property
    def mark(self) -> Any:
        return self.program.mark

    def within(self, what: str) -> bool:
        spans = self.windows[what]  # mostly none, and that is asked eight times a tick
        return bool(spans) and any(begins <= self.clock.now < ends for begins, ends in spans)

    @property
    def is_full(self) -> bool:
        return self.within("full")

    @property
    def is_mark_damaged(self) -> bool:
        return self.mark is not None and self.clock.now < self.damaged_until

    @property
    def is_unfit(self) -> bool:
        """Whether a recover hook can't be run."""
        return self.within("unfit") and any(piece.kind == "recover" for piece in self.program.pieces.values())

    def lacks_case(self) -> bool:
        return self.within("caseless")

    def note(self, what: str, **details: Any) -> None:
        self.journal.add(what, machine=self.name, **details)

    @property
    def is_out(self) -> bool:
        """Whether nothing runs any more that a step was to stop. What became one since it was prepared is none of its outage's."""
        self.program.came_to_pass()
        pieces = self.program.pieces
        keys = pieces if self.mark is None else [entry["key"] for entry in self.mark["steps"]]
        return not any(pieces[key].running for key in keys)

    def put_back_steps(self) -> None:
        """Somebody who knows nothing of the maintenance starts what it has stopped."""
        if self.up and self.mark is not None and self.mark["phase"] == "prepared":
            self.program.came_to_pass()
            for piece in self.program.pieces.values():
                piece.running = piece.kind == "step"
            self.put_back_at = self.clock.now
            self.note("put-back")

    # ---- the process ----

    def start_watcher(self, forgets: bool = False) -> None:
        if not self.up or self.taken or self.watcher is not None:
            return
        self.watcher = parts().handling.Engine({} if forgets else json.loads(json.dumps(self.kept)))
        self.process += 1
        self._ask_who_it_is()
        self.is_ordered = False
        self.started_at, self.look, self.answer, self.posted, self.asks = self.clock.now, None, None, {}, False
        self.note("watching", forgets=forgets or not self.kept, kept=self.kept_at)
        self._wake(0.05)

    def _ask_who_it_is(self) -> None:
        self.is_named = False
        self.named_at = self.clock.now + self.names_after[self.process % len(self.names_after)]

    def _wake(self, after: float = 0.0) -> None:
        """The next tick is then."""
        self.turn += 1
        self.clock.after(after, self._tick, self.process, self.turn)

    def reload(self, settings: Settings, pieces: list[Piece]) -> None:
        """Somebody changes the settings, or adds hooks; whom to ask may have changed, so it is asked again who this is."""
        self.settings, self.product_settings = settings, _as_the_product_has_them(settings)
        self.program.pieces.update({piece.key: piece for piece in pieces if piece.key not in self.program.pieces})
        self._ask_who_it_is()
        self.note("reload", settings=settings)

    def stand_still(self, seconds: float, counts: bool, corrected_after: float) -> None:
        """Azure pauses the machine.

        :arg counts: whether its clocks go on
        :arg corrected_after: seconds after which the clock on the wall is set right
        """
        if not self.up or self.clock.now < self.stands_until:
            return
        self.note("still", seconds=seconds, counts=counts)
        self.stands_until = self.clock.now + seconds
        if not counts:
            self.frozen = self.mono
            self.clock.at(self.stands_until, self._goes_on, seconds, corrected_after)

    def _goes_on(self, seconds: float, corrected_after: float) -> None:
        if self.frozen is None:
            return
        self.frozen = None
        self.stood_still += seconds
        self.wall_off -= seconds
        self.clock.after(corrected_after, self._correct, seconds)

    def _correct(self, seconds: float) -> None:
        self.wall_off += seconds

    def take_off_the_mark(self) -> None:
        """A person recovers the machine by hand, and removes the mark."""
        has_ticked = self.clock.now > max(self.entered_at, self.stands_until) + 2.0  # by then its watcher has seen it
        if self.up and self.mark is not None and not self.is_held and has_ticked:
            self.program.take_off()
            self.note("taken-off")

    def take_rights(self, seconds: float) -> None:
        """Somebody takes from its recover hooks the right to be run, or moves them away, for a while."""
        self.windows["unfit"].append((self.clock.now, self.clock.now + seconds))

    def damage_mark(self, seconds: float) -> None:
        """Nobody can read it, until a person has put it right."""
        if self.up and self.mark is not None and not self.is_held:
            self.damaged_until = self.clock.now + seconds
            self.note("damaged", until=self.damaged_until)

    @property
    def is_held(self) -> bool:
        """By a run of maintain."""
        return self.mark is not None and self.mark["holder"]["run"] != "watcher"

    def hold_by_a_run(self, seconds: float) -> None:
        if self.up and self.mark is None:
            self.program.mark = foreign_mark(self)
            self.note("held")
            self.clock.after(seconds, self._let_go)

    def _let_go(self) -> None:
        if self.is_held:
            self.program.mark = None
            self.note("let-go")

    def _place(self) -> None:
        if self.dies_in is not None:
            self.dies_in -= 1
            if self.dies_in <= 0:
                raise Killed

    def kill(self, after_places: int, with_power: bool) -> None:
        """The next time that it does so much; a process that does nothing dies within the second."""
        if self.up and self.watcher is not None:
            self.dies_in, self.dies_with_power = after_places, with_power
            self.clock.after(1.0, self._die, self.process)

    def force(self) -> None:
        """A person has it recovered despite its events."""
        if not self.up or self.watcher is None or self.mark is None or self.is_full or self.going_down:
            return
        if self.is_mark_damaged:
            return
        if self.is_held or self.mark["vm_id"] != self.vm_id:
            return
        events = {event.upper() for event in self.mark["events"]}
        self.put_back |= events
        if self.clock.now >= self.yes_from:
            self.yes_taken_back |= events
        self.is_ordered = True
        self.note("forced", events=sorted(events))

    def get_in_the_way(self, last: float) -> None:
        """What else may go wrong until then."""

    def _die(self, process: int) -> None:
        if self.dies_in is None or process != self.process or self.watcher is None:
            return
        power, self.dies_in = self.dies_with_power, None
        self.note("killed", power=power)
        self.watcher = None
        if power:
            self.lose_power(self.chance.uniform(10, 40))
        else:
            self.clock.after(self.restarts_after(), self.start_watcher, self.chance.random() < 0.15)

    def restarts_after(self) -> float:
        """Seconds until a watcher that was killed runs again."""
        return self.chance.uniform(0.2, 3.0)

    def strike(self, down: float) -> None:
        """An event of Azure's takes the machine down: for a while, or for good."""
        if self.up:
            self.lose_power(down)

    def shut_down(self, takes: float, down: float) -> None:
        """Somebody reboots it in order."""
        if self.up:
            self.going_down = True
            self.note("going-down")
            self.clock.after(takes, self._shut_down, down)

    def _shut_down(self, down: float) -> None:
        if self.going_down:
            self.lose_power(down)

    def lose_power_now(self, down: float) -> None:
        if self.up:
            self.lose_power(down)

    def lose_power(self, down: float) -> None:
        self.note("down", seconds=down)
        self.program.power_lost()
        self.up, self.going_down, self.watcher, self.kept, self.dies_in = False, False, None, {}, None
        self.seen, self.unread, self.stands_until, self.frozen = (), (), 0.0, None
        if down > 1e6:
            self.taken = True
            return
        self.clock.after(down, self._boot)

    def _boot(self) -> None:
        self.up, self.boots, self.booted_at, self.booted_mono = True, self.boots + 1, self.clock.now, self.mono
        waits = self.first_answers[min(self.boots, len(self.first_answers)) - 1]
        self.windows["blind"].append((self.clock.now, self.clock.now + waits))
        self.note("up")
        self.start_watcher()

    def entered(self, phase: str) -> None:
        self.entered_at = self.clock.now
        for trouble in [trouble for trouble in self.troubles if trouble[0] == phase]:
            self.troubles.remove(trouble)
            _phase, after, what, arguments = trouble
            self.clock.after(after, what, *arguments)

    # ---- a tick ----

    def _tick(self, process: int, turn: int) -> None:
        if self.watcher is None or process != self.process or turn != self.turn:
            return
        if self.clock.now < self.stands_until:
            self._wake(self.stands_until - self.clock.now + 0.01)
            return
        try:
            was_named = self.is_named
            self.is_named = was_named or (self.clock.now >= self.named_at and not self.within("nameless"))
            self._look_once()
            known = self.answer
            for act in self._ordered(self.watcher.tick(self._facts())):
                self._place()
                self._do(act)
        except Killed:
            self._die(process)
            return
        if self.answer is not None and self.answer.state not in ("preparing", "recovering"):
            self.is_ordered = False
        busy = self.mark is not None and self.mark["phase"] in ("preparing", "recovering")
        busy = busy or self.answer is not known and (known is None or known[:3] != self.answer[:3])
        is_stuck = self.mark is not None and self.mark["phase"] == "half" and self.clock.now > self.entered_at + 20.0
        idle = not self.seen and (self.mark is None or is_stuck)
        wait = min(self.every, 0.5) if busy else 5.0 if idle else self.every
        if not self.is_named and self.clock.now < self.named_at:
            wait = min(wait, self.named_at - self.clock.now)  # it is woken by that
        self._wake(wait)

    def _ordered(self, acts: list[Any]) -> list[Any]:
        """A person's word goes first, as in the loop."""
        if not self.is_ordered or self.mark is None or self.is_mark_damaged:
            return acts
        kinds = parts().interface
        rest = [act for act in acts if not isinstance(act, (kinds.Go, kinds.Approve))]
        if self.is_full or self.going_down:
            return rest
        return [*rest, kinds.Go("recovered", 1e9, (), self.mark["note"])]

    # ---- looks ----

    def _look_once(self) -> None:
        has_just_come = self.look is not None and self.look.at == self.mono
        if self.within("blind") or self.asks or has_just_come:
            return
        now = self.clock.now
        takes = self.chance.uniform(0.0, 9.0) if self.within("slow") else 0.0
        lag = self.chance.uniform(0.0, 1.6) if self.within("lagging") else 0.0
        made = now + self.chance.uniform(0.0, takes) - lag
        if takes:
            self.asks = True
            self.clock.after(takes, self._answered, self.process, self.mono, now, made)
        else:
            self._take_answer(self.mono, now, made)

    def _answered(self, process: int, asked: float, asked_at: float, made: float) -> None:
        if self.watcher is None or process != self.process:
            return
        if self.clock.now < self.stands_until:
            self.clock.at(self.stands_until, self._answered, process, asked, asked_at, made)
            return
        self.asks = False
        self._take_answer(asked, asked_at, made)
        self._wake()

    def _take_answer(self, asked: float, asked_at: float, made: float) -> None:
        """
        :arg asked: when it was, by the machine's clock
        :arg asked_at: and by the world's
        :arg made: of which moment the document is
        """
        self.looks += 1
        incarnation, self.seen, self.unread = self.scope.document(made)
        events = tuple(self._event(entry) for entry in self.seen) if self.spells_oddly else as_product_events(self.seen)
        document = parts().document.Document(incarnation, events, tuple(map(as_unreadable, self.unread)))
        date = WALL + made if self.dates else None
        self.look = parts().interface.PollResult(document, self.mono, date, self.looks, asked)
        self.note(
            "look",
            named=self.is_named,
            is_out=self.is_out,
            asked=asked_at,
            made=made if self.dates else None,
            unread=self.unread,
            unfit=self.is_unfit,
            events={entry.id: (entry.status, entry.not_before, entry.resources) for entry in self.seen},
        )

    def _event(self, entry: Entry) -> Any:
        if self.chance.random() < 0.5:
            entry = entry._replace(id=entry.id.lower(), resources=tuple(name.upper() for name in entry.resources))
        return as_product_event(entry)

    def _facts(self) -> Any:
        facts, now = parts().interface, self.mono
        hold = facts.Hold("a freeze", "root", None, "id-another" if self.copied_hold else self.vm_id)
        if self.clock.now >= self.yes_from:
            self.yes.update(event.id.upper() for event in self.seen)
        return facts.Facts(
            now=now,
            moment=parts().clock.Moment(WALL + self.clock.now + self.wall_off, now - self.booted_mono, self.boot_id),
            settings=self.product_settings,
            identity=facts.Identity(self.name, self.vm_id) if self.is_named else None,
            polled=self.look,
            poll_problem="no answer" if self.within("blind") else "",
            mark=None if self.is_mark_damaged else copied(self.mark),
            unreadable="it is no JSON" if self.is_mark_damaged else "",
            answer=self.answer,
            posted=dict(self.posted),
            hold=hold if self.within("hold") or self.copied_hold else None,
            confirmed=frozenset(self.yes - self.yes_taken_back),
            steps={},
            going_down=self.going_down,
            settled=now - self.booted_mono >= self.settles,
            degraded="no space left" if self.is_full else "",
            suppressed=frozenset(self.put_back),
            recovery_lacks={"": "the hook recover.d/0 is not run: it is not executable"} if self.is_unfit else {},
        )

    def _do(self, act: Any) -> None:
        acts = parts().interface
        if isinstance(act, acts.Say):
            event = act.event.event_id.upper() if act.event else ""
            unread = str(act.details.get("id", "")) if act.happened == "event_unreadable" else ""
            self.note("say", happened=act.happened, event=event or unread, outcome=act.outcome)
        elif isinstance(act, acts.Go):
            self.note("go", to=act.to, still=act.no_new_steps, events=list(act.events))
            state, why = self.program.go(act)
            look = parts().second_look.SecondLook(self.mono, "stands" if state == "prepared" else "unknown")
            if act.no_new_steps and not act.looks and state == "prepared" and self.answer:
                look = self.answer.second_look  # nothing was looked at
            self.answer = parts().interface.Answer(act.to, state, why, [], self.mono, look)
        elif isinstance(act, acts.Approve):
            for event in act.events:
                self._post(event.upper())
        elif isinstance(act, acts.PutAside):
            self.note("aside", of=act.what)
            if act.what == "mark":
                self.program.mark = None
                self.program.jobs.clear()
            else:
                self.copied_hold = False
        elif not self.within("forgetful"):
            self.kept, self.kept_at = act.what, self.clock.now

    def _post(self, identity: str) -> None:
        fault = self.post_faults.pop(0) if self.post_faults else "ok"
        self.note("posting", event=identity, fault=fault, is_out=self.is_out, unfit=self.is_unfit)
        if fault in ("ok", "unanswered"):
            self.clock.after(self.chance.uniform(0.01, 0.4), self.scope.approve, identity, self.name)
        takes = 5.0 if fault in ("lost", "unanswered") else 0.5
        self.clock.after(takes, self._posted, self.process, identity, fault == "ok")

    def _posted(self, process: int, identity: str, accepted: bool) -> None:
        if self.clock.now < self.stands_until:
            self.clock.at(self.stands_until, self._posted, process, identity, accepted)
        elif process == self.process and self.watcher is not None:
            why = "" if accepted else "no answer"
            self.posted[identity] = parts().interface.Posted(self.mono, accepted, why)

    def end_job(self, jobs: dict[Any, Any], name: Any, cut: bool = False) -> None:
        """What still runs of it is ended.

        :arg cut: whether that counts as cut off, and not as a failure of its own
        """
        job = jobs.get(name)
        if job is not None and job.ends > self.mono:
            jobs[name] = job._replace(ends=self.mono, code=143, cut=cut)


def as_product_event(entry: Entry) -> Any:
    names_a_time = entry.names_a_time and entry.status != "Started"
    return parts().event.Event(
        entry.id,
        entry.type,
        entry.status,
        "VirtualMachine",
        entry.resources,
        entry.resources,
        # As the service writes it: a watcher that is restarted reads it again.
        email.utils.formatdate(WALL + entry.not_before, usegmt=True) if names_a_time else "",
        WALL + entry.not_before if names_a_time else None,
        "",
        entry.source,
        -1,
    )


def as_unreadable(identity: str) -> Any:
    """An entry without machines, and without an id where that is lost, too."""
    raw = parts().document.JsonObject({"EventId": identity} if identity else {})
    return parts().document.UnusableEvent(1, "it has no Resources", raw)


@functools.lru_cache(maxsize=64)
def as_product_events(entries: tuple[Entry, ...]) -> tuple[Any, ...]:
    return tuple(map(as_product_event, entries))


def _as_the_product_has_them(settings: Settings) -> Any:
    policy = parts().policy.parse_policy([{"do": settings.do}])
    return parts().options.Settings(
        settings.mode, settings.approve, policy, settings.before, settings.limits, settings.undo, settings.cooldown
    )


def foreign_mark(machine: Machine) -> dict[str, Any]:
    """Of a run of maintain, which has prepared the machine for something."""
    return {
        "vm_id": machine.vm_id,
        "boot_id": machine.boot_id,
        "events": [],
        "steps": [],
        "holder": {"kind": "run", "run": "run-7", "job": "", "controller": "ctl"},
        "lease": {"uptime": 0.0, "boot_id": machine.boot_id, "until": 120.0},
        "since": "then",
        "phase": "prepared",
        "note": {"outage": "of-a-run"},
    }
