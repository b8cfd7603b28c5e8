# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of a controller, in memory."""

from __future__ import annotations

import itertools
import pathlib
import re
from typing import Any

from .fields import ENDPOINTS, MANAGED_TYPES, settable, type_of

UNIFIED = ("job_templates", "workflow_job_templates", "projects", "inventory_sources", "workflow_approval_templates")
IS_PLAYBOOK = re.compile(r"^\s*-?\s*(hosts|(ansible\.builtin\.)?import_playbook|include):", re.MULTILINE)
ENCRYPTED = "$encrypted$"
NULL_IS_EMPTY = ("kind",)  # AWX takes null for an empty text there


class Store:
    """A fresh controller, with what AWX's installation creates: its credential types, and the credential Ansible Galaxy."""

    def __init__(self, project_folder: pathlib.Path) -> None:
        self.project_folder = project_folder
        """What the project's repository holds."""
        self.items: dict[str, dict[int, dict[str, Any]]] = {endpoint: {} for endpoint in ENDPOINTS}
        self.related: dict[tuple[int | str, str], list[int]] = {}
        self.surveys: dict[int, dict[str, Any]] = {}
        self._ids = itertools.count(1)
        for name, kind in MANAGED_TYPES.items():
            fields = [{"id": field, "secret": field in kind["secret"]} for field in kind["fields"]]
            inputs = {"fields": fields, "required": kind["required"]}
            self.add("credential_types", {"name": name, "kind": kind["kind"], "inputs": inputs, "injectors": {}})
        galaxy = self.named("credential_types", "Ansible Galaxy/Automation Hub API Token")["id"]
        self.add(
            "credentials",
            {"name": "Ansible Galaxy", "credential_type": galaxy, "inputs": {"url": "https://galaxy.example.com"}},
        )

    def add(self, endpoint: str, values: dict[str, Any]) -> dict[str, Any]:
        number = next(self._ids)
        self.items[endpoint][number] = {"id": number, "type": type_of(endpoint), "url": f"/api/v2/{endpoint}/{number}/"}
        if "managed" in ENDPOINTS[endpoint]["read_only"]:
            self.items[endpoint][number]["managed"] = False
        return self.change(endpoint, number, values)

    def change(self, endpoint: str, number: int, values: dict[str, Any]) -> dict[str, Any]:
        item = self.items[endpoint][number]
        item.update(self.would_be(endpoint, item, values))
        project = self.items["projects"].get(item.get("project") or 0)
        inventory = self.items["inventories"].get(item.get("inventory") or 0)
        if endpoint == "job_templates" and project:
            item["organization"] = project["organization"]
        if endpoint == "inventory_sources" and inventory:
            item["organization"] = inventory["organization"]
        return item

    def would_be(self, endpoint: str, item: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        """The object with these values: those that a client may set. A secret that is sent as AWX shows it stays as it is."""
        sent = {name: value for name, value in values.items() if name in settable(endpoint)}
        for name in NULL_IS_EMPTY:
            if name in sent:
                sent[name] = sent[name] or ""
        if endpoint == "credentials" and "inputs" in sent:
            old = item.get("inputs", {})
            sent["inputs"] = {
                name: old.get(name) if value == ENCRYPTED else value for name, value in sent["inputs"].items()
            }
        if endpoint == "notification_templates" and item.get("messages") and sent.get("messages"):
            sent["messages"] = {
                event: sent["messages"].get(event) for event in ("started", "success", "error", "workflow_approval")
            }
        return {**item, **sent}

    def named(self, endpoint: str, name: str) -> dict[str, Any]:
        (found,) = [item for item in self.items[endpoint].values() if item.get("name") == name]
        return found

    def find(self, number: int | None) -> dict[str, Any] | None:
        """A template, project or inventory source by its number."""
        return next((self.items[endpoint][number] for endpoint in UNIFIED if number in self.items[endpoint]), None)

    def playbooks(self) -> list[str]:
        """As AWX lists those of a project: every YAML file that has a play or imports a playbook."""
        found = [*self.project_folder.rglob("*.yml"), *self.project_folder.rglob("*.yaml")]
        return [str(path.relative_to(self.project_folder)) for path in found if IS_PLAYBOOK.search(path.read_text())]
