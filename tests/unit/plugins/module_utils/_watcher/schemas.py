# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Of JSON Schema what docs/watcher_report.schema.json uses."""

import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[5]
SCHEMA = json.loads((ROOT / "docs" / "watcher_report.schema.json").read_text(encoding="utf-8"))
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "null": type(None),
}
WORDS = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "required", "properties", "items"} | {
    "const",
    "enum",
    "pattern",
}


def wrong(value, schema=SCHEMA, where="report"):
    """Where a value is not as the schema says."""
    assert set(schema) <= WORDS, f"{where}: the check below knows nothing of {set(schema) - WORDS}"
    found = []
    if "$ref" in schema:
        found += wrong(value, SCHEMA["$defs"][schema["$ref"].replace("#/$defs/", "")], where)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    fits = any(isinstance(value, TYPES[kind]) for kind in kinds) and (not isinstance(value, bool) or "boolean" in kinds)
    if kinds and not fits:
        return found + [f"{where} is {value!r}, not {kinds}"]
    if "const" in schema and value != schema["const"]:
        found.append(f"{where} is {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where} is {value!r}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{where} is {value!r}")
    if isinstance(value, list):
        for number, item in enumerate(value):
            found += wrong(item, schema.get("items", {}), f"{where}[{number}]")
    if isinstance(value, dict):
        found += [f"{where} has no {key}" for key in schema.get("required", []) if key not in value]
        members = schema.get("properties")
        for key, item in value.items():
            if members is not None and key not in members:
                found.append(f"{where} has a key that the schema lacks: {key}")
            elif members is not None:
                found += wrong(item, members[key], f"{where}.{key}")
    return found
