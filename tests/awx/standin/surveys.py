# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX asks of a survey, and of the answers to one.

Source: JobTemplateSurveySpec._validate_spec_data in awx/api/views and SurveyJobTemplateMixin in awx/main/models/mixins.py.
"""

from __future__ import annotations

from typing import Any

TEXTS = ("text", "textarea", "password")
CHOICES = ("multiplechoice", "multiselect")
DEFAULTS = {**dict.fromkeys((*TEXTS, *CHOICES), str), "integer": int, "float": float}


def problem_of_survey(spec: dict[str, Any]) -> str | None:
    for name, wanted in (("name", str), ("description", str), ("spec", list)):
        if not isinstance(spec.get(name), wanted):
            return f"'{name}' is missing from the survey, or is not of type {wanted.__name__}"
    if set(spec) != {"name", "description", "spec"} or not spec["spec"]:
        return "a survey has name, description and at least one question in spec"
    names = [question.get("variable") for question in spec["spec"]]
    if len(set(names)) != len(names):
        return "a variable is asked for twice"
    return next((problem for problem in map(problem_of_question, spec["spec"]) if problem), None)


def problem_of_question(question: dict[str, Any]) -> str | None:
    name = question.get("variable")
    for key, wanted in (("type", str), ("question_name", str), ("variable", str), ("required", bool)):
        if not isinstance(question.get(key), wanted):
            return f"question {name}: '{key}' is missing, or is not of type {wanted.__name__}"
    known = {
        "type",
        "question_name",
        "question_description",
        "variable",
        "required",
        "default",
        "min",
        "max",
        "choices",
    }
    if set(question) - known:
        return f"question {name}: unknown {sorted(set(question) - known)}"
    if question["type"] not in DEFAULTS:
        return f"question {name}: {question['type']} is no type of a question"
    if question["type"] in CHOICES and not question.get("choices"):
        return f"question {name}: must have choices"
    if any(not isinstance(question.get(key), (int, type(None))) for key in ("min", "max")):
        return f"question {name}: min and max are integers"
    default = question.get("default", "")
    if default == "":
        return None
    if not isinstance(default, DEFAULTS[question["type"]]):
        return f"question {name}: the default {default!r} is not of type {DEFAULTS[question['type']].__name__}"
    return problem_of_answer(question, {name: default})


def problem_of_answer(question: dict[str, Any], answers: dict[str, Any]) -> str | None:
    name, kind = question["variable"], question["type"]
    if name not in answers:
        return f"'{name}' value missing" if question["required"] else None
    answer = answers[name]
    wanted = {"integer": int, "float": (int, float), "multiselect": list}.get(kind, str)
    if kind == "multiselect" and isinstance(answer, str):
        answer = answer.splitlines()
    if not isinstance(answer, wanted):
        return f"Value {answer!r} for '{name}' is of the wrong type"
    size = len(answer) if kind in TEXTS else answer if kind in ("integer", "float") else None
    if size is not None and question.get("min") is not None and size < question["min"]:
        return f"'{name}' value {answer!r} is too small"
    if size is not None and question.get("max") is not None and size > question["max"]:
        return f"'{name}' value {answer!r} is too large"
    if kind in TEXTS and question["required"] and answer == "":
        return f"'{name}' value missing"
    chosen = answer if isinstance(answer, list) else [answer]
    if kind in CHOICES and not set(chosen) <= set(question["choices"]):
        return f"Value {answer!r} for '{name}' expected to be one of {question['choices']}"
    return None
