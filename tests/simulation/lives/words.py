# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run may not say, or leave unsaid: judged by the journal. Each rule yields sentences that begin with its name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from .azure import GONE_FOR_GOOD
from .machine import WALL
from .run_facts import PREPARING, RunFacts, problem_texts


def missed(run: RunFacts) -> Iterator[str]:
    """Rule 12: what struck a machine in service is a problem of the result."""
    if not run.reports:
        return
    for line in run.journal.of("strike"):
        event, host = run.fleet.events[line["event"]], line["host"]
        if host not in run.hosts or line["out"] or not run.began < line["at"] < run.until - 20:
            continue
        if run.booted_lately(host, line["at"]) or run.stood_still(line["at"]):
            continue
        if run.action(event, host) not in PREPARING or event.notice == 0 or not line["up"] or run.hidden(event):
            continue
        if run.put_back_lately(host, line["at"]):
            continue
        if run.touched_lately(host, line["at"]) or not run.is_known(host, event.left or run.until):
            continue
        if run.nobody_could_see(host, line["at"], run.until) or run.unseen_since_restart(host, line["at"]):
            continue
        if run.came_back_unseen(event, host, line["at"]):
            continue
        # What came back was seen in its first life, and may go unseen in its second one as anything else.
        since = event.returned if event.returned is not None and event.returned < line["at"] else 0.0
        if run.seen(event, host, since) is None:
            # It names the machine from its growth on: no look can show that before.
            shown_for = min(event.left or run.until, run.until) - max(run.named_from(event, host), run.began, since)
            looks_itself = not run.may_go_unseen(host) or run.is_doubted(host)
            if shown_for < (135 if looks_itself else 500):
                continue
        if not run.names(host, event):
            yield f"missed: {event.id} struck {host} in service at {line['at']:.1f}, and no problem says so"


def leftovers(run: RunFacts) -> Iterator[str]:
    """Rule 12: no green ending that left something, or did not see somebody."""
    if not run.reports:
        return
    texts = problem_texts(run.result)
    for host in run.hosts:
        machine = run.machine(host)
        named = any(re.search(rf"\b{host}\b", text) for text in texts)
        if host not in run.run.answered and not named and not run.fleet.machines[host].gone:
            yield f"left: {host} could never be asked, and no problem says so"
        for put_back in run.lines_of_put_back(host):
            if not named:
                yield f"left: {host} was put back by a person despite {put_back}, and no problem says so"
        left = run.marked_at(host, run.until) == run.name
        if left and not named and not run.gone_by(host, run.until) and run.fleet.options[host]["hold"] != "leave":
            yield f"left: {host} is marked by {run.name} at its end, and no problem says so"
        if run.left_elsewhere(host) and not named and not run.gone_by(host, run.until):
            yield f"left: {run.left_elsewhere(host)} for {host} is still out, no mark says so any more, and no problem does"
        dead = run.marked_at(host, run.until)
        if dead and dead != run.name and run.is_dead(dead) and machine.is_up and not named:
            yield f"left: {host} is marked by {dead}, which is dead, at the end of {run.name}, and no problem says so"


def waited_for(run: RunFacts) -> Iterator[str]:
    """Rule 8: who has left the play can't come back, and is not waited for."""
    gone = [host for host, at in run.run.leaves.items() if at < run.until]
    if not run.reports or not gone or run.fleet.same["rounds"] != 1 or run.beside_others:
        return
    hosts = [host for host in run.hosts if host not in gone]
    struck = any(run.machine(host).marked_before or run.marked_at(host, run.until) for host in hosts)
    # One that can't be reached may come back, and show that an event is over.
    struck = struck or any(run.unheard(host, run.until) for host in hosts)
    # Only a machine that was shown an event can say that it is over: one that still answers may see again, until the run's deadline.
    struck = struck or any(run.saw_no_end(host, event) for host in hosts for event in run.events_of(host))
    events = [event for host in run.hosts for event in run.events_of(host)]
    if struck or any(event.left is None or event.type in GONE_FOR_GOOD or event.timeless for event in events):
        return
    moves = [line["at"] for line in run.lines("phase", "piece", "mark-gone", "post", "marked")]
    last = max([*moves, *(run.run.leaves[host] for host in gone), *(event.left or 0.0 for event in events)])
    if run.lines("marked") and run.until > last + 55 + run.start():
        yield f"waited: until {run.until:.0f} for {gone}, though nothing has happened since {last:.0f}"


def claims(run: RunFacts) -> Iterator[str]:
    """Rule 12 and story 35, 38: what a run says is so."""
    if not run.reports:
        return
    for entry in run.result["events"]:
        event = run.fleet.events.get(str(entry["id"]).upper())
        if event is None or event.is_odd:
            continue
        outcome = entry.get("outcome") or ""
        if outcome == "cancelled" and event.started is not None and event.started < run.until and not run.hidden(event):
            yield f"claim: {event.id} is called cancelled, and it started at {event.started:.1f}"
        if outcome == "completed" and event.started is None:
            yield f"claim: {event.id} is called completed, and it never started"
        if outcome and (event.left is None or event.left > run.until):
            yield f"claim: {event.id} is called {outcome}, and it is still there"
        approval = entry.get("approval") or {}
        if approval.get("sent") and not any(post["event"] == event.id for post in run.lines("post")):
            yield f"claim: {event.id} is said to have been approved, and it was not"
        for host, back in (entry.get("recovered") or {}).items():
            if (
                back["ok"]
                and not run.fleet.clock.wrong[0]  # its time is that of another clock
                and run.marked_at(host, run.until) == run.name
                and not run.marked_since(host, moment(back["at"]))
            ):
                yield f"claim: {host} is said to be back, and still has the mark"
    for text in problem_texts(run.result):
        for event in run.fleet.events.values():
            for host in run.affected(event) if event.id in text else ():
                idle = run.action(event, host) not in PREPARING
                if idle and re.search(rf"\b{host}\b (was not prepared|unprepared)", text):
                    yield f"claim: {host} was not to be prepared for {event.id}, and it is said: {text}"
            over = event.id in text and not event.is_odd and event.left is not None and event.left < run.until - 30
            if over and re.search(r"still (there|Scheduled|Started|to come)", text):
                yield f"claim: {event.id} left at {event.left:.1f}, and at {run.until:.1f} it is said: {text}"
        for host in run.hosts:
            said = re.search(
                r"stayed prepared|bring (it|them|\S+) back|stays? (out|prepared|drained)|is still (out|prepared)", text
            )
            if (
                said
                and re.search(rf"\b{host}\b", text)
                and run.was_shown_going(host, run.until - 60)
                and host not in run.run.leaves
            ):
                yield f"claim: of {host}, which was taken away, it is said: {text}"


def unwatched(run: RunFacts) -> Iterator[str]:
    """Rule 12: a machine's events that nobody could see for long are a problem."""
    if not run.reports or problem_texts(run.result):
        return
    for host in run.hosts:
        gap = run.longest_gap(host)
        if gap > (60 if run.machine(host).priority == "Spot" else 170):
            yield f"unwatched: nobody saw the events of {host} for {gap:.0f} s, and no problem says so"


def moment(iso: str) -> float:
    """A time of a result, in seconds of the life."""
    return datetime.fromisoformat(iso.replace("Z", "+00:00")).timestamp() - WALL


WORDS = (missed, leftovers, waited_for, claims, unwatched)
