# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The stand-in knows the fields that the modules of awx.awx send, and refuses what AWX would drop or refuse."""

from __future__ import annotations

import ast
import copy
import pathlib

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.awx.example import DATA, EXAMPLE
from ansible_collections.cloudops.azure_maintenance.tests.awx.standin.fields import ENDPOINTS, known
from ansible_collections.cloudops.azure_maintenance.tests.awx.standin.launching import accepted
from ansible_collections.cloudops.azure_maintenance.tests.awx.standin.server import Controller
from ansible_collections.cloudops.azure_maintenance.tests.awx.standin.surveys import problem_of_survey

awx_awx = pytest.importorskip("ansible_collections.awx.awx")
MODULES = pathlib.Path(next(iter(awx_awx.__path__))) / "plugins" / "modules"
FOR_THE_MODULE = {
    "state",
    "new_name",
    "copy_from",
    "update_secrets",
    "wait",
    "interval",
    "update_project",
    "lookup_organization",
    "approval_node",
}
FOR_THE_MODULE |= {"survey_spec", "workflow_nodes", "destroy_current_nodes"}  # these go to endpoints of their own
OLD_NAMES = {"job_template": {"credential", "vault_credential"}, "workflow_job_template_node": {"organization"}}
LOOKED_UP_BY = {"inventory_source": {"organization"}, "schedule": {"organization"}}


def options_of(module: str) -> set[str]:
    """The names in its argument_spec, read without running it."""
    tree = ast.parse((MODULES / f"{module}.py").read_text(encoding="utf-8"))
    (spec,) = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "argument_spec"
    ]
    return {keyword.arg for keyword in spec.keywords}


@pytest.mark.parametrize("endpoint", [name for name, entry in ENDPOINTS.items() if "module" in entry])
def test_every_option_of_a_module_is_a_field_of_the_serializer(endpoint):
    module = ENDPOINTS[endpoint]["module"]
    options = options_of(module) - FOR_THE_MODULE - OLD_NAMES.get(module, set()) - LOOKED_UP_BY.get(module, set())
    assert options - known(endpoint) == set(ENDPOINTS[endpoint].get("associations", ())) - known(endpoint)


@pytest.fixture
def controller():
    made = Controller(EXAMPLE)
    organization = made.store.add("organizations", {"name": "ours"})
    made.store.add("projects", {"name": "project", "organization": organization["id"]})
    made.store.add("inventories", {"name": "inventory", "organization": organization["id"]})
    return made


def template(controller, **fields):
    store = controller.store
    wanted = {
        "name": "a template",
        "playbook": "status.yml",
        "project": store.named("projects", "project")["id"],
        "inventory": store.named("inventories", "inventory")["id"],
    }
    return controller.answer("POST", "/api/v2/job_templates/", {}, dict(wanted, **fields))


@pytest.mark.parametrize("wrong", ["ask_limit_on_lunch", "ask_extra_vars", "survey", "concurrent_jobs"])
def test_a_wrong_field_is_refused(controller, wrong):
    assert template(controller)[0] == 201
    status, problems = template(controller, **{wrong: True})
    assert (status, set(problems)) == (400, {wrong})
    assert (
        template(controller, playbook="cloudops.azure_maintenance.status")[0] == 400
    )  # a collection's playbook is none of the project


def test_what_a_template_does_not_ask_for(controller):
    created = template(controller, name="silent")[1]
    found = accepted(created, [], {"limit": "web", "extra_vars": {"maintain_rounds": 1}})
    assert found.fields == {"extra_vars": {}}
    assert found.ignored == {"limit": "web", "extra_vars": {"maintain_rounds": 1}}
    schedule = {
        "name": "s",
        "unified_job_template": created["id"],
        "rrule": "DTSTART:20260101T000000Z RRULE:FREQ=MINUTELY;INTERVAL=5",
    }
    assert controller.answer("POST", "/api/v2/schedules/", {}, schedule)[0] == 201
    for given in (
        {"limit": "web"},
        {"extra_data": {"maintain_rounds": 1}},
        {"rrule": "DTSTART:20260101T000000Z RRULE:FREQ=MINUTELY"},
    ):
        assert controller.answer("POST", "/api/v2/schedules/", {}, dict(schedule, **given))[0] == 400


def test_texts_of_approvals_that_are_null_are_refused(controller):
    """AWX takes them, and answers 500 to each approval and denial."""
    (given,) = DATA["azure_maintenance_controller_notification_templates"]
    given = {name: value for name, value in given.items() if name != "needs"}
    wanted = dict(given, organization=controller.store.named("organizations", "ours")["id"])
    assert controller.answer("POST", "/api/v2/notification_templates/", {}, wanted)[0] == 201
    for event, text in (("approved", None), ("denied", None), ("timed_out", {"text": "no such key"})):
        messages = copy.deepcopy(given["messages"])
        messages["workflow_approval"][event] = text
        status, problems = controller.answer(
            "POST", "/api/v2/notification_templates/", {}, dict(wanted, messages=messages)
        )
        assert (status, list(problems)) == (400, ["messages"])


def question(**changed):
    return dict({"variable": "v", "question_name": "?", "type": "text", "required": True}, **changed)


@pytest.mark.parametrize(
    "wrong",
    [
        {"type": "bool"},
        {"required": "yes"},
        {"type": "integer", "default": "1"},
        {"type": "integer", "default": 5, "max": 4},
        {"type": "multiplechoice"},
        {"type": "multiplechoice", "choices": ["true", "false"], "default": False},
        {"help": "no such key"},
    ],
)
def test_a_wrong_question_is_refused(wrong):
    right = {"name": "", "description": "", "spec": [question()]}
    assert problem_of_survey(right) is None
    assert problem_of_survey(dict(right, spec=[question(**wrong)]))
    assert problem_of_survey(dict(right, spec=[question(), question()]))
    assert problem_of_survey(dict(right, spec=[]))


def test_the_surveys_of_the_example_are_surveys_of_awx():
    surveys = [
        entry["survey_spec"]
        for name in ("azure_maintenance_controller_job_templates", "azure_maintenance_controller_workflows")
        for entry in DATA[name]
    ]
    assert len(surveys) == 8
    assert [problem_of_survey(survey) for survey in surveys] == [None] * 8
