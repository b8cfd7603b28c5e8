# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Scripted runs for the tests of deciding: machines that answer what the record asks them, on a clock that only moves when told.

run = Run("web1", "web2")
run.show(event("A", ["vm1"]))  # what all machines of the scope are shown from now on
run.until(lambda: run.sent("A"))
"""

from __future__ import annotations

import copy
import dataclasses

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.call_schedule import seconds_until_due
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.result import result
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.second_looks import to_see_again
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.tick_planner import only_waits
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils.ticking import STANDS
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import checked_result

NO_ROUTE = "no route to host"
OPTIONS = {
    "policy": DEFAULT_POLICY,
    "margin": 60.0,
    "allow_unknown": False,
    "prepare_before": 300.0,
    "on_failure": "revert",
    "recover_timeout": 900.0,
    "max_unavailable": "100%",
    "max_domains": 0,
    "settle": 0.0,
    "hold": "wait",
}
SAME = {"rounds": 1, "wait_timeout": 3000.0, "event_timeout": 3600.0}


def rules(do, **when):
    """A policy of one rule, or of one that needs something and a last one that leaves everything alone."""
    if when:
        return [{"do": do, "when": when}, {"do": "ignore"}]
    return [{"do": do}]


def event(event_id="A", resources=("vm1",), status="Scheduled", not_before=900.0, **more):
    """An event as a document has it; its not-before is a moment of the run."""
    data = {
        "id": event_id,
        "type": "Reboot",
        "status": status,
        "resource_type": "VirtualMachine",
        "resources": list(resources),
        "raw_resources": list(resources),
        "not_before": "Thu, 01 Jan 1970 00:15:00 GMT" if status == "Scheduled" else "",
        "starts": not_before if status == "Scheduled" else None,  # None: it does not say
        "source": "Platform",
        "description": "",
        "duration": -1,
    }
    data.update(more)
    return data


def started(data):
    return dict(data, status="Started", not_before="", starts=None)


class Machine:
    """A machine with its document and its mark. Preparing and recovering take it some seconds."""

    def __init__(self, host, scope="web", **facts):
        self.host, self.scope = host, scope
        self.name = host.replace("web", "vm").replace("db", "vmdb")
        self.facts = dict(
            {"is_linux": True, "resource_name": "", "group": "", "steps": 1, "needs": 30.0, "declared": True}, **facts
        )
        self.options = {}
        self.documents = []
        self.incarnation = 1
        self.down = ""  # why it can't be reached
        self.blind = ""  # why it can't poll
        self.empty = False  # its service answers with nothing
        self.nameless = False
        self.vm_id = ""
        self.spot = False
        self.group = ""
        self.mark = None
        self.seconds = 10.0  # that draining takes, and putting back
        self.fails = ""  # why its preparation fails
        self.stuck = ""  # why its recovery fails
        self.unknown = ""  # why its initial state can't be determined
        self.unreadable = []  # entries of its document that can't be read
        self.stands = STANDS  # what a second look at its steps finds
        self.yes = []
        self.put_back = []
        self.hold = None
        self.boot = "boot-1"
        self.disk = "disk-1"
        self.booted = None  # when, where it says for how long it has been up
        self.took = 0.5  # seconds of a call that does not wait
        self.refuses = ""  # why it would not approve
        self.service_refuses = ""  # what its metadata service answers to an approval, with HTTP 410
        self.lost_approvals = 0  # approvals that Azure gets, and whose answer is lost
        self.unsent_approvals = 0  # calls with approvals that do not even arrive
        self.approved = []
        self.asked = []  # requests, in the order in which they came, with their time
        self.done_at = None
        self.watcher = None  # what its own watcher says of itself
        self.heard = None  # its uptime, as the action notes it

    def show(self, *events):
        self.documents = list(events)
        self.incarnation += 1

    def document(self, at):
        events = []
        for data in self.documents:
            shown = {key: value for key, value in data.items() if key != "starts"}
            shown["notice"] = None if data["starts"] is None else data["starts"] - (at - 0.1)
            events.append(shown)
        return {
            "events": [] if self.empty else events,
            "incarnation": None if self.empty else self.incarnation,
            "unusable_events": self.unreadable,
            "began": 0.2,
            "age": 0.1,
        }

    def answer(self, call, at):
        self.asked += [(at, request) for request in call["requests"]]
        if self.down:
            return {"lost": self.down}
        approves = any(request["do"] == "approve" for request in call["requests"])
        if approves and self.unsent_approvals:
            self.unsent_approvals -= 1
            return {"lost": "connection refused", "unsent": True}
        if approves and self.lost_approvals:
            self.lost_approvals -= 1
            self.approved += [
                event_id for request in call["requests"] for event_id in request.get("ids", ()) if not self.refuses
            ]
            return {"lost": "the connection was cut"}
        answers = [getattr(self, request["do"])(request, call, at) for request in call["requests"]]
        if self.mark and self.mark["holder"]["run"] == call["run"]:
            held = 0 if any(request["do"] == "release" for request in call["requests"]) else 120
            self.mark = dict(
                self.mark, number=call["number"], lease={"uptime": at, "boot_id": self.boot, "until": at + held}
            )
        return {
            "lost": "",
            "answers": answers,
            "mark": copy.deepcopy(self.mark),  # what it is made later is not known before it is called again
            "yes": self.yes,
            "put_back": self.put_back,
            "hold": self.hold,
            "watcher": self.watcher,
            "boot_id": self.boot,
            "disk": self.disk,
            **({} if self.booted is None else {"uptime": at - self.booted}),
            "heard": self.heard,
            "number": call["number"],
            "fenced": "",
        }

    def hello(self, request, call, at):
        name = "" if self.nameless else self.name
        said = {
            "resource_name": name,
            "placement_group": self.group,
            "vm_id": self.vm_id,
            "priority": "Spot" if self.spot else "",
        }
        return dict(said, problem="the service was slow" if self.nameless else "")

    def look(self, request, call, at):
        if self.blind:
            return {
                "events": [],
                "incarnation": None,
                "failure": {"kind": "denied"},
                "msg": self.blind,
                "began": 0,
                "age": 0,
            }
        waited = self.waits_for({"requests": [request]})
        return dict(self.document(at), began=waited or 0.2)

    def waits_for(self, call):
        """Seconds that a call waits, as nothing has changed."""
        waits = [one["wait"] for one in call["requests"] if one["do"] == "look" and one["since"] == self.incarnation]
        return 0.0 if self.down or self.blind else max(waits, default=0.0)

    def approve(self, request, call, at):
        if self.refuses:
            refused = [{"id": event_id, "reason": "unknown", "message": self.refuses} for event_id in request["ids"]]
            return {
                "approved": [],
                "already": [],
                "not_approved": refused,
                "failure": None,
                "msg": "",
                "unanswered": [],
                "look": self.document(at),
            }
        if self.service_refuses:
            return {
                "approved": [],
                "already": [],
                "not_approved": [],
                "failure": {"kind": "updating", "status": 410, "url": "http://imds.test"},
                "msg": self.service_refuses,
                "unanswered": [],
                "look": self.document(at),
            }
        already = [
            data["id"] for data in self.documents if data["status"] == "Started" and data["id"] in request["ids"]
        ]
        approved = [event_id for event_id in request["ids"] if event_id not in already]
        self.approved += approved
        return {
            "approved": approved,
            "already": already,
            "not_approved": [],
            "failure": None,
            "msg": "",
            "unanswered": [],
            "look": self.document(at),
        }

    def release(self, request, call, at):
        return {}

    def put_aside(self, request, call, at):
        assert self.mark["vm_id"] != request["vm_id"] == self.vm_id
        self.mark = None
        return {}

    def is_put_back(self):
        """A person recovers it by force."""
        self.put_back = list(self.mark["events"])
        self.mark = None

    def loses_its_disk(self):
        """It is rebooted, and what was on it is gone."""
        self.mark, self.boot, self.disk = None, f"{self.boot}+", f"{self.disk}+"

    def go(self, request, call, at):
        if request.get("restore") and self.mark is None:
            self.mark = dict(request["restore"], holder=mark(call["run"], [])["holder"])
            self.done_at = at + self.seconds
        if self.mark and self.mark["holder"]["run"] not in (call["run"], request["take"]):
            return self._state("refused", "it is owned by another run")
        if request["to"] == "prepared":
            return self._prepare(request, call, at)
        return self._recover(request, call, at)

    def _prepare(self, request, call, at):
        if self.mark is None and self.unknown:
            return self._state("failed", self.unknown)
        if self.mark is None or self.mark["holder"]["run"] != call["run"]:
            kept = self.mark["events"] if self.mark else []
            if self.mark is None or self.mark["phase"] != "prepared":
                self.done_at = at + self.seconds
            self.mark = self._marked(
                call["run"],
                [*kept, *request["events"]],
                phase=(self.mark or {}).get("phase", "preparing"),
                boot=(self.mark or {}).get("boot_id", self.boot),
            )
        self.mark["events"] = list(dict.fromkeys([*self.mark["events"], *request["events"]]))
        restarted = self.boot != self.mark.get("again", self.mark["boot_id"])
        if self.mark["phase"] in ("recovering", "half") or (restarted and request["redo_after_reboot"]):
            self.mark["phase"], self.done_at = "preparing", at + self.seconds
            self.mark["again"] = self.boot
        if self.mark["phase"] == "preparing" and at >= (self.done_at or 0):
            if self.fails:
                self.mark["phase"] = "half"
                return self._state("failed", self.fails)
            self.mark["phase"] = "prepared"
        return self._state(self.mark["phase"])

    def _marked(self, *args, **values):
        """Another one in the place of its mark: for which VM that was made stays, and its service is that of whoever takes it over."""
        vm_id = (self.mark or {"vm_id": self.vm_id}).get("vm_id", "")
        return dict(mark(*args, **values), endpoint=self.facts.get("endpoint") or "", vm_id=vm_id)

    def _recover(self, request, call, at):
        if self.mark is None:
            return self._state("recovered")
        if self.mark["phase"] != "recovering" or self.mark["holder"]["run"] != call["run"]:
            steps = self.mark["steps"]
            self.mark = self._marked(call["run"], self.mark["events"], phase="recovering", boot=self.mark["boot_id"])
            self.mark["steps"] = steps
            self.done_at = at + self.seconds
        if at < self.done_at or (request["no_new_steps"] and not self.stuck):
            return self._state("recovering")
        if self.stuck:
            self.mark["phase"] = "half"
            return self._state("half", self.stuck)
        steps, self.mark = [dict(step, state="taken_back") for step in self.mark["steps"]], None
        return dict(self._state("recovered"), steps=steps)

    def _state(self, state, why=""):
        return {"state": state, "why": why, "ask": [], "elsewhere": None, "steps": [], **self.stands}


def mark(run, events, phase="prepared", kind="run", boot="boot-1", until=120.0):
    """A mark as a machine gives it."""
    return {
        "format": 1,
        "number": 1,
        "holder": {"kind": kind, "run": run, "job": "", "controller": "ctl1"},
        "since": "1970-01-01T00:00:00Z",
        "renewed": "1970-01-01T00:00:00Z",
        "lease": {"uptime": 0.0, "boot_id": boot, "until": until},
        "boot_id": boot,
        "events": list(events),
        "phase": phase,
        "steps": [],
    }


def put(state, **values):
    """Make the state of a machine or of an event another one.

    :arg values: by their paths, with two underscores for a dot: ``said__mark=None``
    """
    for path, value in values.items():
        field, _dots, rest = path.partition("__")
        setattr(state, field, _replaced(getattr(state, field), rest, value) if rest else value)


def _replaced(known, path, value):
    field, _dots, rest = path.partition("__")
    new = {field: _replaced(getattr(known, field), rest, value) if rest else value}
    return dataclasses.replace(known, **new) if dataclasses.is_dataclass(known) else known._replace(**new)


class Run:
    """A run over some machines; ``options`` are the run's, as far as they differ from the defaults above."""

    def __init__(self, *machines, check=False, **options):
        machines = machines or ("web1", "web2", "web3")
        self.machines = {
            machine.host: machine for machine in (Machine(one) if isinstance(one, str) else one for one in machines)
        }
        self.at = 0.0
        self.ahead = 0.0  # by how much the controller's clock was set since
        own = {name: value for name, value in options.items() if name in OPTIONS}
        same = {name: value for name, value in options.items() if name in SAME}
        assert len(own) + len(same) == len(options)
        facts = [self._facts(machine, own, same) for machine in self.machines.values()]
        run = {"run": "r1", "job": "", "controller": "ctl", "check": check}
        self.record = run_record.begun(facts, run, at=0.0, wall=0.0)
        self.under_way = {}  # calls that have not been answered, and when each was sent

    def _facts(self, machine, own, same):
        facts = dict(machine.facts)
        declared = facts.pop("declared")
        return {
            **facts,
            "host": machine.host,
            "scope": machine.scope if declared else "",
            "options": {**OPTIONS, **own, **machine.options},
            "same": {**SAME, **same},
        }

    def __getitem__(self, host):
        return self.machines[host]

    def is_proven(self):
        """Azure itself says that its machines are one scope."""
        for machine in self.machines.values():
            machine.group = "pg"
        return self

    def show(self, *events, to=None):
        """What machines are shown from now on, by default all."""
        for machine in self.machines.values() if to is None else [self.machines[host] for host in to]:
            machine.show(*events)

    def tick(self, count=1, seconds=4.0):
        """Let the machines answer. Who waits answers when its wait is over, or it is shown something new; where nobody does anything else, time
        goes on until then, or until something is due.

        :arg seconds: from the calls to the next decision, where a machine is called that does not wait; one that takes longer answers later
        """
        for _number in range(count):
            if self.record.todo.calls and self.record.todo.seconds:
                self._decide({}, self.at + self.record.todo.seconds)  # when a call is due
            began, calls = self.at, self.record.todo.calls
            # A machine that is polled once more before an approval is all that the run waits for.
            seconds_ = 0.0 if not calls.keys().isdisjoint(to_see_again(self.record)) else seconds
            due = [host for host, call in calls.items() if call["due"] <= began + seconds_]
            sent = run_record.sent(self.record, due or list(calls)[:1])
            self.under_way.update({host: (call, max(began, call["due"])) for host, call in sent.items()})
            self._wake(began)
            ends = {host: self._end(host) for host in self.under_way}
            soonest = min((at for host, at in ends.items() if not self._waits(host)), default=None)
            if soonest is None:
                later = [call["due"] for call in self.record.todo.calls.values()]
                end = max(min([began + self._pause(began), *ends.values(), *later]), began + 0.1)
            else:
                end = max(began + seconds_, soonest + 0.5)
            answers = {host: self._answer(host, at) for host, at in ends.items() if at <= end}
            self._decide(answers, end)
        return self

    def _decide(self, answers, at):
        self.at = at
        run_record.move_on(self.record, answers, at, wall=at + self.ahead)

    def _waits(self, host):
        """Seconds for which a machine waits in its call: 0 where it does not, or has been shown something new."""
        return self.machines[host].waits_for(self.under_way[host][0])

    def _wake(self, at):
        """Those that have waited, and are shown something new now."""
        for host, (call, _at) in self.under_way.items():
            if only_waits(call) and not self._waits(host):
                self.under_way[host] = call, at

    def _end(self, host):
        """When the call that is under way to a machine ends."""
        return self.under_way[host][1] + (self._waits(host) or self.machines[host].took)

    def _answer(self, host, at):
        call, sent = self.under_way.pop(host)
        return {"took": at - sent, "ended": at, **self.machines[host].answer(call, at)}

    def _pause(self, at):
        """Seconds after which something is due though no machine answers."""
        if not self.record.todo.idle:
            return self.record.todo.seconds
        return max(1.0, seconds_until_due(self.record, at))

    def until(self, condition, most=400, seconds=4.0):
        """Tick until something is the case."""
        for _number in range(most):
            if condition():
                return self
            assert not self.record.finished, f"the run ended before: {self.problems}"
            self.tick(seconds=seconds)
        raise AssertionError(f"never came: {self.timeline}")

    def to_end(self, most=2000):
        for _number in range(most):
            if self.record.finished:
                return self
            self.tick()
        raise AssertionError(f"never ended: {self.timeline}")

    # ---- what is asked about it ----

    @property
    def problems(self):
        return list(self.record.problems.values())

    @property
    def notes(self):
        return list(self.record.notes.values())

    @property
    def result(self):
        return checked_result(result(self.record))

    @property
    def timeline(self):
        return "\n".join(self.result["timeline"])

    def event(self, key="A"):
        return self.record.events[key]

    def reasons(self, key="A"):
        """What stands against its approval, as the run's result has it."""
        return next(one["reasons"] for one in self.result["events"] if one["id"].upper() == key)

    def sent(self, key="A"):
        return key in self.record.events and self.event(key).approval.sent

    def approvals(self, event_id="A"):
        """Who approved it, in the order of the inventory."""
        return [host for host, machine in self.machines.items() if event_id in machine.approved]

    def prepared(self, *hosts):
        return all(self[host].mark and self[host].mark["phase"] == "prepared" for host in hosts)

    def marked(self):
        return [host for host, machine in self.machines.items() if machine.mark]

    def goes(self, host, since=0.0):
        """What the machine was asked to become since then."""
        return [request["to"] for at, request in self[host].asked if request["do"] == "go" and at >= since]
