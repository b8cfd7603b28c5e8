# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every variable that a playbook, role maintain or role watcher reads is one that ansible-doc shows, with the default that it has."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterator
from typing import Any

import jinja2
import pytest
import yaml
from jinja2 import nodes

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._variables import OF_PLAYBOOKS

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAINTAIN = ROOT / "roles" / "maintain"
WATCHER = ROOT / "roles" / "watcher"
CONTROLLER = ROOT / "roles" / "controller"
ROLES = (MAINTAIN, WATCHER, CONTROLLER)
PLAYBOOKS = sorted((ROOT / "playbooks").glob("*.yml"))


def files_of(role: pathlib.Path) -> list[pathlib.Path]:
    return sorted(path for part in ("tasks", "handlers", "defaults", "vars") for path in (role / part).rglob("*.yml"))


FILES = files_of(MAINTAIN)

EXPRESSIONS = ("when", "that", "until", "changed_when", "failed_when", "var")
"""Keywords whose values are expressions without braces."""

ANSIBLE = {"ansible_play_batch", "ansible_play_hosts", "ansible_play_hosts_all", "ansible_check_mode", "ansible_limit"}
ANSIBLE |= {
    "ansible_become_method",
    "ansible_connection",
    "ansible_shell_type",
    "hostvars",
    "inventory_hostname",
    "item",
    "omit",
    "ansible_version",
    "ansible_facts",
    "groups",
    "role_path",
    "ansible_failed_result",  # in a rescue
    "ansible_failed_task",
}
FUNCTIONS = {"dict", "lookup", "now", "query", "range"}
JOB = {"awx_job_id", "tower_job_id", "awx_user_name", "tower_user_name"}  # what AWX sets
RESULTS = {"drain_recover_result"}  # of role drain
LEFT = {"maintain_result", "__maintain_run"}  # by role maintain, for its playbook

ENVIRONMENT = jinja2.Environment()


def test_run_and_watcher_prepare_equally_early():
    defaults = load(MAINTAIN / "defaults" / "main.yml"), load(WATCHER / "defaults" / "main.yml")
    assert [found["azure_maintenance_prepare_before"] for found in defaults] == [300, 300]


def load(path: pathlib.Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def specs(role: pathlib.Path = MAINTAIN) -> dict[str, dict[str, Any]]:
    entries = load(role / "meta" / "argument_specs.yml")["argument_specs"]
    return {name: entry["options"] for name, entry in entries.items()}


def templates(value: Any, is_expression: bool = False) -> Iterator[str]:
    """Every text in a piece of YAML that Ansible would template; expressions get their braces."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from templates(key)
            yield from templates(item, key in EXPRESSIONS)
    elif isinstance(value, list):
        for item in value:
            yield from templates(item, is_expression)
    elif isinstance(value, str):
        yield "{{ " + value + " }}" if is_expression else value


def names_read(value: Any) -> set[str]:
    found: set[str] = set()
    for text in templates(value):
        named = list(ENVIRONMENT.parse(text).find_all(nodes.Name))
        found |= {name.name for name in named} - {name.name for name in named if name.ctx == "store"}
    return found - FUNCTIONS


def names_set(value: Any) -> set[str]:
    """What tasks set for one another: vars of a task or block, facts, registered results, what a loop goes over."""
    found: set[str] = set()
    if isinstance(value, dict):
        found |= set(value.get("vars") or ()) if "hosts" not in value else set()
        found |= set(value.get("ansible.builtin.set_fact") or ())
        found |= {value["register"]} if "register" in value else set()
        found |= {value[name] for name in ("loop_var", "index_var") if name in value}
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        found |= names_set(item)
    return found


def undocumented(path: pathlib.Path, documented: set[str], private: set[str]) -> set[str]:
    content = load(path)
    return names_read(content) - names_set(content) - ANSIBLE - private - documented


def private_names(role: pathlib.Path = MAINTAIN) -> set[str]:
    """What a role sets for itself, in whichever file."""
    found = {name for path in (role / "vars").glob("*.yml") for name in load(path)}
    for path in files_of(role):
        found |= names_set(load(path))
    return found


def entry_of(playbook: pathlib.Path) -> tuple[pathlib.Path, str]:
    """The role and its entry point that a playbook's header names."""
    ((entry, role),) = re.findall(
        r"^#.* ansible-doc -t role -e (\w+) cloudops\.\w+\.(\w+)$", playbook.read_text(), re.M
    )
    return ROOT / "roles" / role, entry


def roles_run(value: Any) -> Iterator[dict[str, Any]]:
    """What runs a role, in a piece of a playbook: ``name`` or ``role``, and maybe ``tasks_from``."""
    if isinstance(value, dict):
        yield from value.get("roles", ())
        yield from (
            value[key] for key in ("ansible.builtin.include_role", "ansible.builtin.import_role") if key in value
        )
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from roles_run(item)


def hosts_variables(playbook: pathlib.Path) -> set[str]:
    """The variables whose names lookup hosts gets: no playbook evaluates them."""
    return set(re.findall(r"lookup\('cloudops\.azure_maintenance\.hosts', variable='(\w+)'", playbook.read_text()))


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_a_playbook_reads_what_its_header_or_its_entry_point_documents(path):
    role, entry = entry_of(path)
    assert undocumented(path, {*specs(role)[entry], *OF_PLAYBOOKS}, LEFT) == set()
    assert hosts_variables(path) <= set(OF_PLAYBOOKS)
    of_playbook = (names_read(load(path)) | hosts_variables(path)) & set(OF_PLAYBOOKS)
    header = path.read_text(encoding="utf-8").partition("\n- ")[0]
    assert {name for name in OF_PLAYBOOKS if name in header} == of_playbook


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_the_entry_point_that_a_header_names_is_what_the_playbook_runs(path):
    role, entry = entry_of(path)
    files = {f"cloudops.azure_maintenance.{role.name}": {entry}}
    if path.stem == "maintain":  # the tasks of entry point main, with plays around them
        files = {name: {"go_on", "end_play", "became", "left"} for name in files}
    found: dict[str, set[str]] = {}
    for run in roles_run(load(path)):
        found.setdefault(run.get("name") or run["role"], set()).add(run.get("tasks_from", "main"))
    assert found == files


def test_a_variable_of_playbooks_is_one_of_no_role():
    assert [
        name for role in ROLES for options in specs(role).values() for name in OF_PLAYBOOKS if name in options
    ] == []


def test_a_playbook_overrules_no_variable_of_the_inventory():
    """Variables of a play win over those of the inventory; what a user may set has its default in a role."""
    assert {path.stem: play["vars"] for path in PLAYBOOKS for play in load(path) if play.get("vars")} == {}


@pytest.mark.parametrize("role", sorted((ROOT / "roles").iterdir()), ids=lambda role: role.name)
def test_every_entry_point_is_a_task_file(role):
    assert [name for name in specs(role) if not (role / "tasks" / (name + ".yml")).is_file()] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_role_maintain_reads_what_is_documented(path):
    rehearses = path.stem == "rehearse" or path.parent.name == "rehearsal" or path.parent.name in ("vars", "defaults")
    documented = {name for entry, options in specs().items() if rehearses or entry != "rehearse" for name in options}
    found = undocumented(path, documented, private_names() | JOB | RESULTS)
    assert {name for name in found if not name.startswith("__drain_")} == set()


@pytest.mark.parametrize("path", files_of(WATCHER), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_role_watcher_reads_what_is_documented(path):
    documented = {name for entry, options in specs(WATCHER).items() if entry == "main" for name in options}
    set_by_ansible = {"playbook_dir", "inventory_dir", "ansible_playbook_python"}
    found = undocumented(path, documented | set_by_ansible, private_names(WATCHER))
    assert found - {"__drain_plan"} == set()  # what role drain's validate leaves


@pytest.mark.parametrize("path", files_of(CONTROLLER), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_file_of_role_controller_reads_what_is_documented(path):
    assert undocumented(path, set(specs(CONTROLLER)["main"]), private_names(CONTROLLER)) == set()


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_the_documented_defaults_of_a_role_are_its_defaults(role):
    options = {**specs(role)["main"], **specs(role).get("rehearse", {})}
    documented = {name: option["default"] for name, option in options.items() if "default" in option}
    assert documented == load(role / "defaults" / "main.yml")


@pytest.mark.parametrize("role, entry", [(role, entry) for role in ROLES for entry in sorted(specs(role))])
def test_an_option_says_what_it_means_and_of_which_type_it_is(role, entry):
    for name, option in specs(role)[entry].items():
        assert option["type"] and option["description"], name
        assert option["type"] != "list" or option["elements"], name
        said = " ".join([option["description"]] if isinstance(option["description"], str) else option["description"])
        assert said.endswith("."), name
        if option["type"] in ("int", "float") and name.endswith(
            ("timeout", "margin", "slice", "sleep", "takeover", "within", "before", "settle", "limit", "interval")
        ):
            assert "Seconds" in said, name


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_the_readme_has_every_variable_and_every_entry_point(role):
    readme = (role / "README.md").read_text(encoding="utf-8")
    documented = specs(role)
    assert [name for name in documented["main"] if f"`{name}`" not in readme] == []
    assert [name for name in documented if f"`{name}`" not in readme] == []


# ---- the test of these tests ----


def test_a_variable_that_nobody_documents_is_found(tmp_path):
    path = tmp_path / "play.yml"
    path.write_text(
        """
- hosts: "{{ where | default('all') }}"
  vars: {of_the_play: 1}
  tasks:
    - ansible.builtin.debug: {msg: "{{ of_the_task }} {% for one in listed %}{{ one }}{% endfor %}"}
      vars: {of_the_task: "{{ deep.inside[key] }}"}
      when: [of_the_play, registered.failed or inventory_hostname in asked]
      register: registered
""",
        encoding="utf-8",
    )
    assert undocumented(path, {"of_the_play"}, set()) == {"where", "listed", "deep", "key", "asked"}
