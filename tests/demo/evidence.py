# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether it really held: what maintain reports, held against the emulator's journal, the applications' logs and the visitor."""

import json
import pathlib
from typing import Any, NamedTuple

from visitor import Visit

REBOOTED, FROZEN, APPROVER = "web2", "web3", "web1"


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
        approved = {event: self._times("post", event) for event in ("reboot", "freeze")}
        begun = {event: self._times("started", event) for event in ("reboot", "freeze")}
        gone = {event: self._times("gone", event) for event in ("reboot", "freeze")}
        drained, resumed = self._noted(REBOOTED, "idle"), self._noted(REBOOTED, "resume")
        if not all([*approved.values(), *begun.values(), *gone.values(), drained, resumed]):
            return [
                Claim(
                    (
                        "both events were approved, started and ended, and the rebooted machine was drained and brought "
                        "back"
                    ),
                    False,
                )
            ]
        posts = [entry for entry in self._journal if entry["kind"] == "post"]
        away = [visit for visit in self._visits if visit.machine == REBOOTED and drained[0] < visit.sent < resumed[0]]
        served_again = [visit for visit in self._visits if visit.machine == REBOOTED and visit.sent > resumed[0]]
        slowest = max(
            (visit.seconds for visit in self._visits if begun["freeze"][0] - 1 < visit.sent < begun["freeze"][0] + 3),
            default=0.0,
        )
        events = self._result.get("events", [])
        return [
            Claim(
                f"each event was approved by one POST, both from {APPROVER}",
                (
                    [post["vm"] for post in posts] == [APPROVER, APPROVER]
                    and len(approved["reboot"]) == len(approved["freeze"]) == 1
                    and all(post["status"] == 200 and post["requests"][0]["result"] == "approved" for post in posts)
                ),
            ),
            Claim(
                "each event started because of that approval",
                all(entry["cause"] == "approved" for entry in self._journal if entry["kind"] == "started"),
            ),
            Claim(f"{REBOOTED} was drained before its reboot was approved", drained[0] < approved["reboot"][0]),
            Claim(
                f"{REBOOTED} really went away: its process was killed and started again",
                ([at > begun["reboot"][0] for at in self._noted(REBOOTED, "started")] == [False, True]),
            ),
            Claim(
                f"{REBOOTED} was asked by no visitor from then until it was brought back, and is now",
                not away and bool(served_again),
            ),
            Claim(
                f"{REBOOTED} was brought back once, after the event was over",
                len(resumed) == 1 and resumed[0] > gone["reboot"][0],
            ),
            Claim(
                (
                    f"{FROZEN} was approved at once, stayed in service and was really frozen (slowest answer "
                    f"{slowest:.1f} s)"
                ),
                (not self._noted(FROZEN, "drain") and len(self._noted(FROZEN, "started")) == 1 and slowest > 1),
            ),
            Claim(
                "the machine that no event named was left alone",
                [note["what"] for note in self._notes[APPROVER]] == ["started"],
            ),
            Claim(
                "maintain reports both events as completed, and no problem",
                (
                    [event["outcome"] for event in events] == ["completed", "completed"]
                    and self._result.get("problems") == []
                ),
            ),
        ]

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
