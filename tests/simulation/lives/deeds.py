# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run may not do, whatever comes: judged by the journal. Each rule yields sentences that begin with its name."""

from __future__ import annotations

from collections.abc import Iterator

from .azure import GONE_FOR_GOOD
from .run_facts import PREPARING, RunFacts

HANGS = 18.0  # seconds for which a call may hang while it writes the mark, before it begins what it has written

STRICTNESS = ("ignore", "notify", "prepare", "hold", "prepare_and_approve", "approve")


def approvals(run: RunFacts) -> Iterator[str]:
    """Rules 1 to 4 and 14: who may approve what, and when."""
    for post in run.lines("post"):
        event, at = run.fleet.events.get(post["event"]), post["at"]
        if event is not None and event.left is not None and at - 5 < event.left <= at:
            continue
        if event is None or not post["status"]:
            yield f"approval: at {at:.1f} {post['event']}, which is not there, by {post['by']}"
            continue
        ours = [host for host in run.hosts if host in post["machines"] and not run.grown_lately(event, host, at)]
        if not ours:
            if not any(run.is_believed(event, host, at) for host in run.hosts):
                yield f"approval: at {at:.1f} {event.id}, which affects nobody of the run"
            continue
        actions = {host: run.action(event, host) for host in ours}
        strictest = min(actions.values(), key=STRICTNESS.index)
        if strictest in ("ignore", "notify") or event.type == "SpotRebalanceRecommendation":
            yield f"approval: at {at:.1f} {event.id}, though the policies say {actions}"
        # A person has decided, also where the policy leaves the start to Azure.
        if strictest in ("hold", "prepare") and not any(
            line["at"] <= at for line in run.journal.of("yes") if line["event"] == event.id
        ):
            yield f"approval: at {at:.1f} {event.id}, to which nobody has said yes"
        if event.type == "Terminate" and post["by"] not in post["machines"]:
            yield f"approval: at {at:.1f} {event.id}, a Terminate, by {post['by']}, which is another machine"
        unknown = [name for name in post["resources"] if not run.knows(name) and not run.grown_lately(event, name, at)]
        if unknown and not all(run.fleet.options[host]["allow_unknown"] for host in ours):
            yield f"approval: at {at:.1f} {event.id}, which affects {unknown}"
        for host in ours:
            out, marked_by = post["machines"][host]
            decided = run.decided_at(post)
            excused = run.machine(host).gone or run.touched_lately(host, at, decided) or run.put_back_lately(host, at)
            # It has started by itself while the approval was on its way, and emptied the disk.
            excused = excused or run.lost_its_disk(host, decided, at)
            if actions[host] in PREPARING and not (out and marked_by in run.hands_of(host)) and not excused:
                yield f"barrier: at {at:.1f} {event.id} was approved while {host} was {'out' if out else 'in service'}, marked by {marked_by or 'nobody'}"


def capacity(run: RunFacts) -> Iterator[str]:
    """Rule 16: voluntarily never more than the capacity allows is out."""
    if run.beside_others:
        return
    seen = set()
    for post in run.lines("post"):
        event = run.fleet.events.get(post["event"])
        if event is None or event.id in seen or post["status"] != "Scheduled":
            continue
        seen.add(event.id)
        for group, members in run.groups().items():
            present = {host for host in members if not run.gone_by(host, post["at"])}
            hit = present.intersection(post["machines"])
            out = {host for host in present if run.marked_at(host, post["at"]) or run.unheard(host, post["at"])} | hit
            limit = run.limit(group, len(members))
            if hit and len(out) > limit:
                yield f"capacity: at {post['at']:.1f} {event.id} was approved with {sorted(out)} of {group} out, at most {limit}"
    early = [line for line in run.lines("marked") if run.was_early(line)]
    # What a watcher does is no choice of the run, which sees it with the next answer.
    watchers = {one.watcher.name for one in run.run.machines.values() if one.watcher}
    forced = [line for line in run.lines("marked") if line not in early]
    forced += [line for line in run.journal.of("marked") if line["run"] in watchers]
    for line in early:
        for group, members in run.groups().items():
            present = {host for host in members if not run.gone_by(host, line["at"])}
            out = {host for host in present if run.marked_at(host, line["at"])}
            limit = run.limit(group, len(members))
            # Whose notice ran out came in between, while the machine was asked already.
            pushed = any(other["host"] in out and other["at"] > line["at"] - 15 for other in forced)
            if line["host"] in members and len(out) > limit and not pushed:
                yield f"capacity: at {line['at']:.1f} {line['host']} was taken out early as one of {sorted(out)} of {group}, at most {limit}"


def hours(run: RunFacts) -> Iterator[str]:
    """By choice nothing is approved, or taken out of service, while hours of an event's machines are closed."""
    for post in run.lines("post"):
        event, at = run.fleet.events.get(post["event"]), post["at"]
        if event is None or post["status"] != "Scheduled" or run.is_open(event, at):
            continue
        if not any(run.grown_lately(event, host, at) for host in run.affected(event)):
            yield f"hours: at {at:.1f} {event.id} was approved outside of {run.fleet.hours}"
    for line in run.lines("marked"):
        events = [run.fleet.events[key] for key in line["events"] if key in run.fleet.events]
        allowed = any(
            run.is_open(event, line["at"]) or run.is_near(event, line["at"]) or run.begun_in_hours(event, line["at"])
            for event in events
        )
        if run.was_early(line) and events and not allowed:
            yield f"hours: at {line['at']:.1f} {line['host']} was taken out early outside of {run.fleet.hours}"


def promptness(run: RunFacts) -> Iterator[str]:
    """Rule 15: what is ready is approved within 10 s, while somebody can."""
    for event in run.fleet.events.values():
        ready = run.ready(event)
        if ready is None or run.beside_others:
            continue
        limit = 10.0
        posted = [post["at"] for post in run.lines("post") if post["event"] == event.id]
        until = min([ready + limit, *posted])
        if event.started is not None and event.started <= until or event.left is not None and event.left <= until:
            continue
        if not posted and run.until > ready + limit or posted and posted[0] > ready + limit:
            yield f"prompt: {event.id} was ready at {ready:.1f} and approved {f'at {posted[0]:.1f}' if posted else 'never'}"


def checking(run: RunFacts) -> Iterator[str]:
    """Rule 7: check mode changes nothing."""
    for line in run.lines("sent", "post"):
        if run.run.check:
            yield f"check: at {line['at']:.1f} {line['what']} {line.get('do', '')} in check mode"


def brought_back_early(run: RunFacts) -> Iterator[str]:
    """Rule 6: nothing is recovered under an event, nor before one that it was prepared for."""
    for piece in run.lines("piece"):
        host, at = piece["host"], piece["at"]
        if piece["direction"] != "undo":
            continue
        for event in run.plain_events_of(host):
            if event.shown > at or (event.left is not None and event.left < at):
                continue
            tick = 12.0  # a call takes so long
            tick += HANGS if run.hung_while_writing(host, at) else 0.0
            if event.started is not None and event.started < at - tick:
                if not run.grown_lately(event, host, at, tick) and not run.nobody_could_see(host, event.shown, at):
                    yield f"early: at {at:.1f} {host} was put into service under {event.id}, Started at {event.started:.1f}"
                    break
            elif (event.started is None or event.started > at) and run.was_to_stay(event, host, at):
                yield f"early: at {at:.1f} {host} was put into service before {event.id}, which it was prepared for"
                break


def in_time(run: RunFacts) -> Iterator[str]:
    """Rules 8 and 15: whoever can be prepared in time is, whatever others do."""
    for line in run.journal.of("strike"):
        event, host = run.fleet.events[line["event"]], line["host"]
        if host not in run.hosts or line["out"] or not run.began < line["at"] < run.until or run.beside_others:
            continue
        if (
            event.is_odd
            or run.run.check
            or run.action(event, host) not in PREPARING
            or event.approved_by_other is not None
        ):
            continue
        if (
            run.marked_at(host, run.began)
            or event.grows
            or event.timeless
            or run.fleet.options[host]["prepare_before"] < 100
        ):
            continue
        first = max(event.shown, run.began)
        room = line["at"] - first - run.needs([event]) - (60 if run.fleet.calm else 100) - run.start()
        if (
            room > 0
            and all(run.sound(other, first, line["at"]) for other in run.affected(event))
            and run.visible(event, first)
        ):
            yield f"late: {event.id} struck {host} in service at {line['at']:.1f}, {line['at'] - first:.0f} s after it was shown"


def moved(run: RunFacts) -> Iterator[str]:
    """Rule 8: the margin is that of the present not-before: what fits into the time that is left is done."""
    for line in run.journal.of("strike"):
        event, host = run.fleet.events[line["event"]], line["host"]
        if event.moved is None or event.moves is None or host not in run.hosts or line["out"] or run.beside_others:
            continue
        steps = run.machine(host).steps
        takes = sum(step.do_seconds + (6.0 if step.elsewhere else 1.5) for step in steps) + 20.0
        early = event.approved_by_other is not None or line["at"] < event.not_before or run.began > event.moved - 10
        if (
            early
            or run.until < line["at"]
            or run.run.check
            or run.action(event, host) not in PREPARING
            or not run.is_linux
        ):
            continue
        others = [other for other in run.events_of(host) if other is not event and other.shown < line["at"]]
        seen = run.seen(event, host) or 1e9
        if seen > event.moved or run.may_go_unseen(host):
            continue
        # A call that hung on its way when it moved is answered by nobody, and the next one waits the longer the more were lost before.
        if any(
            kind == "late" and begins < line["at"] and ends > event.moved
            for begins, ends, kind in run.machine(host).faults
        ):
            continue
        if event.moves[1] * 0.75 < takes or others or event.grows or event.timeless:
            continue
        sound = all(run.sound(other, event.shown, line["at"]) for other in run.affected(event))
        if sound and run.visible(event, event.shown):
            yield f"moved: {event.id} struck {host} in service at {line['at']:.1f}, which {event.moves[1]:.0f} s before was to take {takes:.0f} s"


def overdue(run: RunFacts) -> Iterator[str]:
    """Rule 1: what may start by itself at any moment is not approved."""
    for line in run.lines("post"):
        event = run.fleet.events.get(line["event"])
        if event and event.overdue:
            yield f"overdue: {event.id} was approved at {line['at']:.1f}, though its time had come at {event.not_before:.1f}"


def returned(run: RunFacts) -> Iterator[str]:
    """Rule 6: what comes back is taken up again: who can be prepared in time is."""
    for line in run.journal.of("strike"):
        event, host, at = run.fleet.events[line["event"]], line["host"], line["at"]
        if event.returned is None or host not in run.hosts or line["out"] or not event.returned < at < run.until:
            continue
        if run.run.check or run.action(event, host) not in PREPARING or run.fleet.options[host]["prepare_before"] < 100:
            continue
        others = [other for other in run.events_of(host) if other is not event and (other.left or at) > event.returned]
        # Who is still being recovered, or is another's by then, is not to be prepared anew at once.
        if others or event.grows or run.beside_others or run.marked_at(host, event.returned):
            continue
        room = at - event.returned - run.needs([event]) - (60 if run.fleet.calm else 100) - run.start()
        seen = [
            look
            for look in run.lines("looked")
            if 0 < look["at"] - event.returned < 40
            and any(key == event.id and status == "Scheduled" for key, status, _names in look["events"])
        ]
        if room > 0 and seen and all(run.sound(other, event.returned, at) for other in run.affected(event)):
            yield f"returned: {event.id} struck {host} in service at {at:.1f}, {at - event.returned:.0f} s after it was Scheduled again"


def back_in_time(run: RunFacts) -> Iterator[str]:
    """Rules 6 and 15: whoever can be recovered is, soon."""
    for host in run.hosts:
        machine = run.machine(host)
        for event in run.plain_events_of(host):
            if event.left is None or event.type in GONE_FOR_GOOD or event.left < run.began:
                continue
            since = max(event.left, machine.away_until if machine.away_until < 1e5 else 1e9)
            due = since + sum(step.undo_seconds for step in machine.steps) + 60 + run.start()
            # It can't bring back what it did not hold yet: a dead run's lease was not over.
            due += max(run.held_since(host, due) - since, 0.0)
            others = [
                other
                for other in run.events_of(host)
                if other is not event and other.shown < due and (other.left or 1e9) > since
            ]
            if due > run.until or others or run.beside_others or not run.visible(event, event.shown):
                continue
            if run.sound(host, since, due) and run.marked_at(host, due) == run.name:
                yield f"forgotten: {host} still has the mark {due - since:.0f} s after {event.id} left"


def restored(run: RunFacts) -> Iterator[str]:
    """Rule 13: what others did for a machine is undone, though its mark went with its disk."""
    if not run.reports or run.beside_others:
        return
    for line in run.journal.of("mark-gone"):
        host, at = line["host"], line["at"]
        if line["run"] != "its disk" or host not in run.hosts or run.marked_at(host, at - 0.001) != run.name:
            continue
        up = max(at, run.machine(host).away_until)
        looked = [look for look in run.lines("looked") if look["host"] == host and look["good"] and look["at"] > up]
        coming = [event for event in run.events_of(host) if event.left is None or event.left > run.until - 10]
        if (
            looked
            and not coming
            and run.left_elsewhere(host)
            and run.sound(host, up + 1, run.until, with_its_disk=False)
        ):
            yield f"restored: {run.left_elsewhere(host)} is still out for {host}, which lost its mark with its disk at {at:.1f}"


def kept_off(run: RunFacts) -> Iterator[str]:
    """Rule 14: whoever has a watcher is prepared, and recovered, by that alone."""
    for line in run.lines("marked", "taken"):
        if run.machine(line["host"]).watcher:
            yield f"kept-off: at {line['at']:.1f} {run.name} took {line['host']}, which has a watcher of its own"


def left_out(run: RunFacts) -> Iterator[str]:
    """Rules 12 and 13: no mark is removed as long as anything that was done is not undone, or is still being done."""
    for line in run.lines("mark-gone"):
        if line["left"]:
            yield f"left-out: at {line['at']:.1f} the mark of {line['host']} was removed, and {line['left']} are out or about to be"


def put_back(run: RunFacts) -> Iterator[str]:
    """Nobody takes out of service, or approves, what a person has recovered despite its event, until it is confirmed."""
    for recovered in run.journal.of("put-back"):
        host, events = recovered["host"], recovered["events"]
        if host not in run.hosts:
            continue
        for line in run.lines("marked", "joined", "post"):
            named = line.get("events") or [line.get("event")]
            kept = [event for event in named if event in events]
            later = kept and not any(
                yes["at"] > recovered["at"] for yes in run.journal.of("yes") if yes["event"] in kept
            )
            mine = line["what"] == "post" or line["host"] == host
            # Where the person's word went with the disk, the run knows of its own mark only, and takes that back.
            if run.lost_its_disk(host, recovered["at"], line["at"]):
                continue
            if later and mine and line["at"] > recovered["at"] + 12:
                yield f"put-back: at {line['at']:.1f} {line['what']} for {kept}, despite which {host} was put back at {recovered['at']:.1f}"


def repeated(run: RunFacts) -> Iterator[str]:
    """Rule 5: what Azure has taken is not sent again within a minute: documents may lag."""
    first: dict[str, float] = {}  # of those that were sent one soon after the other, as the answer to one was lost
    last: dict[str, float] = {}
    for line in run.lines("post", "taken-approval"):
        at, event = line["at"], line["event"]
        if line["what"] == "taken-approval":
            first[event] = at if at - last.get(event, -1e9) >= 59 else first[event]
            last[event] = at
        elif event in last and at - first[event] > 12 and at - last[event] < 59 and not run.is_odd(event):
            yield f"repeated: at {line['at']:.1f} {line['event']} was approved again, by {line['by']}"


def reverted(run: RunFacts) -> Iterator[str]:
    """Rule 11: when one machine's preparation fails, the others are not left out of service for nothing."""
    for line in run.journal.of("strike"):
        event, host = run.fleet.events[line["event"]], line["host"]
        if host not in run.hosts or not line["out"] or not run.began < line["at"] < run.until or run.beside_others:
            continue
        steps = run.machine(host).steps
        if (
            run.machine(host).watcher
            or run.fleet.options[host]["on_failure"] != "revert"
            or not any(step.originally for step in steps)
            or any(
                step.undo_failed for step in steps
            )  # each try to take it back takes its time, and the run names it as not back
        ):
            continue
        failed = run.gave_up(event)
        needs = sum(step.limit for step in steps) + sum(step.undo_seconds for step in steps)
        room = line["at"] - (failed or 1e9) - needs - 60 - run.start()
        others = [other for other in run.events_of(host) if other is not event and other.shown < line["at"]]
        if (
            failed
            and room > 0
            and not others
            and all(run.sound(other, failed, line["at"]) for other in run.hosts if other not in run.failing(event))
        ):
            yield f"reverted: {host} was still out when {event.id} came at {line['at']:.1f}, given up at {failed:.1f}"


def waits_idly(run: RunFacts) -> Iterator[str]:
    """Rule 15: nobody waits for a change while there is work."""
    for line in run.lines("waits"):
        yield f"waits: at {line['at']:.1f} {line['host']} waits for a change while {line['marked']} bear the run's mark"


def late(run: RunFacts) -> Iterator[str]:
    """What a run has sent begins within 20 s after its end, or not at all; on a Windows machine within a call's time."""
    for line in run.lines("marked", "piece", "post"):
        host = line.get("host") or line["by"]
        of_others = line["what"] == "post" and set(line["machines"]) - {
            host
        }  # while others have work, its calls are short
        if line["at"] > max(run.until + 20, 0.0 if of_others else run.waits_until(host)):
            what = f"{line['what']} {line.get('host') or line.get('event')}"
            yield f"late: at {line['at']:.1f} {what}, {line['at'] - run.until:.0f} s after the end of {run.name}"


DEEDS = (
    late,
    approvals,
    put_back,
    repeated,
    capacity,
    hours,
    promptness,
    checking,
    brought_back_early,
    restored,
    kept_off,
    left_out,
    reverted,
    in_time,
    moved,
    overdue,
    returned,
    back_in_time,
    waits_idly,
)
