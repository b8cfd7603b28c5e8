# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The control API: JSON in and out, on an address of its own."""

import asyncio
import ipaddress
import json
import pkgutil
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from .answers import Answer
from .faults import read_fault
from .fields import Fields
from .http_parser import Request
from .instance import JSON
from .journal import iso
from .model import Event
from .problems import InvalidInput, NotThere, Problem, WrongMoment
from .scenario import Scenario, read_event, read_scenario, read_vm
from .scenario_files import shipped, ships
from .world import ARM, CO_TENANT, World

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
            _refuse_strangers(request)
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
            "scenarios": {"GET": lambda request: reply({"scenarios": ships()})},
            "faults": {"GET": self._faults, "POST": self._add_fault, "DELETE": self._clear_faults},
            "clock": {"GET": lambda request: reply(self._clock_told()), "POST": self._move_clock},
            "journal": {"GET": self._journal},
            "reset": {"POST": self._reset},
        }
        if len(steps) == 1:
            return fixed.get(steps[0], {})
        if len(steps) == 2 and steps[0] == "vms":
            return {"GET": lambda request: reply(self._world.vm(steps[1]).told())}
        if len(steps) == 2 and steps[0] == "events":
            return {"GET": lambda request: reply(self._told(self._world.event(steps[1])))}
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

    def _told(self, event: Event) -> Dict[str, Any]:
        return event.told(self._world.settings.not_before_format)

    def _clock_told(self) -> Dict[str, Any]:
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
            "clock": self._clock_told(),
            "scopes": {name: scope.told() for name, scope in world.scopes.items()},
            "events": [self._told(event) for event in world.events.values()],
            "faults": [active.told() for active in world.faults.all()],
            "requests": dict(world.requests.told(), total=world.requests.get + world.requests.post),
            "journal_seq": world.journal.seq,
        }
        if _parameters(request, "vms").get("vms", "").lower() == "true":
            state["vms"] = [vm.told() for vm in world.vms.values()]
        return reply(state)

    def _vms(self, request: Request) -> Answer:
        return reply({"vms": [vm.told() for vm in self._world.vms.values()]})

    def _events(self, request: Request) -> Answer:
        return reply({"events": [self._told(event) for event in self._world.events.values()]})

    def _faults(self, request: Request) -> Answer:
        return reply({"faults": [active.told() for active in self._world.faults.all()]})

    def _journal(self, request: Request) -> Reply:
        given = _parameters(request, "since", "kind", "vm", "event_id", "limit", "wait")
        since = int(_number(given, "since", 0, 0, 1e15))
        limit = int(_number(given, "limit", 1000, 1, 100000))
        wait = _number(given, "wait", 0, 0, LONGEST_WAIT)
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
        vm = read_vm(_body(request), "")
        self._world.load(Scenario(vms=(vm,)))
        return reply(self._world.vm(vm.name).told(), 201)

    def _inject(self, request: Request) -> Answer:
        spec = read_event(_body(request), "", "")
        if spec.after:
            raise InvalidInput("after", "only in a scenario")
        return reply(self._told(self._world.load(Scenario(events=(spec,)))[0]), 201)

    def _load(self, request: Request) -> Answer:
        body = _body(request)
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
        fields = Fields(_body(request))
        who = fields.text("as", ARM, (ARM, CO_TENANT)) if move == "approve" else ""
        fields.done()
        if move == "approve":
            self._world.approve_from_outside(event, who)
        else:
            getattr(self._world, move)(event)
        return reply(self._told(event))

    def _add_fault(self, request: Request) -> Answer:
        fault = read_fault(_body(request))
        self._world.check_vm_names(fault.vms, "vm")
        return reply(self._world.faults.add(fault).told(), 201)

    def _remove_fault(self, fault_id: str) -> Answer:
        self._world.faults.remove(fault_id)
        return reply({})

    def _clear_faults(self, request: Request) -> Answer:
        self._world.faults.clear()
        return reply({})

    def _move_clock(self, request: Request) -> Answer:
        timeline = self._world.timeline
        fields = Fields(_body(request))
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
        return reply(self._clock_told())

    def _reset(self, request: Request) -> Answer:
        self._world.reset()
        return reply({})


def _refuse_strangers(request: Request) -> None:
    """A web page somewhere else must not steer the emulator through its reader's browser."""
    host = request.headers.get("host", "")
    name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if name and name.lower() != "localhost":
        try:
            ipaddress.ip_address(name)
        except ValueError:
            raise InvalidInput("Host", f"{name!r} is neither an address nor localhost") from None
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise InvalidInput("Origin", f"{origin!r} is not this page")


def _body(request: Request) -> Dict[str, Any]:
    if not request.body.strip():
        return {}
    try:
        body = json.loads(request.body.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise InvalidInput("body", f"it is not JSON: {error}") from None
    Fields(body, "body")
    return body


def _parameters(request: Request, *known: str) -> Dict[str, str]:
    for name, _value in request.query:
        if name not in known:
            raise InvalidInput(name, f"unknown parameter; known here: {', '.join(known)}")
    return dict(request.query)


def _number(given: Dict[str, str], name: str, default: float, low: float, high: float) -> float:
    text: Optional[str] = given.get(name)
    if text is None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise InvalidInput(name, f"{text!r} is no number between {low:g} and {high:g}")
    return value
