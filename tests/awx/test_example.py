# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The production example fits this collection, and its parts fit one another."""

from __future__ import annotations

import re

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import parse_policy
from ansible_collections.cloudops.azure_maintenance.tests.awx.example import (
    COLLECTION,
    DATA,
    EXAMPLE,
    TEMPLATES,
    load,
    questions_of,
)
from ansible_collections.cloudops.azure_maintenance.tests.awx.standin.launching import accepted

GROUP_VARS = sorted((EXAMPLE / "inventory" / "group_vars").glob("*.yml"))
THIN = sorted(path.name for path in EXAMPLE.glob("*.yml") if "import_playbook" in path.read_text(encoding="utf-8"))
CHOICES = {"bool": ["true", "false"]}


RUNS = {
    "maintain": ("maintain", "main"),
    "deploy_watcher": ("watcher", "main"),
    "remove_watcher": ("watcher", "absent"),
}
"""The role and the entry point that a playbook runs; others that of role maintain that is called as they are."""
HOSTS = {"azure_maintenance_hosts": {"type": "str", "default": "all"}}
"""The option that all of these playbooks have."""


def specs() -> dict[str, dict]:
    """Every option of every playbook, by the playbook's name."""
    found = {}
    for playbook in (name.removesuffix(".yml") for name in THIN):
        role, entry = RUNS.get(playbook, ("maintain", playbook))
        path = COLLECTION / "roles" / role / "meta" / "argument_specs.yml"
        found[playbook] = HOSTS | yaml.safe_load(path.read_text(encoding="utf-8"))["argument_specs"][entry]["options"]
    return found


SPECS = specs()


@pytest.mark.parametrize("playbook", sorted(TEMPLATES))
def test_a_survey_asks_for_what_its_playbook_takes_and_offers_what_that_accepts(playbook):
    options = SPECS[playbook.removesuffix(".yml")]
    for question in questions_of(TEMPLATES[playbook]):
        option = options[question["variable"]]
        wanted = option.get("choices") or CHOICES.get(option["type"])
        if question["variable"] == "rehearse_scenario":
            wanted = {path.stem for path in (COLLECTION / "roles" / "emulator" / "files" / "scenarios").glob("*.yml")}
        if wanted:
            assert set(question["choices"]) <= set(wanted), question["variable"]
        assert (question["type"] == "integer") == (option["type"] in ("int", "float")), question["variable"]
        assert question["required"] != ("default" in question), question["variable"]


def test_no_survey_overrules_what_groups_decide():
    decided = {name for path in GROUP_VARS for name in load(path)}
    asked = {question["variable"] for template in TEMPLATES.values() for question in questions_of(template)}
    assert decided & asked == set()
    assert not asked & {
        "azure_maintenance_policy",
        "maintain_max_unavailable",
        "maintain_on_failure",
        "watcher_mode",
        "drain_steps",
    }


def test_the_thin_playbooks_are_those_of_the_collection_and_the_templates_run_them():
    for name in THIN:
        (play,) = load(name)
        assert play == {
            "name": play["name"],
            "ansible.builtin.import_playbook": "cloudops.azure_maintenance." + name.removesuffix(".yml"),
        }
        assert (COLLECTION / "playbooks" / name).exists()
    assert set(TEMPLATES) == {
        "status.yml",
        "maintain.yml",
        "rehearse.yml",
        "recover.yml",
        "approve.yml",
        "deploy_watcher.yml",
    }
    assert set(TEMPLATES) | {"remove_watcher.yml"} == set(THIN)


def test_what_a_template_has_and_what_all_have():
    common = DATA["azure_maintenance_controller_job_template_defaults"]
    assert common["ask_limit_on_launch"] and common["allow_simultaneous"]
    assert (common["job_slice_count"], common["timeout"]) == (1, 0)
    assert all(not set(template) & set(common) for template in TEMPLATES.values())


def test_a_launch_gives_no_variable_but_those_of_the_survey():
    """Else Execute on "status" would be root on every machine, by ansible_python_interpreter."""
    workflows = DATA["azure_maintenance_controller_workflows"]
    templates = [
        dict(DATA["azure_maintenance_controller_job_template_defaults"], **template) for template in TEMPLATES.values()
    ]
    for template in (*templates, *workflows):
        found = accepted(template, questions_of(template), {"extra_vars": {"ansible_python_interpreter": "/tmp/mine"}})
        assert found.fields["extra_vars"] == {}, template["name"]


def test_the_schedule_of_maintain_answers_every_question():
    (schedule,) = [entry for entry in DATA["azure_maintenance_controller_schedules"] if "extra_data" in entry]
    template = TEMPLATES["maintain.yml"]
    assert schedule["unified_job_template"] == template["name"]
    of_rulebooks = {
        *("azure_maintenance_report_time", "azure_maintenance_report_received"),
        "azure_maintenance_resources",
    }
    assert set(schedule["extra_data"]) == {question["variable"] for question in questions_of(template)} - of_rulebooks
    assert schedule["extra_data"]["maintain_wait_timeout"] == 0
    assert schedule["rrule"].endswith("FREQ=MINUTELY;INTERVAL=5")


def test_what_the_rulebook_of_azures_events_hands_over_is_a_question_of_the_survey():
    rulebook = COLLECTION / "extensions" / "eda" / "rulebooks" / "maintain_on_azure_event_controller.yml"
    (ruleset,) = yaml.safe_load(rulebook.read_text(encoding="utf-8"))
    launch = ruleset["rules"][0]["action"]["run_job_template"]["job_args"]
    template = {**DATA["azure_maintenance_controller_job_template_defaults"], **TEMPLATES["maintain.yml"]}
    found = accepted(template, questions_of(template), dict(launch, limit="all"))
    assert (found.ignored, found.problems) == ({}, [])


def test_the_rulebook_launches_the_template_and_nothing_of_it_is_dropped_or_missing():
    rulebook = COLLECTION / "extensions" / "eda" / "rulebooks" / "maintain_on_report_controller.yml"
    (ruleset,) = yaml.safe_load(rulebook.read_text(encoding="utf-8"))
    launches = [rule["action"]["run_job_template"] for rule in ruleset["rules"] if "run_job_template" in rule["action"]]
    assert len(launches) == 2
    template = {**DATA["azure_maintenance_controller_job_template_defaults"], **TEMPLATES["maintain.yml"]}
    for launch in launches:
        assert f"default('{template['name']}')" in launch["name"]
        assert f"default('{DATA['azure_maintenance_controller_organization']['name']}')" in launch["organization"]
        found = accepted(template, questions_of(template), launch["job_args"])
        assert (found.ignored, found.problems) == ({}, [])
        assert found.fields["extra_vars"] == launch["job_args"]["extra_vars"]
        assert set(found.fields["extra_vars"]) == {
            "azure_maintenance_report_received",
            "azure_maintenance_report_time",
            "maintain_wait_timeout",
        }
    variables = load("eda.yml")
    read = set(re.findall(r"{{ (report_\w+)", rulebook.read_text(encoding="utf-8")))
    assert read == {*variables, "report_secret"}
    assert variables["report_job_template"] == template["name"]
    assert variables["report_organization"] == DATA["azure_maintenance_controller_organization"]["name"]


def test_what_needs_a_variable_of_the_environment_reads_no_other_and_each_is_read():
    """An entry that is left out with its variables, and one that reads a variable whose absence nobody has checked."""
    listed = set(DATA["azure_maintenance_controller_environment"])
    read = set()
    for name, entries in DATA.items():
        for entry in entries if name.startswith("azure_maintenance_controller_") and isinstance(entries, list) else ():
            if isinstance(entry, dict):
                lookups = set(re.findall(r"builtin.env', '(\w+)'", str(entry)))
                assert lookups <= set(entry.get("needs", ["MAINTENANCE_SSH_KEY"])) <= listed, entry["name"]
                read |= lookups
    assert read == listed


def test_no_message_is_null():
    for template in DATA["azure_maintenance_controller_notification_templates"]:
        messages = template["messages"]
        assert None not in (*messages.values(), *messages["workflow_approval"].values())


def test_group_vars_read_the_secrets_that_a_credential_brings():
    kinds = DATA["azure_maintenance_controller_credential_types"]
    brought = {name for kind in kinds for name in kind["injectors"]["extra_vars"]}
    assert brought == {field["id"] for kind in kinds for field in kind["inputs"]["fields"]}
    read = {name for path in GROUP_VARS for name in re.findall(r"{{ (\w+) }}", path.read_text(encoding="utf-8"))}
    assert read == brought


def test_policies_and_steps_are_accepted():
    everywhere = load(GROUP_VARS[0])
    assert GROUP_VARS[0].name == "all.yml"
    assert parse_policy(everywhere["azure_maintenance_policy"])
    assert everywhere["azure_maintenance_policy"] == everywhere["azure_maintenance_policy"]
    known = {option for options in SPECS.values() for option in options} | {"drain_steps"}
    for path in GROUP_VARS:
        assert {name for name in load(path) if not name.startswith("ansible_")} <= known, path.name
