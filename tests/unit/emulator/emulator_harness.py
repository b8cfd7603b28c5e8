# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An emulator as tests speak to it."""

import http.client
import json
import sys
import time
import types
from pathlib import Path
from typing import Any, NamedTuple

FILES = Path(__file__).resolve().parents[3] / "roles" / "emulator" / "files"
sys.path.insert(0, str(FILES))

EVENTS = "/metadata/scheduledevents"
LATEST = "2020-07-01"
START = "2026-03-02T08:00:00Z"  # a Monday
METADATA = types.MappingProxyType({"Metadata": "true"})


class Reply(NamedTuple):
    """An HTTP answer; header names in lower case."""

    status: int
    headers: dict
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body.decode())


def until(condition, seconds=120):
    """What the condition answers once that is something."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, f"{condition} did not come true within {seconds} s"
        time.sleep(0.02)


def exchange(address, method, path, headers=None, body=None):
    """One request on a connection of its own."""
    connection = http.client.HTTPConnection(*address, timeout=60)
    try:
        connection.request(method, path, body=body, headers=headers or {})
        answer = connection.getresponse()
        return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
    finally:
        connection.close()


class Emulator:
    """What tests do with one."""

    def __init__(self, service):
        self.service = service
        self.metadata = address(service.urls["metadata"][0])
        self.control_address = address(service.urls["control"])

    def ask(self, path, vm="web1", method="GET", headers=METADATA, body=None):
        """A request to the metadata service as that VM, or (vm="") by address."""
        return exchange(self.metadata, method, ("/vm/" + vm if vm else "") + path, headers, body)

    def look(self, vm="web1", version=LATEST, **headers):
        """A GET of the document."""
        return self.ask(EVENTS + "?api-version=" + version, vm, headers=dict(METADATA, **headers))

    def document(self, vm="web1", version=LATEST):
        reply = self.look(vm, version)
        assert reply.status == 200, reply
        return reply.json

    def events(self, vm="web1", version=LATEST):
        return self.document(vm, version)["Events"]

    def statuses(self, vm="web1"):
        """Of the events that a VM sees."""
        return [event["EventStatus"] for event in self.events(vm)]

    def post(self, body, vm="web1", version=LATEST, headers=METADATA):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        return self.ask(EVENTS + "?api-version=" + version, vm, "POST", headers, body)

    def approve(self, *event_ids, **how):
        return self.post({"StartRequests": [{"EventId": event_id} for event_id in event_ids]}, **how)

    def control(self, method, path, body=None, status=None, headers=None):
        """A request to the control API; its value."""
        reply = exchange(self.control_address, method, path, headers, None if body is None else json.dumps(body))
        assert (reply.status == status) if status else (reply.status < 300), reply
        return reply.json

    def inject(self, event_type="Reboot", resources=("web1",), **keys):
        """A new event; its id."""
        return self.control("POST", "/events", dict(keys, type=event_type, resources=list(resources)))["id"]

    def advance(self, seconds):
        return self.control("POST", "/clock", {"advance": seconds})

    def journal(self, *kinds):
        return self.control("GET", "/journal?kind=" + ",".join(kinds))["entries"]

    def fault(self, kind, **keys):
        return self.control("POST", "/faults", dict(keys, kind=kind))["id"]


def address(url):
    host, _colon, port = url.rpartition(":")
    return host.replace("http://", ""), int(port)


WEB = {"vms": [{"name": "web1", "scope": "web"}, {"name": "web2", "scope": "web"}, {"name": "lone"}]}
