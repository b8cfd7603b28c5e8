# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A lone Windows machine through a maintenance, in virtual time, over a PowerShell that stays.

The real deciding, machine program, store, Transport and way of the step; look.ps1, Ansible's modules and Azure are played.
"""

import base64
import json
import math

from ansible.errors import AnsibleConnectionFailure

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import iso_utc
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.beside_mark import (
    SUPPRESSED,
    with_events,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import Host
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import elsewhere, orders
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain import orders as drain_round
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.plan import make_plan
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.result import result
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import call as action
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.calls import perform_on_windows
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.machine import (
    POWERSHELL,
    WindowsMachine,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._windows.modules import said_instead
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import (
    WALL,
    ScriptedClock,
    document,
    event,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import OPTIONS, SAME
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.played import PlayedMachine
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._windows.windows_machine import gave

ENDPOINT = "http://imds.test"
ID = "EVENT-1"
SHOWN = 60.0  # seconds after the beginning
STARTS_AFTER = 3.0  # seconds from the approval to its start, then to the machine's end, until that is up again, and to the event's end
DOWN_AFTER = 8.0
DOWN_FOR = 30.0
OVER_AFTER = 75.0
ASKS = 0.03  # seconds of an exchange with the PowerShell that stays
TASK = 0.02  # seconds of the run itself for each pass and call


class Lone:
    """A run over one machine.

    :arg steps: of drain_steps
    :arg start: seconds of each start of PowerShell
    :arg takes: seconds of a step

    starts: when each PowerShell was started that stays; modules: when each other module was begun, and which
    reboots: when it is restarted by nobody's event, in a moment; put_back: when a person recovers it by force
    """

    shown = SHOWN
    reboots = put_back = math.inf

    def __init__(self, folder, steps=({"type": "service", "name": "W3SVC"},), start=2.0, takes=1.0):
        self.clock = ScriptedClock()
        self.start, self.takes = start, takes
        self.starts, self.modules = [], []
        self.approved = None  # when
        self.running = True
        self.stays_in = 0  # the boot in which it was started
        self.boots, self.booted = 1, -7200.0
        self.down_for_event = True  # as long as that was not over yet
        self.jobs = {}  # when each ends, and what the service is then
        self.began = self.clock.now()
        self.played = PlayedMachine(folder, exchange=self._exchange, now=self._clock, sleep=self._sleep)
        self.plan = make_plan(list(steps), Host("win1", "windows", {}, lambda name: "windows", lambda path: None))
        assert not self.plan["errors"], self.plan["errors"]
        facts = {
            "host": "win1",
            "is_linux": False,
            "scope": "",
            "resource_name": "",
            "group": "",
            "endpoint": ENDPOINT,
            "steps": len(steps),
            "needs": 60.0 * len(steps),
            "options": OPTIONS,
            "same": SAME,
        }
        run = {"run": "run-1", "job": "", "controller": "ctl1", "check": False}
        self.record = run_record.begun([facts], run, self.clock.now(), self.clock.wall())

    # --- time ---

    @property
    def at(self):
        """Seconds since the beginning."""
        return self.clock.now() - self.began

    def _after(self):
        """Seconds since the approval."""
        return -1.0 if self.approved is None else self.at - self.approved

    @property
    def is_up(self):
        return not DOWN_AFTER <= self._after() < DOWN_AFTER + DOWN_FOR

    def _passes(self, seconds):
        """Time in which a module runs: the connection is cut when the machine goes down."""
        was_up, left = self.is_up, seconds
        while left > 0.001:
            step = min(left, 0.5)
            self.clock.elapsed += step
            left -= step
            self._meanwhile()
            if not self.is_up:
                self.clock.elapsed += 0.0 if was_up else left
                raise AnsibleConnectionFailure("Connection refused" if not was_up else "Connection reset")
        if self.down_for_event and self._after() >= DOWN_AFTER + DOWN_FOR:
            self.down_for_event = False
            self._boots()

    def _boots(self):
        self.boots, self.booted, self.running = self.boots + 1, self.at, True
        self.jobs.clear()

    def _meanwhile(self):
        if self.at >= self.reboots:
            self.reboots = math.inf
            self._boots()
            raise AnsibleConnectionFailure("Connection reset")
        if self.at >= self.put_back:
            self.put_back_at, self.put_back, self.running = self.put_back, math.inf, True
            folder = self.played.path("%ProgramData%\\AzureMaintenance")
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "mark.json").unlink(missing_ok=True)
            (folder / SUPPRESSED).write_text(json.dumps(with_events({}, [ID], self.clock.wall())))

    def mark(self):
        file = self.played.path("%ProgramData%\\AzureMaintenance\\mark.json")
        return json.loads(file.read_text()) if file.exists() else None

    def _clock(self):
        """The time since the machine was started."""
        return self.at - self.booted

    def _sleep(self, seconds):
        self._passes(seconds)

    # --- Azure ---

    def _document(self):
        if self.at < SHOWN or self._after() >= OVER_AFTER:
            return document(1 if self.at < SHOWN else 4)
        if self._after() >= STARTS_AFTER:
            return document(3, event(ID, status="Started", resources=["web1"]))
        return document(2, event(ID, resources=["web1"]))

    def _exchange(self, request):
        if request["Method"] == "POST":
            assert not self.running or not self.plan["steps"], "approved in service"
            self.approved = self.at if self.approved is None else self.approved
            body = b""
        else:
            leaf = request["Url"].split("?")[0].rpartition("/")[2]
            body = {"name": b"web1", "vmId": b"vm-1", "priority": b"Regular", "placementGroupId": b""}.get(leaf)
            body = self._document() if body is None else body
        headers = {"content-length": str(len(body))}
        return {"status": 200, "headers": headers, "body": base64.b64encode(body).decode()}

    # --- Ansible ---

    def _execute(self, module, arguments):
        assert module == POWERSHELL
        requests = arguments["parameters"]["Requests"]
        if self.stays_in == self.boots:
            self._passes(ASKS)
        else:
            self.starts.append(self.at)
            self._passes(self.start)
            self.stays_in = self.boots
        booted = iso_utc(WALL + self.booted).rstrip("Z")
        self.played.boot = (booted, int(1000 * (self.at - self.booted)))
        self.played.boot_id = f"boot-{self.boots}"
        return {"result": self.played.result(requests)}

    def _module(self, order):
        """One call of a module of Ansible's, or what the PowerShell that stays says instead."""
        try:
            machine = WindowsMachine("win1", self._look, self.clock)
            return said_instead(order, "%USERPROFILE%\\.ansible_async", machine) or self._called_module(order)
        except AnsibleConnectionFailure as error:
            return {"went_wrong": {"unreachable": True, "msg": str(error)}, "failed": False}

    def _called_module(self, order):
        self.modules.append((self.at, order.use.rpartition(".")[2]))
        self._passes(self.start)
        jid = f"j{len(self.jobs) + 1}"
        self.jobs[jid] = (self.at + self.takes, order.options["state"] == "started")
        return {"ansible_job_id": jid, "started": 1, "finished": 0, "failed": False}

    def _look(self, module, arguments):
        """What is in a job's file, and the state of the service."""
        self._passes(ASKS)
        (request,) = arguments["parameters"]["Requests"]
        if request["Do"] == "script":
            service = {"name": "W3SVC", "state": "started" if self.running else "stopped"}
            return gave({"changed": False, "result": {"services": [service]}})
        jid = request["Path"].rpartition("\\")[2]
        ends, running = self.jobs.get(jid, (0.0, self.running))
        said = {"started": 1, "finished": 0, "ansible_job_id": jid}
        if self.at >= ends:
            self.running = running
            said = {"changed": True, "state": "running" if running else "stopped"}
        return gave({"body": base64.b64encode(json.dumps(said).encode()).decode()})

    def _called(self, call):
        options = {name: value for name, value in call.items() if name != "requests" and value}
        options.pop("heard", None)
        options["endpoint"] = ENDPOINT
        options["holder"] = {"kind": "run", "run": "run-1", "job": "", "controller": "ctl1"}
        sent = action.timely(call["requests"], self.clock.now())
        started = self.clock.now()
        asked = {"requests": sent, "options": options, "steps": self.plan["steps"]}
        answer = perform_on_windows("win1", self._execute, asked, self.clock)
        came = action.result(answer, asked, self.clock.now() - started, self.clock.wall())
        if came["lost"]:
            return came
        came["answers"] = action.as_asked(came["answers"], call["requests"], sent)
        return dict(came, ended=self.clock.now(), heard=action.heard(came, self.clock.now()))

    def _others(self, answer):
        steps, jobs = self.plan["steps"], self.record.hosts["win1"].elsewhere.jobs
        rounds = orders.orders(answer, steps, jobs)
        came = []
        for one in rounds:
            aged = elsewhere.aged(answer, max(0.0, self.clock.now() - answer["ended"]))
            came.append(dict(drain_round.look(one, aged, steps, jobs, self._module), **{orders.ROUND: one}))
        self.clock.elapsed += TASK
        return orders.with_others(answer, steps, came, {}, jobs) if came or answer.get("elsewhere") else answer

    def tick(self):
        todo = self.record.todo
        answers = {}
        for call in todo.calls.values():
            self.clock.elapsed += TASK
            answer = self._called(call)
            answers["win1"] = answer if answer["lost"] else self._others(answer)
        self.clock.elapsed += TASK
        run_record.sent(self.record)
        run_record.move_on(self.record, answers, self.clock.now(), self.clock.wall())
        if not self.record.finished:
            self.clock.elapsed += self.record.todo.seconds

    def until(self, is_so, seconds=2000.0):
        end = self.at + seconds
        while not is_so():
            self.tick()
            assert self.at < end, "it did not come to that"

    @property
    def is_over(self):
        return self.record.finished

    @property
    def problems(self):
        return result(self.record)["problems"]

    @property
    def to_approval(self):
        """Seconds from when the event was shown to its approval."""
        return self.approved - SHOWN
