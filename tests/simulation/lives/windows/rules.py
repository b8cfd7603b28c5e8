# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run may not do to a Windows machine, whose mark is a file that is compared before it is replaced, and not a lock."""

from __future__ import annotations

from collections.abc import Iterator

from ..run_facts import PREPARING, RunFacts
from .machine import WindowsMachine

HEARD = 60.0  # seconds since it was heard of a machine for which a run counts as its holder
CALL = 10.0  # seconds that a call lasts after it has written the mark
SEEN = 10.0  # seconds within which who waits sees a change
MOMENT = 0.3  # seconds between what look.ps1 reads and what it does by that, in one list of requests


def is_windows(run: RunFacts, host: str) -> bool:
    return isinstance(run.machine(host), WindowsMachine)


def stolen(run: RunFacts) -> Iterator[str]:
    """Nobody replaces a mark that is another's, or a later one of his own, nor removes one; and who lives keeps his."""
    for line in run.lines("taken"):
        if not line.get("expired", True):
            yield f"stolen: at {line['at']:.1f} {run.name} took {line['host']} from {line['from_run']}, whose lease was not over"
    for line in run.lines("older"):
        yield f"stolen: at {line['at']:.1f} {run.name} put number {line['number']} over {line['there']} on {line['host']}"
    for line in run.lines("mark-gone"):
        if line.get("whose") not in (None, run.name):
            yield f"stolen: at {line['at']:.1f} {run.name} removed the mark of {line['whose']} from {line['host']}"
    for line in run.journal.of("taken"):
        if line["from_run"] == run.name and is_windows(run, line["host"]) and _lives(run, line["host"], line["at"]):
            yield f"stolen: at {line['at']:.1f} {line['run']} took {line['host']}, which {run.name} had not lost sight of"


def _lives(run: RunFacts, host: str, at: float) -> bool:
    """Whether a run has gone on with a machine until then. Each start of the machine ends all leases: then whoever comes first has it."""
    booted = any(line["host"] == host and at - 120 < line["at"] <= at for line in run.journal.of("boot"))
    if not run.began < at < run.until or run.stood_still(at) or booted:
        return False
    heard = [line["at"] for line in run.lines("looked") if line["host"] == host and line["at"] < at]
    return bool(heard) and at - heard[-1] < HEARD


def without_mark(run: RunFacts) -> Iterator[str]:
    """Nothing is started for a machine before its mark says so."""
    for line in run.lines("piece"):
        host, at = line["host"], line["at"]
        if not is_windows(run, host) or run.marked_at(host, at) == run.name:
            continue
        if not _just_lost(run, host, at):
            yield f"unmarked: at {at:.1f} {line['key']} of {host} was begun ({line['direction']}), which has no mark of {run.name}"


def _just_lost(run: RunFacts, host: str, at: float) -> bool:
    """Whether its mark was there, and went before the call was answered, or the run was stopped then: what is done elsewhere begins after that."""
    return any(
        line["host"] == host and (at - CALL < line["at"] <= at or run.stood_still(at))
        for line in run.journal.of("mark-gone", "taken")
        if line["run"] != run.name
    )


def unguarded(run: RunFacts) -> Iterator[str]:
    """A Windows machine approves what comes over itself only while it has its run's mark: that is one list of requests."""
    for post in run.lines("post"):
        event, host, at = run.fleet.events.get(post["event"]), post["by"], post["at"]
        if (
            event is None
            or not is_windows(run, host)
            or host not in post["machines"]
            or run.grown_lately(event, host, at)
        ):
            continue
        out, marked_by = post["machines"][host]
        gone = any(
            line["host"] == host and at - MOMENT < line["at"] <= at for line in run.journal.of("mark-gone", "taken")
        )
        gone = gone or run.grown_lately(event, host, at)
        if run.action(event, host) in PREPARING and marked_by not in run.hands_of(host) and not gone:
            yield f"unguarded: at {at:.1f} {host} approved {event.id}, and its mark was {marked_by or 'nobody'}'s"


def confirmed(run: RunFacts) -> Iterator[str]:
    """What a person has confirmed on a machine that is ready is approved."""
    for yes in run.journal.of("yes"):
        event, host = run.fleet.events[yes["event"]], yes["host"]
        if host not in run.hosts or not is_windows(run, host) or run.beside_others or event.is_odd or event.grows:
            continue
        hosts = run.affected(event)
        if {run.action(event, other) for other in hosts} != {"hold"} or run.run.check:
            continue
        ready = run.prepared_for_all(event)
        if ready is None:
            continue
        due = max(ready, yes["at"]) + 90.0
        if (event.started or 1e9) < due or (event.left or 1e9) < due or run.until < due:
            continue
        if all(run.sound(other, ready, due) for other in run.hosts) and not _approved(run, event.id, due):
            yield f"confirmed: {event.id} was ready at {ready:.1f}, confirmed at {yes['at']:.1f}, and not approved by {due:.1f}"


def unseen(run: RunFacts) -> Iterator[str]:
    """Who waits for a change sees one when it comes."""
    events = sorted((event for event in run.fleet.events.values() if event.status), key=lambda event: event.shown)
    if not events or not run.fleet.calm or len(run.fleet.azure.scopes) > 1 or run.beside_others or run.run.stops:
        return
    first = events[0]  # later ones are seen when the run comes to that
    windows = all(is_windows(run, host) and run.sound(host, first.shown, first.shown + SEEN) for host in run.hosts)
    windows = windows and not any(run.may_go_unseen(host) for host in run.affected(first))
    lasts = first.shown + SEEN < min(first.started or 1e9, first.left or 1e9, run.until)
    if windows and lasts and first.shown > run.began + SEEN and (run.seen(first) or 1e9) > first.shown + SEEN:
        yield f"unseen: {first.id} was shown at {first.shown:.1f} and seen at {run.seen(first)}"


def _approved(run: RunFacts, event: str, at: float) -> bool:
    return any(post["event"] == event and post["at"] <= at for post in run.lines("post"))


RULES = (stolen, without_mark, unguarded, confirmed, unseen)
