# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The task of playbook recover: what becomes of each machine by its mark, and what of it is undone. Those that can't be reached are waited for
when the others are done, and each is recovered as soon as it answers.

Private to this collection.

Where the user's own task files are due, the task returns ``own``, and is to be gone through once more after them; else ``finished``, and as
``hosts`` what became of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._clock import steady
from ...module_utils._text import duration, listed
from .._ansible import say
from .._fleet.recover_plan import Overrides, Verdict, verdicts
from .._lines.reach import variables_of
from . import handlers
from .asking import Asking, Machines
from .host_variables import HostVariables
from .undoing import Take, Undoing

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    force=dict(type="bool", default=False),
    take=dict(type="str", default=""),
    unmarked=dict(type="bool", default=False),
    # What the task returned before, of a recovery that goes on
    before=dict(type="dict"),
)

EVERY = 4.0
"""Seconds between two calls of a machine that could not be reached."""


def work(action: Any, task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    overrides = Overrides(arguments["force"], arguments["take"], arguments["unmarked"])
    return _Recovery(action, task_vars, overrides, arguments["before"]).go_on()


class _Recovery:
    """
    :attr _verdicts: by host
    :attr _ended: what came of those that were undone, by host
    :attr _until: until when each of those is waited for that could not be reached, by ``steady``
    """

    def __init__(self, action: Any, task_vars: Mapping[str, Any], overrides: Overrides, before: Any) -> None:
        self._action, self._task_vars = action, task_vars
        self._undoing = Undoing(action, task_vars, before)
        kept = self._undoing.data
        self._goes_on = bool(kept)
        self._overrides = Overrides(*kept["overrides"]) if kept else overrides
        self._verdicts = {host: Verdict(*one) for host, one in kept.get("verdicts", {}).items()}
        self._ended: dict[str, dict[str, Any]] = kept.get("ended", {})
        self._until: dict[str, float] = kept.get("until", {})

    def go_on(self) -> dict[str, Any]:
        with Machines(self._action, self._task_vars, "recover") as machines:
            if self._goes_on:
                self._undoing.go_on()
            else:
                machines.ask()
                self._begin(machines, machines.answers)
            while not self._undoing.own:
                self._end(machines)
                back = self._awaited(machines)
                if not back:
                    return self._over()
                machines.ask()  # what any of them is shown counts for all
                self._begin(machines, back)
        kept = {"overrides": self._overrides, "verdicts": self._verdicts, "ended": self._ended, "until": self._until}
        return dict(self._undoing.returned(kept), changed=False)

    def _over(self) -> dict[str, Any]:
        hosts = self._became()
        done = [host for host, one in hosts.items() if one["changed"] and not one["failed"]]
        topics = handlers.of_hosts(self._action._task, handlers.RECOVERED, done)
        return dict(changed=False, finished=True, hosts=hosts, topics=topics)

    def _begin(self, machines: Machines, hosts: Iterable[str]) -> None:
        """Decide what becomes of these, and undo what is to be undone."""
        found = verdicts(machines.asked, self._overrides)
        self._verdicts.update((host, found[host]) for host in hosts)
        turn = [host for host in hosts if found[host].verdict == "recover"]
        if not self._action._task.check_mode:
            # Before anything is undone: a run that is alive, and the machine's own watcher, keep off from then on.
            requests = {host: self._first(found[host], machines.answers[host]) for host in found if host in hosts}
            machines.call({host: Asking(one) for host, one in requests.items() if one})
        if turn:
            say(f"{host} {found[host].words}" for host in turn)
        self._undoing.begin(
            {host: Take(found[host].take if found[host].forced else "any", found[host].unmarked) for host in turn}
        )

    def _first(self, verdict: Verdict, answer: Mapping[str, Any]) -> list[dict[str, Any]]:
        """What a machine is asked to do before that."""
        requests: list[dict[str, Any]] = []
        if verdict.drop:
            requests.append({"do": "take_off"})
        if verdict.aside:
            requests.append({"do": "put_aside", "vm_id": answer["answers"][0]["vm_id"]})
        events = (answer.get("mark") or {}).get("events")
        if self._overrides.force and verdict.verdict == "recover" and events:
            requests.append({"do": "put_back", "events": events})
        return requests

    def _end(self, machines: Machines) -> None:
        """Keep what came of it; with force, what can't be undone is given up."""
        done = self._undoing.became
        self._ended.update(done)
        left = [host for host, one in done.items() if self._overrides.force and not one["ok"]]
        machines.ask(left)
        marks = {host: machines.answers[host].get("mark") or {} for host in left}
        machines.call(
            {
                host: Asking([{"do": "take_off", "take": mark["holder"]["run"], "forced": True}])
                for host, mark in marks.items()
                if mark.get("phase") == "half"
            }
        )

    def _awaited(self, machines: Machines) -> list[str]:
        """Those that could not be reached before and have answered now; none where none is waited for any more."""
        lost = [host for host in machines.hosts if self._verdicts[host].verdict == "lost"]
        new = [host for host in lost if host not in self._until]
        if new:
            self._until.update((host, steady() + self._seconds(host)) for host in new)
            longest = duration(max(self._until[host] for host in new) - steady())
            say([f"Waiting until {listed(new)} can be reached, for {longest} at most."])
        awaited = lost = [host for host in lost if self._until[host] > steady()]
        back: list[str] = []

        def again(host: str, answer: Mapping[str, Any], _times: int) -> float | None:
            if not answer["lost"]:
                back.append(host)
            return None if back or steady() + EVERY > self._until[host] else EVERY

        while lost and not back:
            machines.ask(lost, again=again)
            lost = [host for host in lost if self._until[host] > steady() + EVERY]
        why = verdicts(machines.asked, self._overrides)
        self._verdicts.update((host, why[host]) for host in awaited if host not in back)
        return back

    def _seconds(self, host: str) -> float:
        variables = HostVariables(self._action, variables_of(self._action, self._task_vars, host))
        return float(variables["maintain_recover_timeout"])

    def _became(self) -> dict[str, dict[str, Any]]:
        """For people, by host: as ``show`` what was done, in ``words`` what came of it, and whether it has ``failed``, and was ``changed``."""
        found = {}
        for host, verdict in self._verdicts.items():
            done, words = self._ended.get(host), f"{host} {verdict.words}"
            failed = not (done["ok"] if done else verdict.verdict == "leave")
            found[host] = {
                "show": done["show"] if done else [],
                "did": bool(done and done["changed"]),
                "words": done["message"] if done and failed else words,
                "failed": failed,
                "changed": bool(done) and not self._action._task.check_mode,
            }
        return found
