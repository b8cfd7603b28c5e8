# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API on loopback."""

from __future__ import annotations

import contextlib
import copy
import http.server
import json
import pathlib
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Any

from .checks import problems_of
from .fields import ENDPOINTS
from .store import ENCRYPTED, UNIFIED, Store
from .surveys import problem_of_survey

TOKEN = "a-token"
Answer = tuple[int, Any]
ROLES = {  # what a team may have of an object (ImplicitRoleField in awx/main/models/jobs.py and workflow.py)
    "job_templates": ("admin", "execute", "read"),
    "workflow_job_templates": ("admin", "execute", "read", "approval"),
}


class Controller:
    """Answers requests. `changes` are those that changed something, as method and path.

    :arg gateway: this is a part of Automation Platform 2.5 or newer, whose organizations and teams belong to the gateway
        (ALLOW_LOCAL_RESOURCE_MANAGEMENT is False)
    """

    def __init__(self, project_folder: pathlib.Path, gateway: bool = False) -> None:
        self.store = Store(project_folder)
        self.gateway = gateway
        self.changes: list[str] = []
        self.refused: list[tuple[str, Any]] = []

    def answer(self, method: str, path: str, query: dict[str, str], sent: dict[str, Any]) -> Answer:
        parts = path.removeprefix("/api/v2/").strip("/").split("/")
        before = copy.deepcopy((self.store.items, self.store.related, self.store.surveys))
        status, body = self._answer(method, parts, query, sent)
        if status >= 400:
            self.refused.append((f"{method} {path}", body))
        elif (self.store.items, self.store.related, self.store.surveys) != before:
            self.changes.append(f"{method} {path}")
        return status, body

    def _answer(self, method: str, parts: list[str], query: dict[str, str], sent: dict[str, Any]) -> Answer:
        endpoint = parts[0]
        if endpoint == "roles":
            return self._associated(method, parts[1], parts[2], sent)
        number = int(parts[1]) if len(parts) > 1 else 0
        if endpoint == "project_updates":
            return 200, {"id": number, "status": "successful"}
        if endpoint == "unified_job_templates":
            return 200, listed(
                [self.shown(name, item) for name in UNIFIED for item in self.store.items[name].values()], query
            )
        if endpoint not in ENDPOINTS or (number and number not in self.store.items[endpoint]):
            return 404, {"detail": "Not found."}
        if len(parts) == 1:
            return self._create(endpoint, sent) if method == "POST" else (200, listed(self._all(endpoint), query))
        if len(parts) == 2:
            return (
                self._change(endpoint, number, sent)
                if method == "PATCH"
                else (200, self.shown(endpoint, self.store.items[endpoint][number]))
            )
        return self._of_one(method, endpoint, number, parts[2], sent)

    def _create(self, endpoint: str, sent: dict[str, Any]) -> Answer:
        if endpoint == "workflow_approval_templates":
            return 405, {"detail": "A node creates its own."}
        if self.gateway and endpoint in ("organizations", "teams"):
            return 403, {"detail": "You do not have permission to perform this action."}
        problems = problems_of(self.store, endpoint, self.store.would_be(endpoint, {}, copy.deepcopy(sent)), sent)
        return (400, problems) if problems else (201, self.shown(endpoint, self.store.add(endpoint, sent)))

    def _change(self, endpoint: str, number: int, sent: dict[str, Any]) -> Answer:
        item = self.store.items[endpoint][number]
        problems = problems_of(self.store, endpoint, copy.deepcopy(self.store.would_be(endpoint, item, sent)), sent)
        return (400, problems) if problems else (200, self.shown(endpoint, self.store.change(endpoint, number, sent)))

    def _of_one(self, method: str, endpoint: str, number: int, what: str, sent: dict[str, Any]) -> Answer:
        if what == "survey_spec":
            return self._survey(method, number, sent)
        if what == "create_approval_template":
            problems = problems_of(self.store, "workflow_approval_templates", sent, sent)
            if problems:
                return 400, problems
            made = self.store.add("workflow_approval_templates", sent)
            self.store.items[endpoint][number]["unified_job_template"] = made["id"]
            return 201, self.shown("workflow_approval_templates", made)
        if what not in ENDPOINTS[endpoint].get("associations", ()):
            return 404, {"detail": "Not found."}
        return self._associated(method, number, what, sent)

    def _associated(self, method: str, number: int | str, what: str, sent: dict[str, Any]) -> Answer:
        numbers = self.store.related.setdefault((number, what), [])
        if method == "POST":
            (numbers.remove if sent.get("disassociate") else numbers.append)(sent["id"])
            return 204, None
        return 200, listed([{"id": other} for other in numbers], {})

    def _survey(self, method: str, number: int, sent: dict[str, Any]) -> Answer:
        if method == "POST":
            problem = problem_of_survey(sent)
            if problem:
                return 400, {"error": problem}
            self.store.surveys[number] = sent
        return 200, self.store.surveys.get(number, {})

    def _all(self, endpoint: str) -> list[dict[str, Any]]:
        return [self.shown(endpoint, item) for item in self.store.items[endpoint].values()]

    def shown(self, endpoint: str, item: dict[str, Any]) -> dict[str, Any]:
        shown = dict(copy.deepcopy(item), related={}, summary_fields={})
        if endpoint == "projects":
            shown.update(scm_revision="", summary_fields={"current_update": {"id": item["id"]}})
        if endpoint in ("job_templates", "workflow_job_templates"):
            shown["related"]["survey_spec"] = f"{item['url']}survey_spec/"
        roles = ROLES.get(endpoint, ())
        if roles:
            shown["summary_fields"]["object_roles"] = {f"{role}_role": {"id": f"{item['id']}-{role}"} for role in roles}
        template = self.store.find(item.get("unified_job_template"))
        if endpoint == "workflow_job_template_nodes" and template:
            shown["related"]["unified_job_template"] = template["url"]
        if endpoint == "credentials":
            kind = self.store.items["credential_types"][item["credential_type"]]
            secret = {field["id"] for field in kind["inputs"]["fields"] if field.get("secret")}
            shown["inputs"] = {
                name: ENCRYPTED if name in secret and value else value for name, value in item["inputs"].items()
            }
        if endpoint == "notification_templates" and item["notification_configuration"].get("password"):
            shown["notification_configuration"]["password"] = ENCRYPTED
        return shown


def listed(items: list[dict[str, Any]], query: dict[str, str]) -> dict[str, Any]:
    found = [item for item in items if all(str(item.get(name)) == value for name, value in query.items())]
    return {"count": len(found), "next": None, "previous": None, "results": found}


@contextlib.contextmanager
def serving(controller: Controller) -> Iterator[str]:
    """Yields the controller's URL."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def _respond(self) -> None:
            address = urllib.parse.urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            sent = json.loads(self.rfile.read(length) or b"null") or {}
            if self.headers.get("Authorization") != f"Bearer {TOKEN}":
                status, body = 401, {"detail": "Authentication credentials were not provided."}
            else:
                status, body = controller.answer(
                    self.command, address.path, dict(urllib.parse.parse_qsl(address.query)), sent
                )
            content = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            for name, value in (
                ("X-API-Product-Name", "AWX"),
                ("X-API-Product-Version", "24.6.1"),
                ("Content-Length", str(len(content))),
            ):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = do_DELETE = _respond

        def log_message(self, *_arguments: object) -> None:
            """Says nothing."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
