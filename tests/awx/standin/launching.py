# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What AWX accepts for a job: from a launch, a schedule, or a workflow's node. What a template does not ask for is left out or refused.

Source: _accept_or_ignore_job_kwargs in awx/main/models/jobs.py, and LaunchConfigurationBaseSerializer.validate, which refuses in schedules
and nodes what a launch drops without a word.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .surveys import problem_of_answer

ASKED_BY = {
    "limit": "ask_limit_on_launch",
    "job_type": "ask_job_type_on_launch",
    "inventory": "ask_inventory_on_launch",
    "scm_branch": "ask_scm_branch_on_launch",
    "job_tags": "ask_tags_on_launch",
    "skip_tags": "ask_skip_tags_on_launch",
    "diff_mode": "ask_diff_mode_on_launch",
    "verbosity": "ask_verbosity_on_launch",
    "execution_environment": "ask_execution_environment_on_launch",
    "forks": "ask_forks_on_launch",
    "job_slice_count": "ask_job_slice_count_on_launch",
    "timeout": "ask_timeout_on_launch",
}


class Accepted(NamedTuple):
    fields: dict[str, Any]  # with extra_vars
    ignored: dict[str, Any]
    problems: list[str]  # answers of the survey that are wrong, or missing


def accepted(template: dict[str, Any], survey: list[dict[str, Any]], given: dict[str, Any]) -> Accepted:
    """What becomes of the fields and variables that are given for a job of this template."""
    fields: dict[str, Any] = {}
    ignored: dict[str, Any] = {}
    for name, value in given.items():
        if name != "extra_vars":
            (fields if template.get(ASKED_BY[name]) else ignored)[name] = value
    variables = dict(given.get("extra_vars") or {})
    questions = survey if template.get("survey_enabled") else []
    problems = [problem for problem in (problem_of_answer(question, variables) for question in questions) if problem]
    asked = {question["variable"] for question in questions}
    if not template.get("ask_variables_on_launch"):
        dropped = {name: value for name, value in variables.items() if name not in asked}
        if dropped:
            ignored["extra_vars"] = dropped
        variables = {name: value for name, value in variables.items() if name in asked}
    return Accepted(dict(fields, extra_vars=variables), ignored, problems)


def with_defaults(survey: list[dict[str, Any]], answers: dict[str, Any]) -> dict[str, Any]:
    """The answers of whoever changes nothing in the survey's form, but gives these."""
    return {**{question["variable"]: question["default"] for question in survey if "default" in question}, **answers}
