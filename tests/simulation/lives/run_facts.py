# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the oracle asks about one run: from the journal, and from what the seed made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from .azure import GONE_FOR_GOOD, Event
from .driver import Run
from .fleet import Fleet
from .machine import Machine

PREPARING = ("prepare", "hold", "prepare_and_approve")
DAMAGE = (
    *("hangs", "refuses", "stalls", "answers-lost", "mark-readonly", "no-hello", "empty-body"),
    *("imds-unreachable", "imds-410", "imds-429", "imds-slow"),
    *("cut-before", "cut-after", "no-powershell", "file-busy", "lock-busy", "denied", "disk-full", "cut"),
)
BLIND = ("imds-unreachable", "imds-410", "imds-429", "empty-body")

WINDOWS_CALL = 50.0  # seconds, after two that had to be ended


def problem_texts(result: Any) -> list[str]:
    problems = result["problems"]
    return [str(text) for text in (problems.values() if isinstance(problems, Mapping) else problems)]


class RunFacts:
    def __init__(self, fleet: Fleet, run: Run) -> None:
        self.fleet, self.run, self.name, self.journal = fleet, run, run.name, fleet.journal
        self.hosts = list(run.machines)
        self.result = run.result
        self._own = [line for line in self.journal.lines if line.get("run") == run.name]
        self._of_kind: dict[str, list[dict[str, Any]]] = {}
        for line in self._own:
            self._of_kind.setdefault(line["what"], []).append(line)
        ends = [line["at"] for line in self._own if line["what"] in ("ended", "killed")]
        self.began = next((line["at"] for line in self._own if line["what"] == "run"), fleet.clock.now)
        self.until = ends[0] if ends else fleet.clock.now
        self.is_linux = all(fleet.machines[host].is_linux for host in self.hosts)
        self.beside_others = any(
            other is not run and other.began_at < self.until and other.ended_at > self.began for other in fleet.runs
        )

    @property
    def reports(self) -> bool:
        """Whether it came to its end and says what happened."""
        return self.result is not None and not self.run.check

    def lines(self, *kinds: str) -> list[dict[str, Any]]:
        """What it did and saw."""
        if len(kinds) == 1:
            return list(self._of_kind.get(kinds[0], ()))
        return [line for line in self._own if line["what"] in kinds]

    # ---- machines ----

    def machine(self, host: str) -> Machine:
        return self.fleet.machines[host]

    def start(self) -> float:
        """Seconds that it may take longer because PowerShell has to be started on a Windows machine that was away."""
        return max((getattr(self.machine(host), "takes", 0.0) for host in self.hosts), default=0.0)

    def hands_of(self, host: str) -> set[str]:
        """Who may prepare a machine."""
        watcher = self.machine(host).watcher
        return {self.name, watcher.name} if watcher else {self.name}

    def knows(self, name: str) -> bool:
        return any(self.machine(host).name.lower() == name.lower() for host in self.hosts)

    def stood_still(self, at: float) -> bool:
        """Whether the run was stopped, and could not know anything."""
        return any(begins <= at < ends + 5 for begins, ends in self.run.stops)

    def booted_lately(self, host: str, at: float) -> bool:
        """Whether its start has put it into service a moment before: nobody can know that yet."""
        return any(
            line["host"] == host
            and line["run"] == "the boot"
            and at - (20 if self.machine(host).is_linux else 30) < line["at"] <= at
            for line in self.journal.of("back")
        )

    def waits_until(self, host: str) -> float:
        """Until when a call to a Windows machine may begin anything (marks.rst)."""
        sent = [
            float(line["at"]) for line in self.lines("sent") if line["host"] == host and not self.machine(host).is_linux
        ]
        return max(sent, default=0.0) + WINDOWS_CALL

    def unseen_since_restart(self, host: str, at: float) -> bool:
        """Whether it was restarted before, by another event or by nobody's, and did not answer until then: any start may have been the event's."""
        lines = [*self.journal.of("restarted"), *self.journal.of("boot")]
        restarts = sorted(line["at"] for line in lines if line["host"] == host and line["at"] < at)
        return bool(restarts) and not any(
            line["host"] == host and restarts[-1] < line["at"] < at for line in self.lines("looked")
        )

    def came_back_unseen(self, event: Event, host: str, at: float) -> bool:
        """Whether no look that was heard of lies between when it struck and when it came back: it seems to have been Scheduled all the time."""
        scope, back = self.machine(host).scope, event.returned or 0.0
        return at < back and not any(
            self.machine(line["host"]).scope is scope and at < line["at"] and line["began"] < back
            for line in self.lines("looked")
        )

    def hung_while_writing(self, host: str, at: float) -> bool:
        """Whether a call may have hung until then while it wrote the mark."""
        return any(kind == "lock" and begins < at < ends + 18 for begins, ends, kind in self.machine(host).faults)

    def lost_its_disk(self, host: str, since: float, at: float) -> bool:
        """Whether an event has rebooted a machine between two moments, and emptied its disk."""
        struck = any(line["host"] == host and since < line["at"] <= at for line in self.journal.of("strike"))
        return self.machine(host).ephemeral and struck

    def gone_by(self, host: str, at: float) -> bool:
        return any(
            line["host"] == host and line["type"] in GONE_FOR_GOOD and line["at"] <= at
            for line in self.journal.of("strike")
        )

    def was_shown_going(self, host: str, at: float) -> bool:
        """Whether the run could know that a machine was taken away."""
        return self.gone_by(host, at) and any(
            event.type in GONE_FOR_GOOD and self.seen(event) is not None for event in self.events_of(host)
        )

    def sound(self, host: str, begins: float, ends: float, with_its_disk: bool = True) -> bool:
        """Whether nothing was wrong with a machine of all that could hold it up."""
        machine = self.machine(host)
        if (
            self.run.stops
            or machine.restless
            or machine.marked_before
            or machine.by_hand
            or host in self.fleet.leavers
            or (machine.ephemeral and with_its_disk)
            or self.fleet.named.get(host, machine.name) != machine.name
        ):
            return False
        damage = (*DAMAGE, *machine.damage)
        if any(kind in damage and a < ends and b > begins - 60 for a, b, kind in machine.faults):
            return False
        for step in machine.steps:
            if step.do_fails or step.undo_failed or max(step.do_seconds, step.undo_seconds) > step.limit:
                return False
        return not any(
            line["host"] == host and line["at"] < ends and line["at"] + self._struck_for(line) > begins
            for line in self.journal.of("strike")
        )

    def _struck_for(self, line: dict[str, Any]) -> float:
        return 1e9 if line["type"] in GONE_FOR_GOOD else self.fleet.events[line["event"]].down + 1

    def marked_at(self, host: str, at: float) -> str:
        """Whose mark a machine bore."""
        whose = self.machine(host).marked_before
        for line in self.journal.of("marked", "taken", "restored", "mark-gone"):
            if line["host"] == host and line["at"] <= at:
                whose = "" if line["what"] == "mark-gone" else line["run"]
        return whose

    def lines_of_put_back(self, host: str) -> list[str]:
        """The events for which a person put a machine back under this run's mark, where it saw that in time, and no yes came since."""
        return [
            event
            for line in self.journal.of("put-back")
            if line["host"] == host
            and self.marked_at(host, line["at"] - 0.001) == self.name
            and self.began < line["at"] < self.until - 40
            and self.sound_but_for_person(host, line["at"])
            for event in line["events"]
            if event in self.fleet.events
            and (self.fleet.events[event].started or 1e9) > line["at"] + 40
            and (self.fleet.events[event].left or 1e9) > line["at"] + 40
            and self.action(self.fleet.events[event], host) in PREPARING
            and not any(yes["at"] > line["at"] for yes in self.journal.of("yes") if yes["event"] == event)
        ]

    def sound_but_for_person(self, host: str, at: float) -> bool:
        return not any(kind in DAMAGE and a < at + 40 and b > at - 20 for a, b, kind in self.machine(host).faults)

    def left_elsewhere(self, host: str) -> str:
        """A step that others have done for a machine, and not undone when the run ended, though no mark tells of it."""
        if self.marked_at(host, self.until) or self.machine(host).by_hand:
            return ""
        for step in self.machine(host).steps:
            moves = [
                line for line in self.journal.of("out", "back") if line["key"] == step.key and line["at"] <= self.until
            ]
            if step.elsewhere and moves and moves[-1]["what"] == "out" and moves[-1]["run"] == self.name:
                return str(step.key)
        return ""

    def decided_at(self, post: dict[str, Any]) -> float:
        """When the run had an approval sent: a Windows machine gets to it within a call's time, whatever happens to others meanwhile."""
        if self.machine(post["by"]).is_linux:
            return float(post["at"])
        sent = [
            line["at"]
            for line in self.lines("sent")
            if (line["host"], line["do"]) == (post["by"], "approve") and line["at"] <= post["at"]
        ]
        return max([post["at"] - WINDOWS_CALL, *sent]) if sent else float(post["at"])

    def touched_lately(self, host: str, at: float, decided: float | None = None) -> bool:
        """Whether a person has taken the mark away a moment before, or the machine was rebooted by nobody's event.

        :arg decided: when it was decided to do what was done then
        """
        since = (at if decided is None else decided) - 12
        return any(
            line["host"] == host and since < line["at"] <= at
            for line in self.journal.of("mark-gone", "restarted")
            if line.get("run", "a person") == "a person"
        )

    def put_back_lately(self, host: str, at: float) -> bool:
        """Whether somebody has put back what was done to it since the run can have looked at it: 5 s, and the way to the one who approves."""
        backs = [line for line in self.journal.of("back") if line["run"] == "somebody"]
        return any(line["host"] == host and at - 8 < line["at"] <= at for line in backs)

    def saw_no_end(self, host: str, event: Event) -> bool:
        """Whether a machine that an event affects was up and blind from its end until that of the run."""
        return any(
            kind in BLIND and begins <= (event.left or 0.0) and self.until <= ends
            for begins, ends, kind in self.machine(host).faults
        )

    def unheard(self, host: str, at: float) -> bool:
        """Whether the run has not reached a machine for some time, and nobody could have."""
        heard = [line["at"] for line in self.lines("looked") if line["host"] == host and line["at"] < at]
        lost = [
            line["at"] for line in self.lines("lost") if line["host"] == host and line["at"] > max(heard, default=0)
        ]
        if not lost or lost[0] > at - 30:
            return False
        faults = self.machine(host).faults
        return any(begins <= lost[0] and at < ends for begins, ends, kind in faults if kind in ("refuses", "hangs"))

    def marked_since(self, host: str, at: float) -> bool:
        return any(line["host"] == host and line["at"] > at for line in self.journal.of("marked", "taken"))

    def held_since(self, host: str, at: float) -> float:
        """When this run made the mark that a machine has its own; 0 where it never did."""
        mine = (
            float(line["at"]) for line in self.lines("marked", "taken") if line["host"] == host and line["at"] <= at
        )
        return max(mine, default=0.0)

    def is_dead(self, name: str) -> bool:
        return any(run.name == name and run.over and run.result is None for run in self.fleet.runs)

    def may_go_unseen(self, host: str) -> bool:
        """Whether it is taken for one of a scope whose other machines are not shown what it is shown."""
        machine = self.machine(host)
        others = [self.machine(other) for other in self.hosts if other != host]
        return any(
            (other.scope is not machine.scope or machine.scope.each_its_own)
            and (self.fleet.declared[other.host] or other.placement_group)
            == (self.fleet.declared[host] or machine.placement_group)
            != ""
            for other in others
        )

    def is_doubted(self, host: str) -> bool:
        """Whether nothing but a declaration says which machines are shown what it is shown: it is asked itself once a minute."""
        declared = self.fleet.declared[host]
        groups = {self.machine(other).placement_group for other in self.hosts if self.fleet.declared[other] == declared}
        return bool(declared) and groups == {""} and len(self.hosts) <= 10

    # ---- capacity ----

    def groups(self) -> dict[str, list[str]]:
        """Those whose members nobody can doubt."""
        found: dict[str, list[str]] = {}
        doubtful = set()
        for host in self.hosts:
            machine = self.machine(host)
            name = self.fleet.groups[host]
            if not name and self.fleet.declared[host]:
                name = f"scope {self.fleet.declared[host]}"
            elif not name and machine.placement_group and not machine.scope.each_its_own:
                name = f"placement group {machine.placement_group}"
            found.setdefault(name, []).append(host)
            if not self.fleet.groups[host] and (machine.faults or self.may_go_unseen(host)):
                doubtful.add(name)
        return {name: hosts for name, hosts in found.items() if name and name not in doubtful}

    def limit(self, group: str, size: int) -> int:
        """The largest that the options of its members allow."""
        limits = []
        for host in self.groups()[group]:
            wanted = str(self.fleet.options[host]["max_unavailable"])
            limits.append(max(1, size * int(wanted[:-1]) // 100) if wanted.endswith("%") else int(wanted))
        return min(limits)

    # ---- events ----

    def action(self, event: Event, host: str) -> str:
        return str(self._rule(event, host)["do"])

    def is_open(self, event: Event, at: float) -> bool:
        """Whether nobody's hours are closed, or were a moment before: a call that has been sent lasts."""
        ahead, until = self.fleet.clock.wrong
        shown = [at + (ahead if at < until else 0.0)]
        shown += [at + ahead] if until <= at < until + 25 else []
        return any(self._is_open(event, moment, at) for moment in shown)

    def begun_in_hours(self, event: Event, at: float) -> bool:
        """Whether a machine was prepared for it while its hours were open: that goes on with its others when they close."""
        return any(
            line["event"] == event.id and line["at"] < at and self.is_open(event, line["at"])
            for line in self.lines("joined")
        )

    def _is_open(self, event: Event, shown: float, at: float) -> bool:
        """Whether the hours of all machines that it names by then are open at the time that a clock shows."""
        return all(
            any(begin <= shown < end + 25 for begin, end in self.fleet.hours[host])
            for host in self.affected(event)
            if "hours" in self._rule(event, host)
            and self.is_known(host, at - 25)
            and self.named_from(event, host) <= at
        )

    def is_believed(self, event: Event, host: str, at: float) -> bool:
        """Whether the inventory says wrongly that it is a machine of an event, and the machine could not say that it is not."""
        wrong = self.fleet.named.get(host, "").lower() in [name.lower() for name in event.resources]
        return wrong and not any(line["host"] == host and line["at"] < at for line in self.lines("looked"))

    def is_known(self, host: str, at: float) -> bool:
        """Whether the run could know by then that it is this machine which an event names."""
        return host in self.fleet.named or any(
            line["host"] == host and line["at"] < at for line in self.lines("looked")
        )

    def _rule(self, event: Event, host: str) -> dict[str, Any]:
        for rule in self.fleet.options[host]["policy"]:
            when = rule.get("when", {})
            if event.source in when.get("sources", [event.source]) and event.type in when.get("types", [event.type]):
                return dict(rule)
        raise AssertionError("no rule matches")

    def is_odd(self, identity: str) -> bool:
        return identity in self.fleet.events and self.fleet.events[identity].is_odd

    def affected(self, event: Event) -> list[str]:
        return [host for host in self.hosts if event.affects(self.machine(host).name)]

    def events_of(self, host: str) -> list[Event]:
        name = self.machine(host).name
        return [event for event in self.fleet.events.values() if event.status and event.affects(name)]

    def plain_events_of(self, host: str) -> list[Event]:
        return [event for event in self.events_of(host) if not event.is_odd]

    def needs(self, events: Iterable[Event]) -> float:
        hosts = {host for event in events for host in self.affected(event)}
        return max(
            (
                sum(step.limit for step in self.machine(host).steps) + self.fleet.options[host]["margin"]
                for host in hosts
            ),
            default=0.0,
        )

    def was_early(self, marked: dict[str, Any]) -> bool:
        """Whether a machine was taken out of service while there was time to wait yet."""
        events = [self.fleet.events[key] for key in marked["events"] if key in self.fleet.events]
        started = any(event.started is not None and event.started <= marked["at"] for event in events)
        left = min((self._expected(event) for event in events), default=0.0) - marked["at"]
        # On Windows the modules of each step have some seconds more, and clocks are set.
        room = self.needs(events) + 45 + (0 if self.is_linux else 25)
        return not started and left >= room and not any(event.is_odd for event in events)

    def is_near(self, event: Event, at: float) -> bool:
        """Whether an event comes so soon, or may for all that it says, that hours forbid no preparation for it any more."""
        if event.timeless:
            return True
        within = max((self.fleet.options[host]["prepare_before"] for host in self.affected(event)), default=0.0)
        return self._expected(event) - at <= min(within, 300.0) + 2

    def _expected(self, event: Event) -> float:
        """When it was to be expected: one that names no time is taken to come 600 s after it was seen, as nobody can know better."""
        seen = self.seen(event) if event.timeless else None
        return event.not_before if seen is None else min(event.not_before, seen + 600)

    def grown_lately(self, event: Event, who: str, at: float, seconds: float = 5.0) -> bool:
        name = self.machine(who).name if who in self.fleet.machines else who
        return any(
            line["event"] == event.id and line["resource"].lower() == name.lower() and at - seconds < line["at"]
            for line in self.journal.of("grown")
        )

    def named_from(self, event: Event, host: str) -> float:
        """Since when it names a machine."""
        name = self.machine(host).name.lower()
        grown = [line for line in self.journal.of("grown") if line["event"] == event.id]
        return max([event.shown, *(line["at"] for line in grown if line["resource"].lower() == name)])

    def seen(self, event: Event, host: str = "", since: float = 0.0) -> float | None:
        """When the run first saw it, naming this machine."""
        name = self.machine(host).name.lower() if host else ""
        for line in self.lines("looked"):
            if line["at"] < since:
                continue
            for identity, _status, resources in line["events"]:
                if identity == event.id and (not name or name in [resource.lower() for resource in resources]):
                    return float(line["at"])
        return None

    def visible(self, event: Event, at: float) -> bool:
        """Whether the run really saw it soon after."""
        seen = self.seen(event)
        return seen is not None and seen < at + 40

    def names(self, host: str, event: Event) -> bool:
        return any(re.search(rf"\b{host}\b", text) for text in problem_texts(self.result))

    def ready(self, event: Event) -> float | None:
        """Since when an event could have been approved with nothing in the way; None where something was, or may have been."""
        hosts = self.affected(event)
        if (
            not hosts
            or event.grows
            or event.is_odd
            or event.notice == 0
            or event.type == "SpotRebalanceRecommendation"
            or event.shown < self.began
        ):
            return None
        actions = {self.action(event, host) for host in hosts}
        if not actions <= {"prepare_and_approve"} or self.run.check:
            return None
        if any(not self.knows(name) for name in event.resources) and not all(
            self.fleet.options[host]["allow_unknown"] for host in hosts
        ):
            return None
        if any(str(self.fleet.options[host]["max_unavailable"]) != "100%" for host in hosts):
            return None
        if any("hours" in self._rule(event, host) for host in hosts):
            return None
        since = [at for at in (self._prepared_for(event, host) for host in hosts) if at is not None]
        if len(since) < len(hosts):
            return None
        ready = max(since)
        seen = self.seen(event)
        if seen is None:
            return None  # but by a watcher
        ready = max(ready, seen)  # a watcher may be faster than a look that waits
        # Another event has put one of them back into service before the last was ready: all begins anew.
        if any(line["host"] in hosts and min(since) < line["at"] <= ready for line in self.journal.of("boot")):
            return None
        # Whose turn it is to approve could be anybody's.
        # One that was taken away a moment before may be the one that is to approve.
        present = [host for host in self.hosts if not self.gone_by(host, ready - 15)]
        faults = [fault for host in present for fault in self.machine(host).faults]
        # What the service refuses nobody can approve.
        ready = max([ready, *(ends for begins, ends, kind in faults if kind == "post-refused" and begins < ready + 10)])
        everybody = all(self.sound(host, ready - 5, ready + 15) for host in present)
        if any(kind == "late" and begins < ready + 15 and ends > ready - 5 for begins, ends, kind in faults):
            return None  # the approval may hang on its way
        return ready if everybody and not any(self.gone_by(host, ready) for host in hosts) else None

    def prepared_for_all(self, event: Event) -> float | None:
        """When all of its machines were prepared for it, and nothing else than a confirmation was to come."""
        hosts = self.affected(event)
        unknown = [name for name in event.resources if not self.knows(name)]
        if unknown or any(
            str(self.fleet.options[host]["max_unavailable"]) != "100%" or "hours" in self._rule(event, host)
            for host in hosts
        ):
            return None
        since = [self._prepared_for(event, host) for host in hosts]
        return None if None in since else max(at for at in since if at is not None)

    def gave_up(self, event: Event) -> float | None:
        """When a machine first failed to be prepared for an event."""
        for line in self.lines("phase"):
            if line["phase"] == "half" and event.id in line["events"] and line["host"] in self.failing(event):
                return float(line["at"])
        return None

    def failing(self, event: Event) -> list[str]:
        """The machines of an event of which a step can't be done."""
        return [
            host
            for host in self.affected(event)
            if any(step.do_fails or step.do_seconds > step.limit for step in self.machine(host).steps)
        ]

    def hidden(self, event: Event) -> bool:
        """Whether it came and went while everybody who is shown it was frozen by it: nobody can know that it started."""
        if event.started is None or event.left is None or event.type in (*GONE_FOR_GOOD, "Reboot", "Redeploy"):
            return False
        viewers = {
            viewer
            for host in self.affected(event)
            for viewer in ([host] if self.machine(host).scope.each_its_own else self.hosts)
            if self.machine(viewer).scope is self.machine(host).scope
        }
        struck = {line["host"] for line in self.journal.of("strike") if line["event"] == event.id}
        return viewers <= struck and event.left - event.started <= event.down

    def nobody_could_see(self, host: str, since: float, at: float) -> bool:
        """Whether whoever is shown what a machine is shown was blind all that time. Nobody can know what came then, and a machine
        that can be reached and can't poll is recovered all the same after a while."""
        scope = self.machine(host).scope
        viewers = [host] if scope.each_its_own else [one for one in self.hosts if self.machine(one).scope is scope]
        return all(
            any(kind in BLIND and begins <= since and at <= ends for begins, ends, kind in self.machine(viewer).faults)
            for viewer in viewers
        )

    def longest_gap(self, host: str) -> float:
        """The longest time in which nobody who is shown what a machine is shown had a look, but for its own events."""
        machine = self.machine(host)
        if machine.gone or self.may_go_unseen(host):
            return 0.0
        viewers = [other for other in self.hosts if self.machine(other).scope is machine.scope]
        if machine.scope.each_its_own:
            viewers = [host]
        struck = [
            (line["at"], line["at"] + self._struck_for(line))
            for line in self.journal.of("strike")
            if line["host"] in viewers
        ]
        struck += self._perhaps_approved(viewers)
        longest, last = 0.0, self.began
        looks = [line for line in self.lines("looked") if line["good"] and line["host"] in viewers]
        shown: list[Any] = []
        for look in [*looks, {"began": self.until, "at": self.until, "events": []}]:
            begins = look["began"]
            away = any(a < begins and b > last for a, b in struck)
            away = away or all(self._seems_struck(viewer, shown, last, begins) for viewer in viewers)
            longest = max(longest, 0.0 if away else begins - last)
            last, shown = max(last, look["at"]), look["events"]
        return longest

    def _seems_struck(self, host: str, shown: list[Any], since: float, until: float) -> bool:
        """Whether a machine that does not answer was last seen under an event of its own: nobody can know that it is not that."""
        name = self.machine(host).name.lower()
        started = any(status == "Started" and name in [one.lower() for one in names] for _key, status, names in shown)
        return started and any(line["host"] == host and since < line["at"] <= until for line in self.lines("lost"))

    def _perhaps_approved(self, hosts: Iterable[str]) -> list[tuple[float, float]]:
        """From when on machines may have been away, as they were lost when they were to approve: nobody can tell."""
        lost = self.lines("lost")
        sent = [line for line in self.lines("sent") if line["do"] == "approve" and line["host"] in hosts]
        return [
            (line["at"], line["at"] + 25)
            for line in sent
            if any(other["host"] == line["host"] and 0 < other["at"] - line["at"] < 25 for other in lost)
        ]

    def _prepared_for(self, event: Event, host: str) -> float | None:
        """When a machine's mark first said that it is prepared for an event."""
        phase, joined = "", False
        for line in self.journal.of("marked", "taken", "phase", "joined", "mark-gone", "boot"):
            if line["host"] != host or (line["what"] != "boot" and line["run"] not in self.hands_of(host)):
                continue
            if line["what"] == "boot":
                phase = ""  # what was done is undone by it
            elif line["what"] == "phase":
                phase = line["phase"] if line.get("present", True) else ""  # and not before its last start
            elif line["what"] == "joined":
                joined = joined or line["event"] == event.id
            else:
                phase, joined = "", False
            if phase == "prepared" and joined:
                return float(line["at"])
        return None

    def _taken_over(self, at: float) -> list[dict[str, Any]]:
        """What the marks said last that it took from others: who failed under another run has failed under this one."""
        found = []
        for taken in self.lines("taken"):
            said = [
                line
                for line in self.journal.of("phase")
                if line["host"] == taken["host"] and line["run"] == taken["from_run"] and line["at"] <= taken["at"] < at
            ]
            found += said[-1:]
        return found

    def was_to_stay(self, event: Event, host: str, at: float) -> bool:
        """Whether a machine was prepared for an event that is still to come, and nothing speaks for giving that up."""
        seen = self.seen(event)
        options = self.fleet.options[host]
        if self.action(event, host) not in ("prepare", "hold", "prepare_and_approve") or seen is None or seen > at - 15:
            return False
        if event.not_before - at > options["prepare_before"] or not event.affects(self.machine(host).name):
            return False
        phases = [line for line in self.lines("phase") if line["at"] < at and event.id in line["events"]]
        marked = any(line["host"] == host for line in phases)
        phases += [line for line in self._taken_over(at) if event.id in line["events"]]
        if any(line["phase"] == "half" for line in phases):
            return False  # its time did not suffice for one of them
        return marked and all(self.sound(other, self.began, at) for other in self.affected(event))
