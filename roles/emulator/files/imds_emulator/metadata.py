# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service: from a request to the answer that IMDS would give, or that a fault makes of it."""

import asyncio
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from . import attested, start_requests
from .answers import JSON, Answer, error, throttled
from .documents import PREVIEW, VERSIONS, Version
from .faults import ActiveFault
from .http_parser import Request
from .instance import NEWEST, answer_instance, answer_versions
from .instance import VERSIONS as INSTANCE_VERSIONS
from .model import Vm
from .world import World

SERVER = "IMDS/150.870.65.1854"
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
EVENTS, INSTANCE, ATTESTED, VERSION_LIST = "scheduledevents", "instance", "attested", "versions"
METHODS = {EVENTS: ("GET", "POST"), INSTANCE: ("GET",), ATTESTED: ("GET",), VERSION_LIST: ("GET",)}
PREFIX = "/vm/"


class Asked(NamedTuple):
    """A request, and who and what it is about."""

    request: Request
    vm: Vm
    what: str  # the first step below /metadata, in lower case
    steps: Tuple[str, ...]  # those after it


class Executed(NamedTuple):
    """What the service did."""

    answer: Answer
    approvals: Optional[List[Dict[str, Any]]] = None  # of a POST: what became of each id
    version: str = ""
    wait: float = 0  # virtual seconds until it is given


class MetadataService:
    """Answers requests on the metadata port."""

    def __init__(self, world: World, loop: asyncio.AbstractEventLoop, log_requests: bool = False) -> None:
        self._world = world
        self._loop = loop
        self._log_requests = log_requests

    def answer(self, request: Request) -> "Union[Answer, asyncio.Future[Answer]]":
        """The one entry."""
        self._world.timeline.catch_up()
        asked, unknown = self._identify(request)
        if asked is None:
            return unknown
        self._count(asked)
        fault = self._world.faults.match(asked.vm.name, request.method, asked.what)
        arrives = fault is None or fault.kind.executes or fault.kind.by_service
        if arrives and not self._may_ask(asked.vm):
            executed = Executed(throttled())
            if fault is not None and fault.kind.by_service:
                fault.take_back()
                fault = None
        elif fault is None or fault.kind.executes:
            executed = self._execute(asked)
        else:
            executed = Executed(Answer(200))
        answer = executed.answer if fault is None else fault.broken(executed.answer)
        if fault is not None or self._log_requests or request.method == "POST":
            self._note(asked, fault, executed, answer)
        return self._later(executed.wait, answer) if executed.wait else answer

    def _may_ask(self, vm: Vm) -> bool:
        limit = self._world.settings.rate_limit
        if not limit or vm.may_ask(limit, self._world.timeline.clock.real()):
            return True
        vm.requests.throttled += 1
        self._world.requests.throttled += 1
        return False

    def _later(self, seconds: float, answer: Answer) -> "asyncio.Future[Answer]":
        """The answer in so many virtual seconds: when the clock stands still, not before it is moved."""
        future: asyncio.Future[Answer] = self._loop.create_future()
        self._world.timeline.after(seconds, lambda: future.set_result(answer))
        return future

    # -- who and what ----------------------------------------------------------------------------------------------

    def _identify(self, request: Request) -> Tuple[Optional[Asked], Answer]:
        path = request.path
        vm: Optional[Vm]
        if request.vm:
            vm, rest = self._world.vms[request.vm.lower()], path[1:]
        elif path[:4].lower() == PREFIX:
            name, _slash, rest = path[4:].partition("/")
            vm = self._world.vms.get(name.lower())
            if vm is None:
                return None, error(404, f"this emulator has no VM {name!r}")
        else:
            rest = path[1:]
            vm = self._world.by_address.get(request.source) or self._world.default_vm()
            if vm is None:
                return None, error(
                    404,
                    f"this emulator has no VM with the address {request.source}, and the path has no /vm/NAME in front",
                )
        steps = rest.rstrip("/").split("/")
        what = steps[1].lower() if len(steps) > 1 and steps[0].lower() == "metadata" else ""
        return Asked(request, vm, what, tuple(steps[2:])), Answer(200)

    def _count(self, asked: Asked) -> None:
        counts = asked.vm.requests
        total = self._world.requests
        if asked.request.method == "POST":
            counts.post += 1
            total.post += 1
        else:
            counts.get += 1
            total.get += 1
        counts.last = total.last = self._world.timeline.now()

    def _note(self, asked: Asked, fault: Optional[ActiveFault], executed: Executed, answer: Answer) -> None:
        """Write the journal, before anything is sent."""
        request = asked.request
        journal = self._world.journal
        broken = fault.fault.kind if fault is not None else ""
        silent = answer.delivery is not None and (answer.delivery.reset or answer.delivery.hang)
        about = {"vm": asked.vm.name, "source": request.source}
        if fault is not None:
            journal.add("fault", fault_id=fault.id, fault=broken, method=request.method, path=request.path, **about)
        if request.method == "POST" and asked.what == EVENTS:
            ran = fault is None or fault.kind.executes
            requests = executed.approvals
            if requests is None:
                requests = [
                    {"event_id": event_id, "result": "not_executed", "own": None}
                    for event_id in start_requests.read(request.body)[0]
                ]
            journal.add(
                "post",
                scope=asked.vm.scope.name,
                api_version=executed.version or _parameter(request, "api-version") or "",
                status=None if silent else answer.status,
                requests=requests,
                fault=broken,
                executed=ran and executed.approvals is not None,
                error="" if answer.status < 400 else answer.body.decode("utf-8", "replace")[:500],
                **about,
            )
        if self._log_requests:
            journal.add(
                "request", method=request.method, path=request.path, status=None if silent else answer.status, **about
            )

    # -- what IMDS would do ----------------------------------------------------------------------------------------

    def _execute(self, asked: Asked) -> Executed:
        request, vm, settings = asked.request, asked.vm, self._world.settings
        refusal = self._refusal(asked)
        if refusal is not None:
            return Executed(refusal)
        if asked.what == VERSION_LIST:
            return Executed(answer_versions())
        version_name = _parameter(request, "api-version")
        if asked.what == INSTANCE:
            if version_name not in INSTANCE_VERSIONS:
                return Executed(_bad_version())
            return Executed(answer_instance(vm.spec, version_name, asked.steps, _parameter(request, "format")))
        if asked.what == ATTESTED:
            if version_name not in INSTANCE_VERSIONS or str(version_name) < attested.SINCE:
                return Executed(_bad_version())
            nonce = _parameter(request, "nonce") or ""
            return Executed(attested.answer_attested(vm.spec, nonce, self._world.timeline.now()))
        version = VERSIONS.get(version_name or "")
        if version is None or (version.name == PREVIEW and not settings.preview_version):
            return Executed(self._unknown_version(version_name or ""))
        if request.method == "POST":
            return self._approve(asked, version)
        return self._document(asked, version)

    def _refusal(self, asked: Asked) -> Optional[Answer]:
        """What is refused whatever is asked for."""
        request = asked.request
        if "x-forwarded-for" in request.headers:
            return error(400, "Bad request. X-Forwarded-For header is not supported")
        if not self._header_given(asked):
            return error(400, "Bad request. Required metadata header not specified")
        methods = METHODS.get(asked.what, ())
        if not methods or not _is_there(asked):
            return error(404, "Not found")
        if request.method not in methods:
            return error(405, "Method not allowed")._replace(headers=(("Allow", ", ".join(methods)),))
        names = [name.lower() for name, value in request.query]
        if len(set(names)) < len(names):
            return error(400, "Bad request. A query parameter is there more than once")
        return None

    @staticmethod
    def _header_given(asked: Asked) -> bool:
        if asked.request.headers.get("metadata", "").lower() == "true":
            return True
        version = VERSIONS.get(_parameter(asked.request, "api-version") or "")
        return asked.what == EVENTS and not asked.steps and version is not None and not version.header_needed

    def _unknown_version(self, name: str) -> Answer:
        if name == PREVIEW or (DATE.fullmatch(name) and self._world.settings.unknown_version_status == 404):
            return error(404, "Not found")
        return _bad_version()

    def _document(self, asked: Asked, version: Version) -> Executed:
        scope = asked.vm.scope
        wait = self._world.enabling.asked(scope)
        etag = scope.etag(version)
        known = asked.request.headers.get("if-none-match")
        if known is not None and _names(known, etag):
            asked.vm.requests.not_modified += 1
            self._world.requests.not_modified += 1
            return Executed(Answer(304, headers=(("ETag", etag),)), wait=wait)
        body = scope.document(version, self._world.settings.not_before_format, asked.vm)
        return Executed(Answer(200, body, JSON, (("ETag", etag),)), wait=wait)

    def _approve(self, asked: Asked, version: Version) -> Executed:
        event_ids, problem = start_requests.read(asked.request.body)
        if problem:
            return Executed(
                error(400, f"Bad request. The header or payload is malformed: {problem}"), version=version.name
            )
        wait = self._world.enabling.asked(asked.vm.scope)
        results = self._world.post(asked.vm, event_ids)
        unknown = [result["event_id"] for result in results if result["result"] == "unknown"]
        if unknown and self._world.settings.unknown_event_status == 400:
            return Executed(error(400, f"Bad request. There is no event {unknown[0]}"), results, version.name)
        return Executed(Answer(200), results, version.name, wait)


def _is_there(asked: Asked) -> bool:
    """Whether there is anything at the path; what is below the instance says so itself."""
    steps = [step.lower() for step in asked.steps]
    return asked.what == INSTANCE or steps == (["document"] if asked.what == ATTESTED else [])


def _parameter(request: Request, name: str) -> Optional[str]:
    return next((value for key, value in request.query if key.lower() == name), None)


def _bad_version() -> Answer:
    return error(
        400,
        "Bad request. api-version is invalid or was not specified in the request. "
        "For more information refer to aka.ms/azureimds",
        **{"newest-versions": NEWEST},
    )


def _names(known: str, etag: str) -> bool:
    """Does an If-None-Match header name this content?"""
    tags = [tag.strip() for tag in known.split(",")]
    return "*" in tags or etag in [tag[2:] if tag.startswith("W/") else tag for tag in tags]
