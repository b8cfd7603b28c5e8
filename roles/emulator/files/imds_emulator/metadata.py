# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metadata service: from a request to the answer that IMDS would give, or that a fault makes of it."""

import json
import re
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .answers import Answer, Delivery
from .documents import PREVIEW, VERSIONS, Version
from .faults import ActiveFault
from .http_parser import Request
from .instance import JSON, NEWEST, TEXT, answer_instance, answer_versions, error
from .instance import VERSIONS as INSTANCE_VERSIONS
from .model import Vm
from .world import World

SERVER = "IMDS/150.870.65.1854"
DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
EVENTS, INSTANCE, VERSION_LIST = "scheduledevents", "instance", "versions"
METHODS = {EVENTS: ("GET", "POST"), INSTANCE: ("GET",), VERSION_LIST: ("GET",)}
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


class MetadataService:
    """Answers requests on the metadata port."""

    def __init__(self, world: World, log_requests: bool = False) -> None:
        self._world = world
        self._log_requests = log_requests

    def answer(self, request: Request) -> Answer:
        """The one entry."""
        self._world.timeline.catch_up()
        asked, unknown = self._identify(request)
        if asked is None:
            return unknown
        self._count(asked)
        fault = self._world.faults.match(asked.vm.name, request.method, asked.what)
        if fault is None:
            executed = self._execute(asked)
            answer = executed.answer
        else:
            executed = self._execute(asked) if fault.kind.executes else Executed(Answer(200))
            answer = fault.broken(executed.answer)
        if fault is not None or self._log_requests or request.method == "POST":
            self._note(asked, fault, executed, answer)
        return answer

    # -- who and what ----------------------------------------------------------------------------------------------

    def _identify(self, request: Request) -> Tuple[Optional[Asked], Answer]:
        path = request.path
        if path[:4].lower() == PREFIX:
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
                    {"event_id": item, "result": "not_executed", "own": None} for item in _readable_ids(request.body)
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
        if settings.rate_limit and not vm.may_ask(settings.rate_limit, self._world.timeline.clock.real()):
            vm.requests.throttled += 1
            self._world.requests.throttled += 1
            return Executed(Answer(429, b"Throttle Result: Too Many Requests", TEXT))
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
        version = VERSIONS.get(version_name or "")
        if version is None or (version.name == PREVIEW and not settings.preview_version):
            return Executed(self._unknown_version(version_name or ""))
        if request.method == "POST":
            return self._approve(asked, version)
        return Executed(self._document(asked, version))

    def _refusal(self, asked: Asked) -> Optional[Answer]:
        """What is refused whatever is asked for."""
        request = asked.request
        if "x-forwarded-for" in request.headers:
            return error(400, "Bad request. X-Forwarded-For header is not supported")
        if not self._header_given(asked):
            return error(400, "Bad request. Required metadata header not specified")
        methods = METHODS.get(asked.what, ())
        if not methods or (asked.steps and asked.what != INSTANCE):
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

    def _document(self, asked: Asked, version: Version) -> Answer:
        scope = asked.vm.scope
        wait = self._wait(asked)
        etag = scope.etag
        known = asked.request.headers.get("if-none-match")
        if known is not None and _names(known, etag):
            asked.vm.requests.not_modified += 1
            self._world.requests.not_modified += 1
            return Answer(304, headers=(("ETag", etag),), delivery=wait)
        return Answer(
            200,
            scope.document(version, self._world.settings.not_before_format, asked.vm),
            JSON,
            (("ETag", etag),),
            wait,
        )

    def _wait(self, asked: Asked) -> Optional[Delivery]:
        """The answer that enables a scope may take its time."""
        virtual = self._world.asked(asked.vm.scope)
        seconds = self._world.timeline.clock.real_seconds(virtual) if virtual else 0
        return Delivery(delay=seconds) if seconds else None

    def _approve(self, asked: Asked, version: Version) -> Executed:
        event_ids, problem = _start_requests(asked.request.body)
        if problem:
            return Executed(
                error(400, f"Bad request. The header or payload is malformed: {problem}"), version=version.name
            )
        wait = self._wait(asked)
        results = self._world.post(asked.vm, event_ids)
        unknown = [result["event_id"] for result in results if result["result"] == "unknown"]
        if unknown and self._world.settings.unknown_event_status == 400:
            return Executed(error(400, f"Bad request. There is no event {unknown[0]}"), results, version.name)
        return Executed(Answer(200, delivery=wait), results, version.name)


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


def _start_requests(body: bytes) -> Tuple[List[str], str]:
    """The ids of an approval, or what is wrong with it. Its content type doesn't matter."""
    try:
        payload = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return [], "it is not JSON"
    if not isinstance(payload, dict):
        return [], "it is not an object"
    if isinstance(payload.get("DocumentIncarnation", 0), (bool, dict, list)):
        return [], "DocumentIncarnation is neither a text nor a number"
    requests = payload.get("StartRequests")
    if not isinstance(requests, list) or not requests:
        return [], "StartRequests is not a list of requests"
    event_ids = []
    for request in requests:
        event_id = request.get("EventId") if isinstance(request, dict) else None
        if not isinstance(event_id, str) or not event_id:
            return [], "a start request has no EventId"
        event_ids.append(event_id)
    return event_ids, ""


def _readable_ids(body: bytes) -> List[str]:
    return _start_requests(body)[0]
