# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether it really held: what maintain reports, held against the emulator's journal, the applications' logs and the visitor."""

import itertools
import json
import pathlib
from typing import Any, NamedTuple

from visitor import Visit

APPROVER, FROZEN = "web1", "web4"
KILLED = {"web2": "reboot", "web3": "redeploy"}  # in the order in which Azure would start their events
EVENTS = {**KILLED, FROZEN: "freeze"}


class Claim(NamedTuple):
    """A sentence, and whether it is true."""

    text: str
    holds: bool


class Evidence:
    def __init__(
        self, journal: list[dict[str, Any]], logs: dict[str, pathlib.Path], visits: list[Visit], result: dict[str, Any]
    ) -> None:
        self._journal, self._visits, self._result = journal, visits, result
        self._notes = {name: [json.loads(line) for line in log.read_text().splitlines()] for name, log in logs.items()}

    def claims(self) -> list[Claim]:
        missing = [
            f"{what} of {machine}"
            for machine, event in EVENTS.items()
            for what, times in (
                ("approval", self._times("post", event)),
                ("start", self._times("started", event)),
                ("end", self._times("gone", event)),
                *(((word, self._noted(machine, word)) for word in ("idle", "resume")) if machine in KILLED else ()),
            )
            if not times
        ]
        if missing:
            return [Claim(f"everything that was to happen has happened (not: {', '.join(missing)})", False)]
        return [
            *self._of_approvals(),
            *(claim for machine in KILLED for claim in self._of_killed(machine)),
            self._of_turns(),
            self._of_frozen(),
            Claim(
                "the machine that no event named was left alone",
                [note["what"] for note in self._notes[APPROVER]] == ["started"],
            ),
            Claim(
                f"maintain reports {len(EVENTS)} events as completed, and no problem",
                [event["outcome"] for event in self._result.get("events", [])] == ["completed"] * len(EVENTS)
                and self._result.get("problems") == [],
            ),
        ]

    def _of_approvals(self) -> list[Claim]:
        posts = [entry for entry in self._journal if entry["kind"] == "post"]
        once = all(len(self._times("post", event)) == 1 for event in EVENTS.values())
        granted = all(post["status"] == 200 and post["requests"][0]["result"] == "approved" for post in posts)
        return [
            Claim(
                f"each event was approved by one POST, all from {APPROVER}",
                [post["vm"] for post in posts] == [APPROVER] * len(EVENTS) and once and granted,
            ),
            Claim(
                "each event started because of that approval",
                all(entry["cause"] == "approved" for entry in self._journal if entry["kind"] == "started"),
            ),
        ]

    def _of_killed(self, machine: str) -> list[Claim]:
        """A machine that was drained, killed and recovered."""
        event = KILLED[machine]
        drained, resumed = self._noted(machine, "idle")[0], self._noted(machine, "resume")
        approved, begun, gone = (self._times(kind, event)[0] for kind in ("post", "started", "gone"))
        away = [visit for visit in self._visits if visit.machine == machine and drained < visit.sent < resumed[0]]
        served_again = [visit for visit in self._visits if visit.machine == machine and visit.sent > resumed[0]]
        return [
            Claim(f"{machine} was drained before its {event} was approved", drained < approved),
            Claim(
                f"{machine} really went away: its process was killed and started again",
                [at > begun for at in self._noted(machine, "started")] == [False, True],
            ),
            Claim(
                f"{machine} was asked by no visitor from then until it was recovered, and is now",
                not away and bool(served_again),
            ),
            Claim(f"{machine} was recovered once, after the event was over", len(resumed) == 1 and resumed[0] > gone),
        ]

    def _of_turns(self) -> Claim:
        """Whether never two were out at once: from the order to drain, or the freeze, to the first visitor who is served again."""
        out = [(self._times("started", EVENTS[FROZEN])[0], self._times("gone", EVENTS[FROZEN])[0])]
        for machine in KILLED:
            resumed = self._noted(machine, "resume")[0]
            served = [one.sent for one in self._visits if one.machine == machine and one.sent > resumed]
            out.append((self._noted(machine, "drain")[0], min(served, default=float("inf"))))
        first, second = KILLED
        return Claim(
            f"never two machines were out at once: {second} was drained and approved only when {first} served visitors again",
            all(back < drain for (_out, back), (drain, _back) in itertools.pairwise(out)),
        )

    def _of_frozen(self) -> Claim:
        begun, gone = (self._times(kind, EVENTS[FROZEN])[0] for kind in ("started", "gone"))
        slowest = max((one.seconds for one in self._visits if begun - 1 < one.sent < gone), default=0.0)
        return Claim(
            f"{FROZEN} was approved at once, stayed in service and was really frozen (slowest answer {slowest:.1f} s)",
            [note["what"] for note in self._notes[FROZEN]] == ["started"] and slowest > 1,
        )

    def _noted(self, machine: str, what: str) -> list[float]:
        return [note["at"] for note in self._notes[machine] if note["what"] == what]

    def _times(self, kind: str, event: str) -> list[float]:
        ids = {entry["event_id"] for entry in self._journal if entry["kind"] == "scheduled" and entry["name"] == event}
        named = [
            entry
            for entry in self._journal
            if entry["kind"] == kind
            and ids.intersection(
                [entry["event_id"]] if kind != "post" else [request["event_id"] for request in entry["requests"]]
            )
        ]
        return [entry["wall"] for entry in named]
