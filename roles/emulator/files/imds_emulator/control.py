# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control API: JSON in and out, on an address of its own."""

import asyncio
import json
import pkgutil
from typing import Any, Callable, Dict, List, Tuple, Union

from .answers import JSON, Answer
from .control_requests import body_of, number, parameters, refuse_other_pages
from .faults import read_fault
from .fields import Fields
from .http_parser import Request
from .journal import iso
from .lifecycle import ARM, CO_TENANT
from .model import Event
from .problems import InvalidInput, NotThere, Problem, WrongMoment
from .scenario import Scenario
from .scenario_files import names, shipped
from .scenario_reader import read_event, read_scenario, read_vm
from .world import World

STATUS = {InvalidInput: 400, NotThere: 404, WrongMoment: 409}
LONGEST_WAIT = 600
Reply = Union[Answer, "asyncio.Future[Answer]"]


def reply(value: Any, status: int = 200) -> Answer:
    """A JSON answer."""
    return Answer(status, json.dumps(value, ensure_ascii=False).encode("utf-8"), JSON, (("Cache-Control", "no-store"),))


class ControlService:
    """Answers requests on the control port."""

    def __init__(self, world: World, loop: asyncio.AbstractEventLoop) -> None:
        self._world = world
        self._loop = loop

    def answer(self, request: Request) -> Reply:
        """The one entry."""
        self._world.timeline.catch_up()
        try:
            refuse_other_pages(request)
            return self._route(request)
        except Problem as problem:
            return reply({"error": str(problem)}, STATUS.get(type(problem), 400))

    def _route(self, request: Request) -> Reply:
        steps = request.path.strip("/").split("/")
        handlers = self._handlers(steps)
        if not handlers:
            raise NotThere(f"there is no {request.path}")
        handler = handlers.get(request.method)
        if handler is None:
            return reply({"error": f"{request.path} takes {', '.join(sorted(handlers))}"}, 405)._replace(
                headers=(("Allow", ", ".join(sorted(handlers))),)
            )
        return handler(request)

    def _handlers(self, steps: List[str]) -> Dict[str, Callable[[Request], Reply]]:
        """Method -> what to do, at a path."""
        fixed: Dict[str, Dict[str, Callable[[Request], Reply]]] = {
            "": {"GET": self._page},
            "state": {"GET": self._state},
            "vms": {"GET": self._vms, "POST": self._add_vm},
            "events": {"GET": self._events, "POST": self._inject},
            "scenario": {"POST": self._load},
            "scenarios": {"GET": lambda request: reply({"scenarios": names()})},
            "faults": {"GET": self._faults, "POST": self._add_fault, "DELETE": self._clear_faults},
            "clock": {"GET": lambda request: reply(self._clock_as_json()), "POST": self._move_clock},
            "journal": {"GET": self._journal},
            "reset": {"POST": self._reset},
        }
        if len(steps) == 1:
            return fixed.get(steps[0], {})
        if len(steps) == 2 and steps[0] == "vms":
            return {"GET": lambda request: reply(self._world.vm(steps[1]).as_json())}
        if len(steps) == 3 and steps[0] == "vms" and steps[2] in ("start", "stop"):
            return {"POST": lambda request: self._run_vm(request, steps[1], steps[2] == "start")}
        if len(steps) == 2 and steps[0] == "events":
            return {"GET": lambda request: reply(self._event(self._world.event(steps[1])))}
        if len(steps) == 2 and steps[0] == "faults":
            return {"DELETE": lambda request: self._remove_fault(steps[1])}
        if len(steps) == 3 and steps[0] == "events" and steps[2] in ("start", "approve", "cancel", "complete"):
            return {"POST": lambda request: self._move_event(request, steps[1], steps[2])}
        return {}

    # -- looking ---------------------------------------------------------------------------------------------------

    @staticmethod
    def _page(request: Request) -> Answer:
        page = pkgutil.get_data(__package__, "page.html") or b""
        policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'"
        return Answer(200, page, "text/html; charset=utf-8", (("Content-Security-Policy", policy),))

    def _event(self, event: Event) -> Dict[str, Any]:
        return event.as_json(self._world.settings.not_before_format)

    def _clock_as_json(self) -> Dict[str, Any]:
        clock = self._world.timeline.clock
        now = clock.now()
        return {
            "virtual": iso(now),
            "elapsed": round(now - clock.start, 3),
            "wall": round(clock.wall(), 3),
            "speed": clock.speed,
        }

    def _state(self, request: Request) -> Answer:
        world = self._world
        state = {
            "clock": self._clock_as_json(),
            "scopes": {name: scope.as_json() for name, scope in world.scopes.items()},
            "events": [self._event(event) for event in world.events.values()],
            "faults": [active.as_json() for active in world.faults.all()],
            "requests": dict(world.requests.as_json(), total=world.requests.get + world.requests.post),
            "journal_seq": world.journal.seq,
        }
        if parameters(request, "vms").get("vms", "").lower() == "true":
            state["vms"] = [vm.as_json() for vm in world.vms.values()]
        return reply(state)

    def _vms(self, request: Request) -> Answer:
        return reply({"vms": [vm.as_json() for vm in self._world.vms.values()]})

    def _events(self, request: Request) -> Answer:
        return reply({"events": [self._event(event) for event in self._world.events.values()]})

    def _faults(self, request: Request) -> Answer:
        return reply({"faults": [active.as_json() for active in self._world.faults.all()]})

    def _journal(self, request: Request) -> Reply:
        given = parameters(request, "since", "kind", "vm", "event_id", "limit", "wait")
        since = int(number(given, "since", 0, 0, 1e15))
        limit = int(number(given, "limit", 1000, 1, 100000))
        wait = number(given, "wait", 0, 0, LONGEST_WAIT)
        kinds = [kind for kind in given.get("kind", "").split(",") if kind]

        def look() -> Tuple[bool, Answer]:
            seq = self._world.journal.seq
            entries = self._world.journal.entries(since, kinds, given.get("vm", ""), given.get("event_id", ""), limit)
            following = entries[-1]["seq"] if len(entries) == limit else seq
            return bool(entries), reply({"entries": entries, "next": following})

        found, answer = look()
        if found or not wait:
            return answer
        return self._wait_for_entry(look, wait)

    def _wait_for_entry(self, look: Callable[[], Tuple[bool, Answer]], wait: float) -> "asyncio.Future[Answer]":
        future: asyncio.Future[Answer] = self._loop.create_future()
        listeners = self._world.journal.listeners

        def done(last: bool) -> None:
            found, answer = look()
            if (found or last) and not future.done():
                timer.cancel()
                listeners.remove(written)
                future.set_result(answer)

        def written() -> None:
            done(last=False)

        timer = self._loop.call_later(wait, done, True)
        listeners.append(written)
        return future

    # -- changing --------------------------------------------------------------------------------------------------

    def _add_vm(self, request: Request) -> Answer:
        vm = read_vm(body_of(request), "")
        self._world.load(Scenario(vms=(vm,)))
        return reply(self._world.vm(vm.name).as_json(), 201)

    def _run_vm(self, request: Request, name: str, running: bool) -> Answer:
        vm = self._world.vm(name)
        Fields(body_of(request)).done()
        self._world.set_running(vm, running)
        return reply(vm.as_json())

    def _inject(self, request: Request) -> Answer:
        spec = read_event(body_of(request), "", "")
        if spec.after:
            raise InvalidInput("after", "only in a scenario")
        return reply(self._event(self._world.load(Scenario(events=(spec,)))[0]), 201)

    def _load(self, request: Request) -> Answer:
        body = body_of(request)
        if "scenario" in body:
            fields = Fields(body)
            name = fields.text("scenario")
            resources = fields.texts("resources", None)
            fields.done()
            scenario = read_scenario(shipped(name), resources)
        else:
            scenario = read_scenario(body)
        if "start" in scenario.settings:
            raise InvalidInput("settings.start", "only when the emulator starts")
        events = self._world.load(scenario)
        return reply(
            {
                "events": [{"id": event.id, "name": event.name} for event in events],
                "vms": [vm.name for vm in scenario.vms],
            },
            201,
        )

    def _move_event(self, request: Request, id_or_name: str, move: str) -> Answer:
        event = self._world.event(id_or_name)
        fields = Fields(body_of(request))
        who = fields.text("as", ARM, (ARM, CO_TENANT)) if move == "approve" else ""
        fields.done()
        lifecycle = self._world.lifecycle
        if move == "approve":
            lifecycle.approve_from_outside(event, who)
        else:
            {"start": lifecycle.start, "cancel": lifecycle.cancel, "complete": lifecycle.complete}[move](event)
        return reply(self._event(event))

    def _add_fault(self, request: Request) -> Answer:
        fault = read_fault(body_of(request))
        self._world.check_vm_names(fault.vms, "vm")
        return reply(self._world.faults.add(fault).as_json(), 201)

    def _remove_fault(self, fault_id: str) -> Answer:
        self._world.faults.remove(fault_id)
        return reply({})

    def _clear_faults(self, request: Request) -> Answer:
        self._world.faults.clear()
        return reply({})

    def _move_clock(self, request: Request) -> Answer:
        timeline = self._world.timeline
        fields = Fields(body_of(request))
        speed = fields.number("speed", None, 0, 1e6)
        seconds = fields.number("advance", 0, 0, 1e9)
        jump, pause = fields.flag("next"), fields.flag("pause")
        fields.done()
        if pause:
            speed = 0
        if speed is not None:
            timeline.set_speed(speed)
        due = timeline.next_due() if jump else None
        if due is not None:
            seconds += max(0.0, due - timeline.now())
        if seconds:
            timeline.advance(seconds)
        self._world.journal.add("clock", speed=timeline.clock.speed, advanced=round(seconds, 3))
        return reply(self._clock_as_json())

    def _reset(self, request: Request) -> Answer:
        self._world.reset()
        return reply({})
