# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX refuses in an object that is created or changed, by endpoint. Each returns the fields that are wrong, and why."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .fields import ENDPOINTS, known
from .launching import accepted
from .store import Store

Problems = dict[str, Any]
NOTIFICATIONS = ("started", "success", "error", "workflow_approval")
WEBHOOK = {
    "url": str,
    "http_method": str,
    "disable_ssl_verification": bool,
    "username": str,
    "password": str,
    "headers": dict,
}


def problems_of(store: Store, endpoint: str, item: dict[str, Any], sent: dict[str, Any]) -> Problems:
    """Of `item`, the object as it would be; `sent` is what a request gave of it."""
    serializer_has = known(endpoint)
    unknown = {name: ["There is no such field."] for name in sent if name not in serializer_has}
    return unknown or CHECKS.get(endpoint, no_problem)(store, item)


def no_problem(_store: Store, _item: dict[str, Any]) -> Problems:
    return {}


def of_credential_type(_store: Store, item: dict[str, Any]) -> Problems:
    fields = {field["id"] for field in item["inputs"]["fields"]}
    if item["kind"] not in ("cloud", "net"):
        return {"kind": ["Must be 'cloud' or 'net'"]}
    if not set(item["inputs"].get("required", ())) <= fields:
        return {"inputs": ["required names a field that there is not"]}
    named = set(re.findall(r"{{ *(\w+) *}}", str(item["injectors"])))
    if not named or not named <= fields:
        return {"injectors": [f"{sorted(named - fields)} is no field of the inputs, or no template has come through"]}
    return {}


def of_credential(store: Store, item: dict[str, Any]) -> Problems:
    kind = store.items["credential_types"][item["credential_type"]]
    fields = {field["id"] for field in kind["inputs"]["fields"]}
    given = {name for name, value in item["inputs"].items() if value not in ("", None)}
    missing = set(kind["inputs"].get("required", ())) - given
    if set(item["inputs"]) - fields or missing:
        return {"inputs": {"unknown": sorted(set(item["inputs"]) - fields), "required": sorted(missing)}}
    return {}


def of_inventory_source(store: Store, item: dict[str, Any]) -> Problems:
    if item["source"] == "scm" and not item.get("source_project"):
        return {"source_project": ["Project required for scm type sources."]}
    folder = store.project_folder
    if folder and not (folder / item["source_path"]).is_file():
        return {"source_path": ["The project has no such file."]}  # AWX says so only when it is updated
    return {}


def of_job_template(store: Store, item: dict[str, Any]) -> Problems:
    if not item.get("project"):
        return {"project": ["Job Templates must have a project assigned."]}
    if not item.get("inventory") and not item.get("ask_inventory_on_launch"):
        return {"inventory": ["You must either set a default value or ask to prompt on launch."]}
    return {} if item.get("playbook") in store.playbooks() else {"playbook": ["Playbook not found for project."]}


def of_notification_template(_store: Store, item: dict[str, Any]) -> Problems:
    configuration = item["notification_configuration"]
    if item["notification_type"] == "webhook":
        defaults = {"http_method": "POST", "disable_ssl_verification": False, "username": "", "password": ""}
        for name, value in defaults.items():
            configuration.setdefault(name, value)
        wrong = [name for name, wanted in WEBHOOK.items() if not isinstance(configuration.get(name), wanted)]
        if wrong or set(configuration) - set(WEBHOOK):
            return {"notification_configuration": wrong or sorted(set(configuration) - set(WEBHOOK))}
    return of_messages(item.get("messages") or {})


def of_messages(messages: dict[str, Any]) -> Problems:
    if set(messages) - set(NOTIFICATIONS):
        return {"messages": [f"Event invalid, must be one of {NOTIFICATIONS}"]}
    approvals = messages.get("workflow_approval") or {}
    if set(approvals) - {"running", "approved", "timed_out", "denied"}:
        return {"messages": ["Workflow Approval event invalid"]}
    # AWX itself takes null here, and then answers 500 to each approval and denial: it looks into what it finds under the event.
    null = [event for event, text in approvals.items() if text is None]
    if null:
        return {"messages": [f"workflow_approval: {', '.join(null)} is null, with which AWX fails at each approval"]}
    texts = [messages.get(event) or {} for event in NOTIFICATIONS[:3]] + list(approvals.values())
    return (
        {"messages": ["must be 'message' or 'body'"]} if any(set(text) - {"message", "body"} for text in texts) else {}
    )


def of_launch(store: Store, item: dict[str, Any], required: bool) -> Problems:
    """Of what a schedule or a node gives to its template."""
    template = store.find(item.get("unified_job_template"))
    if template is None:
        return {}
    given = {name: item[name] for name in ENDPOINTS["schedules"]["launch"] if item.get(name) and name != "extra_data"}
    if template["type"] not in ("job_template", "workflow_job_template"):
        return {name: ["Field is not allowed on launch."] for name in {**given, **(item.get("extra_data") or {})}}
    survey = store.surveys.get(template["id"], {}).get("spec", [])
    found = accepted(template, survey, dict(given, extra_vars=item.get("extra_data") or {}))
    problems = {name: ["Field is not configured to prompt on launch."] for name in found.ignored}
    wrong = [problem for problem in found.problems if required or "missing" not in problem]
    return problems or ({"extra_data": wrong} if wrong else {})


def of_schedule(store: Store, item: dict[str, Any]) -> Problems:
    rule = item.get("rrule", "")
    if not re.fullmatch(
        r"DTSTART(;TZID=[^:]+)?:\d{8}T\d{6}Z? RRULE:FREQ=(MINUTELY|HOURLY|DAILY|WEEKLY|MONTHLY);INTERVAL=\d+\S*", rule
    ):
        return {"rrule": ["Valid DTSTART, RRULE and INTERVAL required in rrule."]}
    return of_launch(store, item, required=True)


def of_node(store: Store, item: dict[str, Any]) -> Problems:
    return of_launch(store, item, required=False)


CHECKS: dict[str, Callable[[Store, dict[str, Any]], Problems]] = {
    "credential_types": of_credential_type,
    "credentials": of_credential,
    "inventory_sources": of_inventory_source,
    "job_templates": of_job_template,
    "notification_templates": of_notification_template,
    "schedules": of_schedule,
    "workflow_job_template_nodes": of_node,
}
