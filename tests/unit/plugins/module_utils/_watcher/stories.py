# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stories of a watcher: what it sees from tick to tick, and what it does. tests/vectors/README.md explains their form."""

import json

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Moment, iso_utc
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.second_look import NOTHING, SecondLook
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import (
    Document,
    JsonObject,
    UnusableEvent,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import (
    DEFAULT_POLICY,
    parse_policy,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.engine import Engine
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.interface import (
    Answer,
    Approve,
    Facts,
    Go,
    Hold,
    Identity,
    PollResult,
    Posted,
    PutAside,
    Remember,
    Say,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import Settings

WALL = 1767225600.0  # Thursday, 2026-01-01T00:00:00Z
NOW = 5000.0
EVERY = 4.0  # seconds between two ticks of which a story says nothing
NAME, VM_ID = "vm1", "id-of-vm1"


def event(given):
    """An event of a story: ``{"id": "E1", "in": 900}``; ``in`` counts from the story's begin."""
    status = given.get("status", "Scheduled")
    wall = None if given.get("in") is None or status == "Started" else WALL + given["in"]
    names = tuple(given.get("on", [NAME]))
    return Event(
        event_id=given["id"],
        event_type=given.get("type", "Reboot"),
        event_status=status,
        resource_type="VirtualMachine",
        resources=names,
        raw_resources=names,
        not_before="" if wall is None else iso_utc(wall),
        not_before_time=wall,
        description="",
        source=given.get("source", "Platform"),
        duration=given.get("duration", -1),
    )


def policy(do):
    """A policy: as users write it, or the one thing to do about everything."""
    return parse_policy([{"do": do}] if isinstance(do, str) else do)


class Story:
    """A watcher in a world that stays as it is until a tick says otherwise."""

    def __init__(self, settings=None, alone_since=1000.0):
        """:arg alone_since: seconds for which the watcher has been watching an empty document; None for a new one"""
        given = dict(settings or {})
        given["policy"] = policy(given.get("policy", DEFAULT_POLICY))
        self.settings = Settings(**given)
        self.world = {"boot": "boot-1", "settled": True, "identity": [NAME, VM_ID], "document": [], "clock": 0.0}
        self.at = 0.0
        self.polls = 0
        self.polled = None
        self.go = None
        self.mark = None
        self.remembered = {}
        self.answer = None
        self.posted = {}
        self.handling = Engine()
        self.before = alone_since
        if alone_since is not None:
            self.tick({"at": -alone_since})

    def tick(self, given):
        """The acts of one tick, and of those since the one before, Remember aside."""
        given = dict(given)
        at = given.pop("at", self.at + 1.0)
        acts = []
        while self.polled and not given.get("gap") and at - self.at > EVERY:
            self.at += EVERY
            same = words(self.go) if self.go else ""
            acts += [act for act in self._acts() if not (isinstance(act, Go) and words(act) == same)]
        self.at = at
        return acts + self._acts(**given)

    def _acts(self, gap=False, **given):
        restart = given.pop("restart", "")
        if restart:  # the watcher, or the whole machine
            if restart == "machine":
                self.world["boot"] += "'"
            self.polled = None
            self.handling = Engine(json.loads(json.dumps(self.remembered)) if restart == "watcher" else {})
        if "settings" in given:
            more = given.pop("settings")
            self.settings = self.settings._replace(
                **dict(more, **({"policy": policy(more["policy"])} if "policy" in more else {}))
            )
        self._take_mark(given)
        if "posted" in given:
            key, accepted = given.pop("posted")
            self.posted[key.upper()] = Posted(NOW + self.at, accepted, "" if accepted else "no answer")
        if "answer" in given:
            to, state, why = given.pop("answer")
            self.answer = Answer(to, state, why, [], NOW + self.at)
        self.world.update({name: value for name, value in given.items() if name != "expect"})
        acts = self.handling.tick(self.facts())
        for act in acts:
            if isinstance(act, Go):
                self.go = act
            elif isinstance(act, Remember):
                self.remembered = act.what
        return [act for act in acts if not isinstance(act, Remember)]

    def _take_mark(self, given):
        """``prepared``: what the machine program makes of the last Go; null: it is gone; else what differs from that."""
        said = given.pop("mark", {} if self.mark else None)
        if said is None:
            self.mark = self.go = None
            return
        mark = self.mark or {
            "vm_id": VM_ID,
            "boot_id": self.world["boot"],
            "events": [],
            "steps": [],
            "holder": {"kind": "watcher", "run": "watcher", "job": "", "controller": "vm1"},
            "since": iso_utc(WALL + self.at),
            "lease": {"uptime": 0.0, "boot_id": self.world["boot"], "until": 120.0},
            "phase": "preparing",
        }
        phase = said if isinstance(said, str) else said.get("phase", mark["phase"])
        is_yet_to_turn = self.go and self.go.replace_outage and phase in ("recovering", "half")
        if self.go and not is_yet_to_turn:
            mark = dict(mark, note=json.loads(json.dumps(self.go.note)))
            mark["events"] = list(dict.fromkeys([*mark["events"], *self.go.events]))
            if self.go.redo_after_reboot:
                mark["again"] = self.world["boot"]
        said = {"phase": said} if isinstance(said, str) else dict(said)
        if "steps" in said:
            entry = {"key": "s", "words": "drain", "unwords": "", "note": "it broke"}
            said["steps"] = [dict(entry, state=state) for state in said["steps"]]
        self.mark = dict(mark, **said)
        if self.mark["phase"] == "prepared" and mark["phase"] != "prepared":  # as the machine program has just said
            look = SecondLook(NOW + self.at, NOTHING)
            self.answer = Answer("prepared", "prepared", "", [], NOW + self.at, look)

    def facts(self):
        world = self.world
        wall = WALL + self.at + world["clock"]
        if not world.get("blind"):
            self.polls += 1
            entries = world["document"]
            document = Document()
            if entries is not None:
                readable = tuple(event(entry) for entry in entries if "broken" not in entry)
                broken = tuple(
                    UnusableEvent(1, entry["broken"], JsonObject({"EventId": entry["id"]} if "id" in entry else {}))
                    for entry in entries
                    if "broken" in entry
                )
                document = Document(self.polls % 2, readable, broken)  # a number that begins anew says nothing
            date = WALL + self.at + world.get("stood", 0.0) if world.get("date", True) else None
            asked = NOW + self.at - world.get("took", 0.0)
            self.polled = PollResult(document, NOW + self.at, date, self.polls, asked)
        hold = world.get("hold")
        return Facts(
            now=NOW + self.at,
            moment=Moment(wall, 100.0 + NOW + self.at, world["boot"]),
            settings=self.settings,
            identity=Identity(*world["identity"]) if world["identity"] else None,
            polled=self.polled,
            poll_problem=world.get("blind", ""),
            mark=self.mark,
            unreadable=world.get("unreadable", ""),
            answer=self.answer,
            posted=dict(self.posted),
            hold=Hold(**dict({"reason": "a freeze", "by": "root", "until": None}, **hold))
            if hold is not None
            else None,
            confirmed=frozenset(key.upper() for key in world.get("yes", ())),
            steps={},
            lacking=world.get("lacking", {}),
            recovery_lacks=world.get("recovery_lacks", {}),
            going_down=world.get("going_down", False),
            settled=world["settled"],
            degraded=world.get("degraded", ""),
            endpoint=world.get("endpoint", ""),
            suppressed=frozenset(key.upper() for key in world.get("put_back", ())),
        )


FLAGS = {
    "parallel": "at once",
    "redo_after_reboot": "again",
    "no_new_steps": "still",
    "replace_outage": "turn round",
}
"""The words of the vectors."""


def words(act):
    """An act as vectors have it: ``say shown E1``, ``go prepared E1``, ``approve E1``, ``put aside mark``"""
    if isinstance(act, Say):
        return " ".join(filter(None, ["say", act.happened, act.event.event_id if act.event else "", act.outcome]))
    if isinstance(act, Go):
        flags = [word for name, word in FLAGS.items() if getattr(act, name)]
        return " ".join(["go", act.to, *act.events, *flags])
    if isinstance(act, Approve):
        return " ".join(["approve", *act.events])
    return f"put aside {act.what}" if isinstance(act, PutAside) else repr(act)


def told(case):
    """What the watcher of a case does, tick by tick, and what it should."""
    story = Story(case.get("settings"), case.get("alone_since", 1000.0))
    done, wanted = [], []
    for tick in case["ticks"]:
        acts = [words(act) for act in story.tick(tick)]
        if "expect" in tick:
            done.append((story.at, acts))
            wanted.append((story.at, tick["expect"]))
    return done, wanted
