# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand-ins that play a script and fail when anything else happens: a clock, a Transport, and an adapter of requests."""

import io
import json

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._clock import Clock
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._imds.transport import (
    Answer,
    Transport,
)

try:
    import requests
    import urllib3
    from requests.adapters import BaseAdapter
except ImportError:
    requests = urllib3 = None
    BaseAdapter = object

ENDPOINT = "http://imds.test"
WALL = 1767225600.0  # 2026-01-01T00:00:00Z
NAME_PATH = "/metadata/instance/compute/name?api-version=2021-02-01&format=text"
GROUP_PATH = "/metadata/instance/compute/placementGroupId?api-version=2021-02-01&format=text"


def events_path(version="2020-07-01"):
    return "/metadata/scheduledevents?api-version=" + version


class ScriptedClock(Clock):
    """Time passes when somebody sleeps, and in no other way."""

    def __init__(self):
        self.elapsed = 0.0
        self.sleeps = []

    def now(self):
        return 5000.0 + self.elapsed

    def wall(self):
        return WALL + self.elapsed

    def sleep(self, seconds):
        assert seconds >= 0
        if seconds:
            self.sleeps.append(seconds)
            self.elapsed += seconds


class Expected:
    """One request that must come, and what it gets."""

    def __init__(self, method, path, *outcome, **expected):
        self.method = method
        self.url = path if "://" in path else ENDPOINT + path
        self.outcome = outcome
        self.headers = expected.pop("headers", None)
        self.body = expected.pop("body", None)
        self.timeout = expected.pop("timeout", None)
        self.takes = expected.pop("takes", 0.0)
        self.at = expected.pop("at", None)
        assert not expected, expected

    def check(self, method, url, headers, body, timeout, at):
        assert (method, url) == (self.method, self.url)
        if self.headers is not None:
            assert headers == self.headers
        if self.body is not None:
            assert json.loads(body.decode("utf-8")) == self.body
        if self.timeout is not None:
            assert timeout == self.timeout
        if self.at is not None:
            assert at == self.at, f"asked after {at} s, expected after {self.at} s"

    def __repr__(self):
        return f"{self.method} {self.url} -> {self.outcome!r}"


def get(path, *outcome, **expected):
    """A GET that gets STATUS, BODY and HEADERS, or an exception."""
    return Expected("GET", path, *outcome, **expected)


def post(path, *outcome, **expected):
    return Expected("POST", path, *outcome, **expected)


def look(*outcome, **expected):
    """A look at the document: a GET of the default api-version."""
    return get(events_path(), *outcome, **expected)


def sent(*event_ids, **expected):
    """An approval of these events that is taken, unless `outcome` says otherwise."""
    outcome = expected.pop("outcome", (200,))
    body = {"StartRequests": [{"EventId": event_id} for event_id in event_ids]}
    return post(events_path(), *outcome, body=body, **expected)


def own_name(name=b"web1", **expected):
    return get(NAME_PATH, 200, name, **expected)


class ScriptedTransport(Transport):
    """A Transport that expects requests in this order. Looking repeatedly is done as the base class does it."""

    def __init__(self, *script):
        super().__init__(ScriptedClock())
        self.script = list(script)
        self.known = []  # (known, interval, limit) of every get_until_changed

    def expect(self, *script):
        self.script.extend(script)
        return self

    def get(self, url, headers, timeout):
        return self._play("GET", url, headers, None, timeout)

    def post(self, url, headers, body, timeout):
        return self._play("POST", url, headers, body, timeout)

    def get_until_changed(self, url, headers, timeout, known, interval, limit):
        self.known.append((known, interval, limit))
        return super().get_until_changed(url, headers, timeout, known, interval, limit)

    def _play(self, method, url, headers, body, timeout):
        assert self.script, f"nothing more was expected, but {method} {url} after {self.clock.elapsed} s"
        expected = self.script.pop(0)
        expected.check(method, url, headers, body, timeout, self.clock.elapsed)
        self.clock.elapsed += expected.takes
        if isinstance(expected.outcome[0], Exception):
            raise expected.outcome[0]
        status, content, answer_headers = expected.outcome + (b"", {})[len(expected.outcome) - 1 :]
        return Answer(status, answer_headers, content)

    def finish(self):
        assert not self.script, f"never asked: {self.script}"


class Always(list):
    """A script that does not end: every request gets this, whatever it is. `asked` are the times of the requests."""

    def __init__(self, clock, *outcome):
        super().__init__([outcome])
        self.clock = clock
        self.asked = []

    def pop(self, _index):
        self.asked.append(self.clock.elapsed)
        return _Anything("", "", *self[0])


class _Anything(Expected):
    def check(self, *_request):
        pass


class ScriptedAdapter(BaseAdapter):
    """An adapter of requests that expects requests in this order, all of them direct, and bounded in time."""

    def __init__(self, clock, *script):
        super().__init__()
        self.clock = clock
        self.script = list(script)
        self.requests = []

    def send(self, request, stream=False, timeout=None, verify=True, cert=None, proxies=None):
        assert self.script, f"nothing more was expected, but {request.method} {request.url}"
        expected = self.script.pop(0)
        expected.check(request.method, request.url, expected.headers, request.body, timeout, self.clock.elapsed)
        for name, value in (expected.headers or {}).items():
            assert request.headers.get(name) == value, name
        assert stream
        assert not any((proxies or {}).values())
        self.requests.append(request)
        self.clock.elapsed += expected.takes
        if isinstance(expected.outcome[0], Exception):
            raise expected.outcome[0]
        outcome = expected.outcome
        if len(outcome) == 1:  # an empty answer that says so
            outcome += (b"", {"Content-Length": "0"})
        status, content, headers = outcome + ({},)[len(outcome) - 2 :]
        response = requests.Response()
        response.status_code = status
        response.headers = requests.structures.CaseInsensitiveDict(headers)
        response.url = request.url
        response.request = request
        body = content if hasattr(content, "read") else io.BytesIO(content)
        response.raw = urllib3.HTTPResponse(body=body, status=status, headers=headers, preload_content=False)
        return response

    def close(self):
        pass


class Trickle(io.RawIOBase):
    """A body of which every piece takes its time."""

    def __init__(self, clock, pieces, seconds):
        super().__init__()
        self.clock = clock
        self.pieces = list(pieces)
        self.seconds = seconds

    def readable(self):
        return True

    def read(self, size=-1):
        self.clock.elapsed += self.seconds
        return self.pieces.pop(0) if self.pieces else b""


def event(event_id="ID-1", status="Scheduled", resources=("web1",), **members):
    """An event of the wire; a member that is None is left out."""
    found = {
        "EventId": event_id,
        "EventStatus": status,
        "EventType": "Reboot",
        "ResourceType": "VirtualMachine",
        "Resources": list(resources),
        "NotBefore": "" if status == "Started" else "Thu, 01 Jan 2026 00:15:00 GMT",
        "Description": "",
        "EventSource": "Platform",
        "DurationInSeconds": -1,
    }
    found.update(members)
    return {name: value for name, value in found.items() if value is not None}


def document(incarnation, *events):
    """A document's bytes."""
    return json.dumps({"DocumentIncarnation": incarnation, "Events": list(events)}).encode("utf-8")
