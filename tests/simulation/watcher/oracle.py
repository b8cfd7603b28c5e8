# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges a life by what really happened and what was said of it. It shares no code with what it judges.

It goes through the journal line by line, keeping of each machine what its watcher could know, and holds every deed against that.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from .azure import ADVICE
from .life import Life
from .machine import Machine
from .witness import TAKES_AWAY, Witness

PREPARES = ("prepare", "hold", "prepare_and_approve")
BLIP = 3.0  # seconds for which documents may be empty: nobody can tell that from an event that has left
SLACK = 3.0  # seconds: a tick or two, and what a call takes
LOOKS_AGAIN = 60.0  # seconds after which it looks at what it did, while nothing is approved
SINCE_LOOKED = 7.0  # seconds that the second look may be old, and a tick or two


def judged(life: Life) -> list[str]:
    """Everything that was wrong in a life."""
    return Judge(life).verdict()


class Judge:
    def __init__(self, life: Life) -> None:
        self.life = life
        self.events = {event.id: event for event in life.scope.events}
        self.wrong: list[str] = []
        self.witnesses = {name: Witness(machine, self.events) for name, machine in life.machines.items()}
        self.begun: Counter[tuple[str, ...]] = Counter()
        self.told: Counter[tuple[str, ...]] = Counter()
        self.forgot: Counter[str] = Counter()
        self.owed: dict[str, list[tuple[float, str, str]]] = {
            name: [] for name in life.machines
        }  # until when, what, of which event

    def verdict(self) -> list[str]:
        for line in self.life.journal.lines:
            name = line.get("machine", "")
            if name not in self.witnesses:
                continue
            seer = self.witnesses[name]
            rule = getattr(self, "_" + line["what"].replace("-", "_"), None)
            if rule:
                rule(line, seer)
            seer.take(line)
            if line["what"] == "look":
                self._after_look(line["at"], seer)
        for seer in self.witnesses.values():
            self._at_the_end(seer)
        return self.wrong

    def _say_wrong(self, rule: str, at: float, seer: Witness, words: str) -> None:
        self.wrong.append(f"{rule}: {words}, {seer.name} at {at:.1f}")

    # ---- approvals ----

    def _posting(self, line: dict[str, Any], seer: Witness) -> None:
        at, key, machine = line["at"], line["event"], seer.machine
        why = seer.why_not_allowed(key, at)
        if why:
            self._say_wrong("allowed", at, seer, f"{key} was approved although {why}")
        why = seer.why_not_turn(key)
        if why:
            self._say_wrong("turn", at, seer, f"{key} was approved although {why}")
        for other in self.events.values():
            alone = other.resources == [machine.name]
            seen = other.id in seer.ever_seen and seer.remembers(other.id)
            noticed = seen or seer.seconds_felt(other.shown, other.left or 0.0) > 12.0
            if (
                not alone
                and other.type != ADVICE
                and noticed
                and other.id not in seer.look  # a document that is late shows it still
                and other.left is not None
                and other.left <= at
                and at - min(other.left, seer.missed_since(other.id)) < seer.settings.cooldown - BLIP
                and other.shown < at
            ):
                self._say_wrong(
                    "space", at, seer, f"{key} was approved {at - other.left:.1f} s after {other.id} had left"
                )
        if line["unfit"] and seer.settings.do in PREPARES:
            self._say_wrong("allowed", at, seer, f"{key} was approved though a recover hook can't be run")
        is_out = line["is_out"] or at - machine.put_back_at < SINCE_LOOKED
        if seer.settings.do in PREPARES and not (is_out and seer.is_prepared(key)):
            self._say_wrong("barrier", at, seer, f"{key} was approved while the machine was not prepared")
        self._may_act(at, seer, f"{key} was approved")

    def _may_act(self, at: float, seer: Witness, what: str) -> None:
        if seer.is_held:
            self._say_wrong("held", at, seer, f"{what} while a run held the machine")
        if seer.is_full(at):
            self._say_wrong("full", at, seer, f"{what} though nothing could be written")
        if seer.going_down:
            self._say_wrong("going-down", at, seer, f"{what} while the system went down")
        if seer.is_mark_damaged(at):
            self._say_wrong("unread", at, seer, f"{what} though nobody can read its mark")

    # ---- hooks and steps ----

    def _begun(self, line: dict[str, Any], seer: Witness) -> None:
        at, key, to = line["at"], line["key"], line["to"]
        self._may_act(at, seer, f"{key} was begun")
        if line["outage"] == "of-another":
            self._say_wrong("copy", at, seer, f"{key} was begun by another machine's mark")
        if line["kind"] != "step" and line["why"] != "75":
            self.begun[seer.name, line["outage"], key, to, line["why"]] += 1
            if self.begun[seer.name, line["outage"], key, to, line["why"]] > 1:
                self._say_wrong("once", at, seer, f"{key} was begun twice in outage {line['outage']}")
        if not (seer.has_looked_since_boot or seer.is_forced):
            self._say_wrong("unseen", at, seer, f"{key} was begun before anybody had looked since the machine's start")
        if to == "undo":
            self._undone(at, key, seer)
        elif seer.struck() and not seer.must_prepare(at):
            self._say_wrong("struck", at, seer, f"{key} was begun under {seer.struck()[0]}")

    def _go(self, line: dict[str, Any], seer: Witness) -> None:
        for event in line["events"] if line["to"] == "prepared" and not line["still"] else ():
            if seer.is_put_back(event.upper(), line["at"]):
                self._say_wrong(
                    "stays", line["at"], seer, f"it is prepared for {event}, despite which a person has recovered it"
                )

    def _undone(self, at: float, key: str, seer: Witness) -> None:
        if seer.is_forced:
            return
        if seer.struck():
            self._say_wrong("early", at, seer, f"{key} was undone under {seer.struck()[0]}")
        for event in seer.mark_events:
            gone_for = at - seer.last_seen.get(event, -1e9)
            known = self.events.get(event)
            if event in seer.failed or event in seer.going_back or seer.is_put_back(event, at):
                continue
            if known and known.is_open_at(at):
                self._say_wrong("early", at, seer, f"{key} was undone, and {event} was not over")
            elif gone_for < 4.5:
                self._say_wrong("early", at, seer, f"{key} was undone {gone_for:.1f} s after {event} was seen")
        if at - seer.machine_booted < seer.machine.settles - 0.1:
            self._say_wrong("settled", at, seer, f"{key} was undone while the boot went on")

    # ---- what was said ----

    def _say(self, line: dict[str, Any], seer: Witness) -> None:
        at, happened, key = line["at"], line["happened"], line["event"]
        event = self.events.get(key)
        met = (happened, "" if happened in ("recovered", "recovery_blocked") else key)
        self.owed[seer.name] = [owed for owed in self.owed[seer.name] if owed[1:] != met]
        if happened == "event_unreadable":
            self._unread(at, key, seer)
            return
        if happened == "recovered":
            seer.recoveries_told += 1
            if seer.recoveries_told > seer.recoveries + self.forgot[seer.name]:
                self._say_wrong("claim", at, seer, "it was said to be recovered and bore its mark")
            return
        if happened == "mark_removed" and not (seer.was_taken_off or seer.remembers_its_mark):
            self._say_wrong("claim", at, seer, "somebody was said to have taken off the mark, and nobody had")
        if event is None and key:
            self._say_wrong("copy", at, seer, f"{happened} was said of {key}, which is another machine's")
        if event is None or happened in ("recovery_failed", "not_approved", "mark_removed", "reappeared"):
            return
        if happened == "changed" and not event.has_grown:
            self._say_wrong("claim", at, seer, f"{key} was said to have grown, and lists whom it always did")
        self.told[seer.name, happened, key] += 1
        if self.told[seer.name, happened, key] > 1 + self.forgot[seer.name]:
            self._say_wrong("told", at, seer, f"{happened} was said of {key} again")
        if happened == "ended" and event.is_open:
            self._say_wrong("claim", at, seer, f"{key} was said to be over")
        if happened == "ended" and event.left is not None and at < event.left:
            self._say_wrong("claim", at, seer, f"{key} was said to be over before it was")
        # It may have stood still, and nothing says so; or answers took so long that a short event fits in between.
        knows_when = not seer.clock_is_wrong and at - seer.slow_at > 30.0
        if event.started is not None and event.left is not None:
            knows_when = knows_when and not seer.fits_between_looks(key, event.started, event.left)
        if line["outcome"] == "cancelled" and event.started is not None and knows_when:
            self._say_wrong("claim", at, seer, f"{key} was said to be cancelled and had started")
        if line["outcome"] == "completed" and event.started is None:
            self._say_wrong("claim", at, seer, f"{key} was said to be completed and never started")

    def _unread(self, at: float, key: str, seer: Witness) -> None:
        self.told[seer.name, "event_unreadable", key] += 1
        starts = 1 + self.forgot[seer.name] + seer.machine.boots
        if key and self.told[seer.name, "event_unreadable", key] > starts:
            self._say_wrong("told", at, seer, f"that {key} can't be read was said again")

    def _watching(self, line: dict[str, Any], seer: Witness) -> None:
        self.forgot[seer.name] += 1  # at most what it said in its last moment is said again

    def _killed(self, line: dict[str, Any], seer: Witness) -> None:
        self.owed[seer.name].clear()

    _down = _killed
    _held = _killed  # whose mark it is now, the watcher sees; what became of its own it says later

    def _still(self, line: dict[str, Any], seer: Witness) -> None:
        self.owed[seer.name] = [(until + line["seconds"], what, key) for until, what, key in self.owed[seer.name]]

    def _unmarked(self, line: dict[str, Any], seer: Witness) -> None:
        self.owed[seer.name].append((line["at"] + 2 * SLACK, "recovered", ""))
        seer.recoveries += 1

    # ---- what should have been done by now ----

    def _after_look(self, at: float, seer: Witness) -> None:
        for until, what, key in self.owed[seer.name]:
            if at > until:
                self._say_wrong("silent", at, seer, f"nobody said {what} {key}")
        self.owed[seer.name] = [owed for owed in self.owed[seer.name] if at <= owed[0]]
        for key in seer.just_shown:
            if seer.settings.do != "ignore":
                self.owed[seer.name].append((at + SLACK, "scheduled", key))
        for key in seer.just_unread:
            self.owed[seer.name].append((at + SLACK, "event_unreadable", key))
        if seer.is_out_for_what_is_lost(at):
            self.owed[seer.name].append((at + SLACK, "recovery_blocked", ""))
        if seer.is_mark_damaged(at):
            seer.pressed.clear()
        for key in seer.just_started:
            hit = (
                seer.settings.do in PREPARES
                and seer.settings.mode == "manage"
                and self.events[key].type not in TAKES_AWAY
            )
            said = self.told[seer.name, "started_unprepared", key]  # before it knew its name
            if (
                hit
                and seer.phase != "prepared"
                and key not in seer.hit
                and not (seer.is_held or seer.is_mark_damaged(at))
                and not said
            ):
                seer.hit.add(key)
                self.owed[seer.name].append((at + SLACK, "started_unprepared", key))
        for key in seer.look:
            ready = not seer.why_not_ready(key, at)
            since = seer.ready_since.setdefault(key, at) if ready else seer.ready_since.pop(key, at)
            sent = max(since, seer.posted.get(key, since))
            if ready and at - sent > seer.sends_again(key) + SLACK:
                self._say_wrong("prompt", at, seer, f"{key} could have been approved since {sent:.1f}")
                seer.ready_since[key] = at
            due = seer.is_neglected(key, at)
            since = seer.due_since.setdefault(key, at) if due else seer.due_since.pop(key, at)
            if due and at - since > SLACK + 1.0:
                self._say_wrong("due", at, seer, f"nothing is done for {key} since {since:.1f}")
                seer.due_since[key] = at + 100
        self._in_a_recovery(at, seer)
        serves = any(seer.is_back_in_service(key, at) for key in seer.look)
        seer.serving_since = min(seer.serving_since, at) if serves else 1e9
        by_somebody = seer.machine.put_back_at > seer.machine_booted
        if at - seer.serving_since > 2 * SLACK + (LOOKS_AGAIN if by_somebody else 0.0):
            self._say_wrong(
                "again", at, seer, "it counts as prepared, and serves since its restart, or since somebody put it back"
            )
            seer.serving_since = at
        for key in [key for key in (*seer.ready_since, *seer.due_since) if key not in seer.look]:
            seer.ready_since.pop(key, None)
            seer.due_since.pop(key, None)

    def _in_a_recovery(self, at: float, seer: Witness) -> None:
        """A Preempt that shows in the middle of a recovery is prepared for in time, if that can be."""
        for key in seer.look:
            if self.events[key].type == "Preempt" and seer.phase == "recovering" and seer.is_neglected(key, at):
                seer.pressed.setdefault(key, at)
        for key, since in list(seer.pressed.items()):
            if key not in seer.look or seer.look[key][0] == "Started" or seer.is_prepared(key):
                del seer.pressed[key]
            elif at - since > seer.takes() + SLACK + 1.0:
                self._say_wrong(
                    "in-time", at, seer, f"{key} has shown in a recovery, and there was time to prepare for it"
                )
                del seer.pressed[key]

    def _at_the_end(self, seer: Witness) -> None:
        machine, now = seer.machine, self.life.clock.now
        if machine.taken or not machine.up or machine.watcher is None or seer.is_full(now) or machine.mark is None:
            return
        if machine.is_held or machine.is_mark_damaged:
            return
        if machine.within("blind") or machine.within("nameless") or machine.going_down:
            return
        if any(event.is_open for event in self.events.values()):
            return
        limit = max((piece.limit for piece in machine.program.pieces.values()), default=0.0)
        if seer.phase == "recovering" and now - seer.begun_at < limit + SLACK:
            return  # what was begun has its time yet
        if not seer.says_not_recovered:
            self._say_wrong("ends", now, seer, f"it is marked ({machine.mark['phase']}), and nobody says why")
        elif not seer.is_cut_off_twice and all(_can_be_undone(piece) for piece in machine.program.pieces.values()):
            self._say_wrong("ends", now, seer, "it is marked, and nothing stands against its recovery")


def _can_be_undone(piece: Any) -> bool:
    if piece.kind == "prepare":
        return True
    if piece.kind == "recover":
        return all(code == 0 and seconds < 15 for seconds, code in piece.undoes)
    seconds, code = piece.undoes[-1]
    return code == 0 and seconds < piece.limit


__all__ = ["Machine", "judged"]
