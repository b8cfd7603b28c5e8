# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one machine's watcher could know at each moment, by the journal: its documents, its mark, its own life."""

from __future__ import annotations

from typing import Any

from .azure import Event
from .machine import Machine

TAKES_AWAY = ("Terminate", "Preempt")
BROKEN = 10.0  # seconds without a look


class Witness:
    def __init__(self, machine: Machine, events: dict[str, Event]) -> None:
        self.machine, self.events = machine, events
        self.name, self.settings = machine.name, machine.first_settings
        self.look: dict[str, tuple[str, float, tuple[str, ...]]] = {}
        self.looked = -1e9
        self.looks: list[tuple[float, set[str]]] = []  # when each was, and which events it showed
        self.has_looked_since_boot = True
        self.ever_seen: set[str] = set()
        self.last_seen: dict[str, float] = {}
        self.resources: dict[str, set[str]] = {}
        self.noticed: dict[
            str, tuple[float, float]
        ] = {}  # by key: its not-before, and the notice that this was first shown with
        self.clock_is_wrong = False
        self.is_named = self.is_out = False
        self.just_shown: list[str] = []
        self.just_started: list[str] = []
        self.quiet_since = 0.0
        self.phase, self.mark_events, self.prepared_at = "", [], 0.0  # type: str, list[str], float
        self.failed: set[str] = set()
        self.hit: set[str] = set()
        self.ever_started: set[str] = set()
        self.posted: dict[str, float] = {}
        self.accepted: set[str] = set()  # events of which Azure has answered that it takes the last approval
        self.ready_since: dict[str, float] = {}
        self.due_since: dict[str, float] = {}
        self.serving_since = 1e9
        self.pressed: dict[str, float] = {}  # Preempts that it was first shown in a recovery, and since when
        self.going_down = False
        self.machine_booted = -500.0
        self.recoveries = self.recoveries_told = 0
        self.says_not_recovered = False
        self.forced_at: dict[str, float] = {}  # events despite which a person has recovered it
        self.is_forced = False  # that is being done
        self.going_back: set[str] = set()  # events despite which a recovery was begun: it goes on, yes or not
        self.is_held = False
        self.was_taken_off = False
        self.begun_at = -1e9  # when a hook or a step last was
        self.is_second_try = False  # what was begun last is a hook of recovery that was interrupted
        self.is_cut_off_twice = False  # one was, and is not started a third time
        self.unmarked_at = -1e9  # when it last was recovered
        self.remembers_its_mark = False  # the last that could be remembered is of before that
        self.was_slow, self.slow_at = False, -1e9  # the last answer; and when one last was
        self.stills: list[tuple[float, float]] = []  # from when to when nothing told that it stood still
        self.unfelt = 0.0  # seconds since the last look for which it stood still, its clocks too
        self.just_unread: list[str] = []
        self.ever_unread: set[str] = set()
        self.just_lost = False  # an event of its mark shows no more, and an entry without an id does
        self.unread: tuple[str, ...] = ()  # ids of what could not be read in the last look
        self.is_unfit = False  # a recover hook can't be run
        self.damaged_until = -1e9  # its mark can't be read
        self.is_blocked = False  # that it is not recovered was said, and is so
        self.made: float | None = None  # when its document was, where it says so

    def take(self, line: dict[str, Any]) -> None:
        method = getattr(self, "_" + line["what"].replace("-", "_"), None)
        if method:
            method(line)

    # ---- the journal ----

    def _look(self, line: dict[str, Any]) -> None:
        at, before, now = line["at"], self.look, line["events"]
        before_unread, self.unread = self.unread, line["unread"]
        self.is_unfit = line["unfit"]
        self.just_unread = [key for key in self.unread if key and key not in self.ever_unread]
        self.ever_unread.update(self.just_unread)
        shown_no_more = {key for key in self.mark_events if key in before and key not in (*now, *self.unread)}
        self.just_lost = "" in self.unread and any(not self.is_put_back(key, at) for key in shown_no_more)
        mine = {key for key, (_status, _time, names) in now.items() if self.name in names}
        self.is_named, self.is_out = line["named"], line["is_out"]
        self.just_shown, self.just_started = [], []
        if self.is_named:
            self.just_shown = [key for key in mine if key not in self.ever_seen]
            self.just_started = [
                key for key in mine if now[key][0] == "Started" and key not in self.ever_started and key not in self.hit
            ]
            self.ever_started.update(self.just_started)
        # What can't be read may be another's; and where an id is lost, nothing has left for certain.
        others = {key for key in before if self._is_others(before[key])}.union(before_unread)
        still = others if "" in self.unread else {key for key in now if self._is_others(now[key])}.union(self.unread)
        made, self.made = self.made, line["made"]
        by_date = made is not None and self.made is not None and self.made - made > BROKEN
        if at - self.looked > BROKEN or by_date or others - still:
            self.quiet_since = at
        self.was_slow = at - line["asked"] > 1.0
        self.slow_at = at if self.was_slow else self.slow_at
        self.unfelt = 0.0
        for key, (_status, not_before, names) in now.items():
            if key in mine:
                self.ever_seen.add(key)
            self.last_seen[key] = at
            self.resources.setdefault(key, set()).update(names)
            if key in mine and (key not in self.noticed or abs(self.noticed[key][0] - not_before) > 5.0):
                self.noticed[key] = not_before, not_before - at
        self.look, self.looked, self.has_looked_since_boot = now, at, True
        self.looks.append((at, set(now)))
        # It stays so, and is not said again, whichever of the entries that can't be read may be an event of its mark.
        self.is_blocked = self.is_blocked and any(key in ("", *self.mark_events) for key in self.unread)

    def _is_others(self, entry: tuple[str, float, tuple[str, ...]]) -> bool:
        return entry[0] != "Advisory" and any(name != self.name for name in entry[2])

    def _watching(self, line: dict[str, Any]) -> None:
        if line["forgets"]:
            self.looked = -1e9
            self.noticed = {}
        self.remembers_its_mark = not line["forgets"] and line["kept"] < self.unmarked_at
        # What it remembers is of the last look before it last could write that down.
        self.looks = [(at, keys) for at, keys in self.looks if at <= line["kept"]]
        self.looked = min(self.looked, max((at for at, _keys in self.looks), default=-1e9))
        self.last_seen = {key: at for key in self.last_seen for at, keys in self.looks if key in keys}
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.ready_since.clear()
        self.due_since.clear()
        self.pressed.clear()
        self.serving_since = 1e9

    def _killed(self, line: dict[str, Any]) -> None:
        self._begin_anew()
        self.is_forced = False

    def _forced(self, line: dict[str, Any]) -> None:
        self.forced_at.update(dict.fromkeys(line["events"], line["at"]))
        self.is_forced = True

    def _reload(self, line: dict[str, Any]) -> None:
        self.settings = line["settings"]
        self._begin_anew()

    def _still(self, line: dict[str, Any]) -> None:
        self._begin_anew()
        if not line["counts"]:
            self.unfelt += line["seconds"]
            self.clock_is_wrong = not self.machine.dates
            if not self.machine.dates:
                self.stills.append((line["at"], line["at"] + line["seconds"]))

    def _held(self, line: dict[str, Any]) -> None:
        self.is_held = True
        self._begin_anew()

    def _let_go(self, line: dict[str, Any]) -> None:
        self.is_held = False
        self._begin_anew()

    def _taken_off(self, line: dict[str, Any]) -> None:
        self.failed.update(self.mark_events)
        self.was_taken_off = True
        self.recoveries += self.phase == "recovering"
        self.pressed.clear()
        self._unmarked(line)

    def _clock(self, line: dict[str, Any]) -> None:
        self.clock_is_wrong = not self.machine.dates

    def _damaged(self, line: dict[str, Any]) -> None:
        self.damaged_until = line["until"]
        self._begin_anew()

    def is_out_for_what_is_lost(self, at: float) -> bool:
        """Whether it stays out of service from now on, as what can't be read may be its event."""
        out = self.phase == "prepared" and not (self.is_held or self.is_blocked or self.is_mark_damaged(at))
        return self.just_lost and out and self.is_named

    def is_mark_damaged(self, at: float) -> bool:
        return self.phase != "" and at < self.damaged_until

    def _refused(self, line: dict[str, Any]) -> None:
        self.is_cut_off_twice = self.is_cut_off_twice or line["why"] != "first"

    def _down(self, line: dict[str, Any]) -> None:
        self._begin_anew()
        self.is_cut_off_twice = self.is_cut_off_twice or (self.phase == "recovering" and self.is_second_try)
        self.going_down = self.is_forced = False
        self.looked, self.look = -1e9, {}
        self.prepared_at = 0.0

    def _up(self, line: dict[str, Any]) -> None:
        self.machine_booted, self.has_looked_since_boot = line["at"], False

    def _going_down(self, line: dict[str, Any]) -> None:
        self.going_down = True
        self.pressed.clear()

    def _mark(self, line: dict[str, Any]) -> None:
        if line["phase"] == "prepared" and self.phase != "prepared":
            self.prepared_at = line["at"]
        if line["phase"] != "recovering":
            self.going_back = set()
        elif self.phase != "recovering":
            self.going_back = {event for event in line["events"] if self.is_put_back(event, line["at"])}
        self.phase, self.mark_events = line["phase"], line["events"]
        self.is_forced = self.is_forced and self.phase != "half"

    def _unmarked(self, line: dict[str, Any]) -> None:
        self.phase, self.mark_events, self.unmarked_at = "", [], line["at"]
        self.damaged_until = -1e9
        self.says_not_recovered = self.is_forced = self.is_cut_off_twice = False

    def _begun(self, line: dict[str, Any]) -> None:
        self.begun_at = line["at"]
        self.is_second_try = (line["kind"], line["why"]) == ("recover", "cut off")

    def _posting(self, line: dict[str, Any]) -> None:
        self.posted[line["event"]] = line["at"]
        self.accepted.discard(line["event"])
        if line["fault"] == "ok":
            self.accepted.add(line["event"])

    def _say(self, line: dict[str, Any]) -> None:
        if line["happened"] == "prepare_failed":
            self.failed.add(line["event"])
        if line["happened"] == "started" and self.is_held:
            self.hit.add(line["event"])  # it was the holder's to prepare for
        if line["happened"] in ("recovery_failed", "recovery_blocked"):
            self.says_not_recovered = True
        if line["happened"] == "recovery_blocked":
            self.is_blocked = True

    # ---- the world at this moment ----

    def _has_yes(self, key: str, at: float) -> bool:
        """Of what a person has said last: a yes, or to put the machine back despite it."""
        return self.machine.yes_from <= at and self.forced_at.get(key, -1e9) < self.machine.yes_from

    def is_put_back(self, key: str, at: float) -> bool:
        return key in self.forced_at and not self._has_yes(key, at)

    def fits_between_looks(self, key: str, begins: float, ends: float) -> bool:
        """Whether no look showed the event in that time, and the watch counts as unbroken all the same."""
        before = [at for at, _keys in self.looks if at <= begins]
        after = [at for at, _keys in self.looks if at >= ends]
        was_shown = any(begins < at < ends and key in keys for at, keys in self.looks)
        return bool(before and after) and not was_shown and after[0] - before[-1] <= BROKEN

    def remembers(self, key: str) -> bool:
        """Whether a look showed it that was not forgotten."""
        return any(key in keys for _at, keys in self.looks)

    def missed_since(self, key: str) -> float:
        """When the first look came that did not show it any more."""
        return min((at for at, _keys in self.looks if at > self.last_seen.get(key, 1e9)), default=1e9)

    def seconds_felt(self, begins: float, ends: float) -> float:
        """How long that was by the machine's own clock, where nothing else tells it the time."""
        unfelt = sum(max(0.0, min(ends, until) - max(begins, since)) for since, until in self.stills)
        return ends - begins - unfelt

    def _in(self, what: str, at: float) -> bool:
        return any(begins <= at < ends for begins, ends in self.machine.windows[what])

    def is_full(self, at: float) -> bool:
        return self._in("full", at)

    def is_prepared(self, key: str) -> bool:
        return self.phase == "prepared" and key in self.mark_events

    def struck(self) -> list[str]:
        """This machine's events that its watcher sees under way."""
        return [key for key, entry in self.look.items() if entry[0] == "Started" and self._is_mine(key)]

    def _is_mine(self, key: str) -> bool:
        return self.name in self.resources[key] or key in self.mark_events

    def must_prepare(self, at: float) -> bool:
        """Whether something comes that has to be prepared for now, whatever else is under way."""
        return any(
            self._is_mine(key)
            and (self.events[key].type in TAKES_AWAY or (entry[0] != "Started" and self._is_due(key, entry[1] - at)))
            for key, entry in self.look.items()
        )

    def _is_due(self, key: str, left: float) -> bool:
        return self.clock_is_wrong or left <= max(self.settings.before, self.settings.limits + self._margin(key)) + 1.0

    def _margin(self, key: str) -> float:
        """Before its not-before: by the notice that this one was first shown with."""
        return min(30.0, 0.1 * max(self.noticed.get(key, (0.0, 0.0))[1], 0.0))

    # ---- may it, should it ----

    def sends_again(self, key: str) -> float:
        """Seconds after which an approval is sent again: one that Azure has accepted after a minute."""
        return 60.5 if key in self.accepted else 10.0

    def why_not_allowed(self, key: str, at: float) -> str:
        """Why the user's settings, or the event itself, forbid an approval."""
        do, yes = self.settings.do, self._has_yes(key, at)
        status = self.look.get(key, ("",))[0]
        checks = {
            "the watcher only reports": self.settings.mode != "manage",
            "it never approves": self.settings.approve == "never",
            f"the policy says {do}": do in ("ignore", "notify") or (do in ("prepare", "hold") and not yes),
            "a person has recovered the machine": self.is_put_back(key, at),
            "it lists others": self.resources.get(key, set()) != {self.name},
            "all is held": self._in("hold", at),
            f"it was {status or 'not there'}": status != "Scheduled",
            "nobody had looked for a while": at - self.looked - self.unfelt > BROKEN,
        }
        return next((why for why, holds in checks.items() if holds), "")

    def why_not_turn(self, key: str) -> str:
        if self.unread:
            return "there was an entry that can't be read"
        own = self.look.get(key)
        for other, (status, not_before, names) in self.look.items():
            if other == key or not self._is_others((status, not_before, names)):
                continue
            if status == "Started":
                return f"{other} was under way"
            if own and (not_before, other) < (own[1], key):
                return f"{other} came first"
        return ""

    def why_not_ready(self, key: str, at: float) -> str:
        """Why it need not be approved at this moment; "" when it should."""
        why = self.why_not_allowed(key, at) or self.why_not_turn(key)
        if why:
            return why
        if at - self.quiet_since < self.settings.cooldown + 1.0:
            return "too little is known of others"
        left = self.look[key][1] - at
        if (
            left <= 0
            or (self.is_unfit and self.settings.do in PREPARES_NOW)
            or self.clock_is_wrong
            or self.is_full(at)
            or self.is_mark_damaged(at)
            or self._in("unwritable", at)
            or self.going_down
            or not self.is_named
            or self.is_held
            or self.was_slow
            or not self._is_ours()
        ):
            return "it can't"
        if self.settings.do == "approve":
            return ""
        late = self.prepared_at > self.look[key][1] - self._margin(key) - 3.0 * self.machine.every
        return "" if self.is_prepared(key) and self.machine_is_out and not late else "it is not ready"

    @property
    def machine_is_out(self) -> bool:
        """Since its last start: what the boot has started again has to be stopped again."""
        return self.prepared_at >= self.machine_booted

    def _is_ours(self) -> bool:
        return self.phase in ("", "preparing", "prepared") or self.settings.do == "approve"

    def is_back_in_service(self, key: str, at: float) -> bool:
        """Whether the machine counts as prepared for what comes, and has been started anew since by nobody's event."""
        settled = at - self.machine_booted > self.machine.settles + 1.0
        can_act = not (self.is_full(at) or self.going_down or not self.is_named or self.struck() or self.clock_is_wrong)
        can_act = can_act and at - self.slow_at > 20.0  # what is over is known late
        can_act = can_act and not self.is_mark_damaged(at)
        wanted = self.look[key][0] == "Scheduled" and not self.is_put_back(key, at)
        return wanted and self.is_prepared(key) and not self.is_out and settled and can_act

    def takes(self) -> float:
        """Seconds in which the machine is prepared, if it is let; endless where something would not end well at once."""
        pieces = [piece for piece in self.machine.program.pieces.values() if piece.kind != "recover"]
        if any(code for piece in pieces for _seconds, code in piece.does):
            return 1e9
        first = {kind: [piece.does[0][0] for piece in pieces if piece.kind == kind] for kind in ("prepare", "step")}
        return sum(first["step"]) + max(first["prepare"], default=0.0)

    def is_neglected(self, key: str, at: float) -> bool:
        """Whether it should be prepared for by now, and nobody has begun."""
        status, not_before, _names = self.look[key]
        left = not_before - at
        return (
            self.settings.do in PREPARES_NOW
            and self.settings.mode == "manage"
            and status == "Scheduled"
            and self.name in self.resources[key]
            and self._is_due(key, left + 1.0)
            and (left > self._margin(key) + 1.0 or left < -2.0)
            and (self.phase in ("", "preparing", "prepared") or (self.phase == "recovering" and not self.is_forced))
            and key not in self.mark_events
            and key not in self.failed
            and not self.is_put_back(key, at)
            and not self.is_held
            and not self.is_mark_damaged(at)
            and at - self.slow_at > 20.0  # by such answers it is earlier than it is
            and not any(self._in(what, at) for what in ("full", "caseless", "unwritable"))
            and self.is_named
            and not self.going_down
            and not self.clock_is_wrong
        )


PREPARES_NOW = ("prepare", "hold", "prepare_and_approve")
