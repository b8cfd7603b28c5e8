# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fields of AWX's objects, from fields.yml, which names the sources."""

from __future__ import annotations

import pathlib
from typing import Any

import yaml

TABLE: dict[str, Any] = yaml.safe_load(pathlib.Path(__file__).with_name("fields.yml").read_text(encoding="utf-8"))
ENDPOINTS: dict[str, dict[str, Any]] = TABLE["endpoints"]
MANAGED_TYPES: dict[str, dict[str, Any]] = TABLE["managed_types"]
TYPES = {
    "inventories": "inventory",
    "workflow_approval_templates": "workflow_approval_template",
}


def type_of(endpoint: str) -> str:
    """job_template for job_templates: what AWX calls the objects of an endpoint."""
    return TYPES.get(endpoint, endpoint[:-1])


def settable(endpoint: str) -> set[str]:
    entry = ENDPOINTS[endpoint]
    return {*entry["fields"], *entry.get("launch", ())}


def known(endpoint: str) -> set[str]:
    """Also what a client may send without an effect."""
    entry = ENDPOINTS[endpoint]
    more = TABLE["unified"]["read_only"] if entry.get("unified") else ()
    return settable(endpoint) | {*entry["read_only"], *TABLE["base"]["read_only"], *more}
