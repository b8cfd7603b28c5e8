# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A type of step is its part of a file, its line in the list of types, the file of how Ansible's modules do it: nothing else names one."""

import importlib
import pathlib
import re

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils import _steps
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError, StepType
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import (
    HOOKS,
    TYPES,
    VERIFICATION,
    type_of,
    types_of_machine,
)

PLUGINS = pathlib.Path(list(_steps.__path__)[0]).parents[1]
STEPS = PLUGINS / "module_utils" / "_steps"
ROLE = PLUGINS.parent / "roles" / "drain"
TASKS = ROLE / "tasks"
UNMISTAKABLE = ("haproxy", "iis", "failover")  # the other types' names are words like any others
WAYS = PLUGINS / "plugin_utils" / "_drain" / "ways.py"
SHARED = {"__init__", "hook", "sequence", "step_type", "types"}

GENERIC = sorted(
    [STEPS / "step_type.py"]
    + [path for path in (PLUGINS / "plugin_utils" / "_drain").glob("*.py") if path != WAYS]
    + list((PLUGINS / "filter").glob("drain_*.py"))
)
GENERIC_TASKS = sorted(
    list(TASKS.glob("*.yml"))
    + list((TASKS / "loop").glob("*.yml"))
    + [ROLE / "vars/main.yml", ROLE / "defaults/main.yml"]
)


def way_of(name):
    """The part of how this type is done by Ansible's modules: its functions and its constants."""
    parts = WAYS.read_text(encoding="utf-8").split("\n\n\n")
    return "\n".join(part for part in parts if re.match(rf"(def _{name}(_\w+)?\(|{name.upper()}_\w+ = )", part))


def code_of(path):
    """A Python file without its documentation."""
    return re.sub(r'""".*?"""', "", path.read_text(encoding="utf-8"), flags=re.S)


def test_every_type_is_in_the_table_by_its_name():
    files = {path.stem for path in STEPS.glob("*.py")} - SHARED
    modules = [importlib.import_module(f"{_steps.__name__}.{name}") for name in sorted(files)]
    kinds = [value for module in modules for value in vars(module).values() if isinstance(value, StepType)]
    assert sorted(kind.name for kind in kinds) == sorted([*TYPES, VERIFICATION.name])
    assert all(TYPES[name].name == name for name in TYPES)


def test_every_type_has_its_way_but_for_orders_and_what_is_the_users_own():
    with_a_way = {name for name, kind in TYPES.items() if not kind.orders and not kind.own}
    assert set(re.findall(r'^    "(\w+)": Way\(', WAYS.read_text(encoding="utf-8"), re.M)) == with_a_way


def test_a_machine_does_by_itself_what_it_has_a_runner_for():
    machine = PLUGINS / "module_utils" / "_machine"
    row = re.compile(r'^ {4,8}"(\w+)": \w+Runner,', re.M)
    linux, windows = (
        set(row.findall(path.read_text(encoding="utf-8")))
        for path in (machine / "step_runners.py", machine / "windows" / "step_runners.py")
    )
    assert linux == set(types_of_machine("linux"))
    assert linux | windows == set(types_of_machine("windows"))


@pytest.mark.parametrize("path", GENERIC, ids=lambda path: path.stem)
def test_what_is_for_all_types_names_none(path):
    code = code_of(path)
    names = "|".join(TYPES)
    assert re.findall(rf"""["']({names})["']""", code) == []
    assert [
        line for line in code.splitlines() if re.search(rf"\bimport\b.*\b({names})\b|\.({names}) import", line)
    ] == []
    assert re.findall("|".join(UNMISTAKABLE), path.read_text(encoding="utf-8"), re.I) == []


@pytest.mark.parametrize("path", GENERIC_TASKS, ids=lambda path: path.stem)
def test_the_tasks_for_all_types_name_none(path):
    lines = [
        line
        for line in path.read_text(encoding="utf-8").splitlines()
        if not line.lstrip().startswith(("#", "- name:", "name:"))
    ]
    words = "|".join(r"\b" + name + r"\b" for name in TYPES)
    # A folder of a role is called as one of them.
    assert [line for line in lines if re.search(words, line.replace("/tasks/", "/"), re.I)] == []


@pytest.mark.parametrize("name", sorted(TYPES))
def test_what_is_asked_about_an_answer_its_type_can_judge(name):
    kind = TYPES[name]
    asked = {
        word for wait_up in (True, False) for part in ("do", "undo") for word in kind.asks({"wait_up": wait_up}, part)
    }
    text = way_of(name)
    asked.update(re.findall(r"""(?:, |^\s+)\["(\w+)"\]""", text, re.M))
    asked.update(re.findall(r'"(\w+)"', "".join(re.findall(r"^IIS_THERE = (.*)", text, re.M))))
    assert asked == set(kind.judges)


def test_a_verification_is_no_type_of_the_users():
    assert VERIFICATION.name not in TYPES and type_of(VERIFICATION.name) is VERIFICATION
    assert type_of("service") is TYPES["service"]


@pytest.mark.parametrize("kind", HOOKS, ids=lambda kind: kind.name)
def test_neither_are_hooks(kind):
    assert kind.name not in TYPES and type_of(kind.name) is kind
    with pytest.raises(StepError):
        kind.complete({}, None, "linux")
