# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbook configure_controller with the example's data, by ansible-playbook and the modules of awx.awx, against the stand-in."""

from __future__ import annotations

import json
import re

import pytest
from ansible_runner import display_callback

from ansible_collections.cloudops.azure_maintenance.tests.awx.example import EXAMPLE, SETTINGS, ansible
from ansible_collections.cloudops.azure_maintenance.tests.awx.standin.server import TOKEN, Controller, serving

PLAYBOOK = "cloudops.azure_maintenance.configure_controller"
SECRETS = ["Azure maintenance SSH", "Azure maintenance Windows", "Azure maintenance reports", "Azure inventory"]
ALL = ["-e", f"@{EXAMPLE / 'awx.yml'}"]
ONLY_LINUX = [*ALL, "-e", '{"azure_maintenance_controller_environment": ["MAINTENANCE_SSH_KEY"]}']
# Who knows a chat's address writes to it.
SECRET_TEXTS = ("of windows", "of reports", "of azure", "a key", "hooks/azure-maintenance")
EVENTS = {  # as AWX gets them
    "ANSIBLE_CALLBACK_PLUGINS": f"{display_callback.__path__[0]}/callback",
    "ANSIBLE_STDOUT_CALLBACK": "awx_display",
    "ANSIBLE_INJECT_INVOCATION": "true",  # ansible-core before 2.21 always does
}
CHANGED = re.compile(r"changed: \[localhost\] => \(item=(.*?)\)(?= => {|\x1b|$)", re.MULTILINE)


def configured(folder, url, *arguments, **environment):
    """One run; returns what it printed, its status, and the objects that it says it has changed."""
    (folder / "key").write_text("a key")
    settings = dict(
        SETTINGS, CONTROLLER_HOST=url, CONTROLLER_OAUTH_TOKEN=TOKEN, MAINTENANCE_SSH_KEY=str(folder / "key")
    )
    run = ansible("ansible-playbook", PLAYBOOK, *arguments, folder=folder, **{**settings, **environment})
    return run.stdout + run.stderr, run.returncode, CHANGED.findall(run.stdout)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The controller after the first run, its job events and what it changed; then the second."""
    folder = tmp_path_factory.mktemp("configure")
    controller = Controller(EXAMPLE)
    with serving(controller) as url:
        first = configured(folder, url, *ALL, "-vvv", **EVENTS, AWX_ISOLATED_DATA_DIR=str(folder))
        events = [path.read_text() for path in (folder / "job_events").iterdir()]
        created = list(controller.changes)
        controller.changes.clear()
        second = configured(folder, url, *ALL)
    return controller, first, events, created, second


def test_the_first_run_creates_everything(runs):
    controller, (printed, status, changed), _events, created, _second = runs
    assert status == 0, printed
    assert controller.refused == []
    made = {
        endpoint: [item.get("name", item.get("identifier")) for item in items.values()]
        for endpoint, items in controller.store.items.items()
    }
    assert {endpoint: len(names) for endpoint, names in made.items()} == {
        "organizations": 1,
        "teams": 2,
        "credential_types": 4 + 2,
        "credentials": 1 + 4,
        "execution_environments": 1,
        "projects": 1,
        "inventories": 1,
        "inventory_sources": 1,
        "notification_templates": 1,
        "job_templates": 6,
        "schedules": 2,
        "workflow_job_templates": 2,
        "workflow_job_template_nodes": 7,
        "workflow_approval_templates": 1,
    }
    assert len(changed) == 36
    assert created


def test_no_secret_is_printed_or_in_a_job_event(runs):
    _controller, (printed, _status, _changed), events, _created, _second = runs
    assert sum('"runner_item_on_ok"' in event for event in events) > 36
    assert {secret for text in (printed, *events) for secret in SECRET_TEXTS if secret in text} == set()


def test_the_second_run_changes_nothing_but_says_so_of_secrets(runs):
    controller, _first, _events, _created, (printed, status, changed) = runs
    assert status == 0, printed
    assert changed == SECRETS
    assert controller.changes == []


def test_the_workflow_runs_in_order_and_hands_its_answer_to_recover(runs):
    store = runs[0].store
    nodes = {item["identifier"]: item for item in store.items["workflow_job_template_nodes"].values()}
    follows = {
        (name, how): [other for other, item in nodes.items() if item["id"] in store.related.get((node["id"], how), ())]
        for name, node in nodes.items()
        for how in ("success_nodes", "failure_nodes", "always_nodes")
    }
    assert {key: names for key, names in follows.items() if names} == {
        ("status", "success_nodes"): ["approval"],
        ("approval", "success_nodes"): ["maintain"],
        ("maintain", "failure_nodes"): ["recover"],
        ("first", "failure_nodes"): ["again"],
        ("again", "failure_nodes"): ["last"],
    }
    templates = {
        name: store.find(node["unified_job_template"])["playbook"] for name, node in nodes.items() if name != "approval"
    }
    assert [templates[name] for name in ("first", "again", "last")] == ["maintain.yml", "maintain.yml", "recover.yml"]
    assert store.find(nodes["approval"]["unified_job_template"])["type"] == "workflow_approval_template"
    workflow = store.named("workflow_job_templates", "Azure maintenance: with an approval")
    (asked,) = store.surveys[workflow["id"]]["spec"]
    assert (asked["variable"], asked["required"], "default" in asked) == ("azure_maintenance_hosts", True, False)
    for identifier in ("status", "maintain", "recover"):
        template = store.find(nodes[identifier]["unified_job_template"])
        assert template["ask_limit_on_launch"]
        assert "azure_maintenance_hosts" in {question["variable"] for question in store.surveys[template["id"]]["spec"]}


def test_templates_of_awx_arrive_as_such(runs):
    store = runs[0].store
    injectors = store.named("credential_types", "Azure maintenance Windows")["injectors"]
    assert injectors["extra_vars"]["windows_password"] == "{{ windows_password }}"
    (chat,) = store.items["notification_templates"].values()
    assert "{{ job.status }}" in chat["messages"]["error"]["body"]


def test_wrong_options_and_refusals_are_named_and_keep_no_other_from_being_made(tmp_path):
    """Four planted faults: two that the module refuses, two that the controller does."""
    controller = Controller(EXAMPLE)
    survey = {
        "name": "",
        "description": "",
        "spec": [{"variable": "v", "question_name": "?", "type": "bool", "required": True}],
    }
    common = {"playbook": "status.yml", "project": "p", "inventory": "i"}
    faults = [
        {"name": "misspelt", "ask_limit_on_lunch": True},
        {"name": "unknown", "surveys": []},
        {"name": "question", "survey_enabled": True, "survey_spec": survey},
        {"name": "playbook", "playbook": "cloudops.azure_maintenance.status"},
    ]
    data = {
        "azure_maintenance_controller_organization": {"name": "ours"},
        "azure_maintenance_controller_projects": [
            {"name": "p", "scm_type": "git", "scm_url": "https://git.example.com/p.git", "wait": False}
        ],
        "azure_maintenance_controller_inventories": [{"name": "i"}],
        "azure_maintenance_controller_job_template_defaults": common,
        "azure_maintenance_controller_job_templates": [*faults, {"name": "right"}],
    }
    (tmp_path / "data.json").write_text(json.dumps(data))
    with serving(controller) as url:
        printed, status, changed = configured(tmp_path, url, "-e", f"@{tmp_path / 'data.json'}")
    assert status == 2
    assert changed[-1] == "right"
    failed = [line for line in printed.splitlines() if line.startswith("failed:")]
    assert len(failed) == 4
    for line, words in zip(
        failed,
        ("ask_limit_on_lunch", "surveys", "bool is no type of a question", "Playbook not found for project"),
        strict=True,
    ):
        assert words in line


def test_without_either_collection_it_says_which_to_install(tmp_path):
    (tmp_path / "ansible_collections").mkdir()
    (tmp_path / "ansible_collections" / "cloudops").symlink_to(EXAMPLE.parents[2])
    printed, status, _changed = configured(
        tmp_path,
        "http://127.0.0.1:1",
        "-e",
        '{"azure_maintenance_controller_organization": {"name": "ours"}}',
        ANSIBLE_COLLECTIONS_PATH=str(tmp_path),
        PYTHONPATH="",
    )
    assert status == 2
    assert "ansible.controller.organization and awx.awx.organization were looked for" in printed
    assert "ansible-galaxy collection install awx.awx" in printed


def test_a_secret_that_is_not_there_ends_it_before_anything_is_changed(tmp_path):
    controller = Controller(EXAMPLE)
    with serving(controller) as url:
        printed, status, _changed = configured(
            tmp_path, url, *ALL, MAINTENANCE_WINDOWS_PASSWORD="", MAINTENANCE_SSH_KEY=""
        )
        assert (status, controller.changes) == (2, [])
        assert "in the environment of ansible-playbook: MAINTENANCE_SSH_KEY, MAINTENANCE_WINDOWS_PASSWORD." in printed
        printed, status, _changed = configured(tmp_path, url, *ALL, MAINTENANCE_SSH_KEY="/no/such/file")
        assert (status, controller.changes) == (2, [])
        assert "empty: ssh_key_data of the credential 'Azure maintenance SSH'" in printed


def test_who_has_only_linux_machines_gets_no_more_and_his_jobs_have_all_that_they_need(tmp_path):
    controller = Controller(EXAMPLE)
    nothing = dict.fromkeys(SETTINGS, "")
    with serving(controller) as url:
        printed, status, _changed = configured(tmp_path, url, *ONLY_LINUX, **nothing)
    assert status == 0, printed
    store = controller.store
    (ssh,) = [item["id"] for item in store.items["credentials"].values() if item["name"] == "Azure maintenance SSH"]
    assert len(store.items["credentials"]) == 1 + 1
    for template in store.items["job_templates"]:
        assert store.related[template, "credentials"] == [ssh]
    for kind in ("inventory_sources", "notification_templates"):
        assert store.items[kind] == {}
    assert [item["name"] for item in store.items["schedules"].values()] == ["Azure maintenance: every five minutes"]


def test_who_may_launch_and_who_may_approve(runs):
    store = runs[0].store
    teams = {item["id"]: item["name"].removeprefix("Azure maintenance ") for item in store.items["teams"].values()}
    found = {}
    for (role, what), numbers in store.related.items():
        if what == "teams":
            number, _dash, name = role.partition("-")
            found.setdefault(store.find(int(number))["name"].partition(": ")[2], []).extend(
                (teams[one], name) for one in numbers
            )
    launch, approve = ("operators", "execute"), ("approvers", "execute")
    assert {name: sorted(who) for name, who in found.items()} == {
        "status": sorted([launch, approve]),
        "maintain": [launch],
        "rehearse": [launch],
        "recover": [launch],
        "deploy watcher": [launch],
        "approve": [approve],
        "with an approval": [("approvers", "approval"), launch],
        "maintain and recover": [launch],
    }


def test_on_a_gateway_an_organization_that_is_there_is_taken_and_else_it_says_where_to_create_it(tmp_path):
    controller = Controller(EXAMPLE, gateway=True)
    with serving(controller) as url:
        printed, status, _changed = configured(tmp_path, url, *ONLY_LINUX)
        assert status == 2
        assert "organizations and teams belong to the platform's gateway: create it in the web interface" in printed
        controller.store.add("organizations", {"name": "Azure maintenance"})
        no_teams = '{"azure_maintenance_controller_teams": [], "azure_maintenance_controller_roles": []}'
        printed, status, _changed = configured(tmp_path, url, *ONLY_LINUX, "-e", no_teams)
    assert status == 0, printed
