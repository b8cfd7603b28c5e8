# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The schemas of docs/, and a check of values against them: of JSON Schema what ours use."""

import json
import pathlib
import re

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
REPORT, RESULT, MARK = (
    json.loads((DOCS / f"{name}.schema.json").read_text(encoding="utf-8"))
    for name in ("watcher_report", "maintain_result", "mark")
)
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
    "additionalProperties",
    "const",
    "enum",
    "pattern",
}


def wrong(value, schema, where="", whole=None):
    """Where a value is not as the schema says. A key that the schema does not name is wrong, unless it names none.

    :arg where: the value is, in words; "" for all of it
    :arg whole: the schema that this one is a part of
    """
    whole, where = whole or schema, where or "all"
    assert set(schema) <= WORDS, f"{where}: the check below knows nothing of {set(schema) - WORDS}"
    if "$ref" in schema:
        assert set(schema) <= {"$ref", "description"}, f"{where}: what stands beside $ref is not looked at"
        return wrong(value, whole["$defs"][schema["$ref"].replace("#/$defs/", "")], where, whole)
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    fits = any(isinstance(value, TYPES[kind]) for kind in kinds) and (not isinstance(value, bool) or "boolean" in kinds)
    if kinds and not fits:
        return [f"{where} is {value!r}, not {kinds}"]
    found = []
    if "const" in schema and value != schema["const"]:
        found.append(f"{where} is {value!r}")
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{where} is {value!r}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        found.append(f"{where} is {value!r}")
    if isinstance(value, list):
        for number, item in enumerate(value):
            found += wrong(item, schema.get("items", {}), f"{where}[{number}]", whole)
    if isinstance(value, dict):
        found += [f"{where} has no {key}" for key in schema.get("required", []) if key not in value]
        if "properties" in schema or "additionalProperties" in schema:
            for key, item in value.items():
                of_key = schema.get("properties", {}).get(key, schema.get("additionalProperties"))
                if of_key is None:
                    found.append(f"{where} has a key that the schema lacks: {key}")
                else:
                    found += wrong(item, of_key, f"{where}.{key}", whole)
    return found


def checked_result(result):
    """The same result of a run's record, once it is as the schema says with what role maintain's task adds to it."""
    found = wrong(dict(result, preflight=[], notifications=[]), RESULT)
    assert not found, found
    return result
