# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The cases of tests/vectors, as parameters of a test. tests/vectors/README.md explains them.

Run as a program (make format does), it writes the files in their form: one case a line.
"""

import base64
import json
import os

import pytest

_FOLDER = os.path.join(os.path.dirname(__file__), "..", "..", "..", "vectors")


def cases(file_name, wanted=lambda case: True):
    """Every wanted case of a file, named as it is there."""
    with open(os.path.join(_FOLDER, file_name), encoding="utf-8") as file:
        found = [case for case in json.load(file)["cases"] if wanted(case)]
    assert found, f"no such case in {file_name}"
    return [pytest.param(case, id=case["name"]) for case in found]


def files():
    return [os.path.join(_FOLDER, name) for name in sorted(os.listdir(_FOLDER)) if name.endswith(".json")]


def text_of(vectors):
    """A file of vectors in its form."""
    lines = ",\n".join("    " + json.dumps(case) for case in vectors["cases"])
    return f'{{\n  "about": {json.dumps(vectors["about"])},\n  "cases": [\n{lines}\n  ]\n}}\n'


def body_of(case):
    """The bytes of a case's answer."""
    if "body_base64" in case:
        return base64.b64decode(case["body_base64"])
    if "body_repeated" in case:
        parts = case["body_repeated"]
        return (parts["before"] + parts["text"] * parts["times"] + parts["after"]).encode("utf-8")
    return case["body"].encode("utf-8")


def shown_of(view, wanted):
    """Of a view of a mark what a case of marks.json expects something of."""
    return {name: sorted(view.keys) if name == "keys" else getattr(view, name) for name in wanted}


if __name__ == "__main__":
    for path in files():
        with open(path, encoding="utf-8") as file:
            vectors = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text_of(vectors))
