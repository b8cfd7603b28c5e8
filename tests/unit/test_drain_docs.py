# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read of role drain is what it goes by: types of steps, their options, the role's own variables."""

from __future__ import annotations

import functools
import pathlib

import pytest
import yaml
from docutils import nodes
from docutils.core import publish_doctree

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import COMMON
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import TYPES

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROLE = ROOT / "roles" / "drain"
PAGE = ROOT / "docs" / "docsite" / "rst" / "drain.rst"
SPECS = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]
DEFAULTS = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text(encoding="utf-8"))
COLUMNS = ["Type", "Default", "Meaning"]


@functools.lru_cache(maxsize=None)
def tables():
    """The rows of each table of the guide's page, by the first cell of its header, which is a row, too."""
    document = publish_doctree(PAGE.read_text(encoding="utf-8"), settings_overrides={"syntax_highlight": "none"})
    found = {}
    for table in document.findall(nodes.table):
        rows = [[cell.astext().replace("\n", " ") for cell in row] for row in table.findall(nodes.row)]
        assert found.setdefault(rows[0][0], rows) is rows
    return found


def in_the_guide(name):
    """The options of a type of step: of every step, of some, and its own, each with its type and default in the guide's words."""
    every, some, own = tables()["Every step"], tables()["Some steps"], tables().get(name, [["", *COLUMNS]])
    assert every[0][1:] == own[0][1:] == COLUMNS and some[0][1:] == ["Steps", *COLUMNS]
    shared = [[options, *rest] for options, steps, *rest in some[1:] if name in steps.split(", ")]
    rows = [(option, rest) for options, *rest in [*every[1:], *shared, *own[1:]] for option in options.split(", ")]
    assert len(dict(rows)) == len(rows)
    assert [option for option, rest in rows if not rest[2].endswith(".")] == []
    return {option: tuple(rest[:2]) for option, rest in rows}


def in_the_code(options, inside=""):
    """The same as the code has it. What ``undo`` takes is what ``do`` takes."""
    found = {}
    for name, option in options.items():
        found[inside + name] = kind_of(option), default_of(option)
        if name == "undo" and "options" in option:
            assert option["options"] == options["do"]["options"]
        else:
            found.update(in_the_code(option.get("options", {}), f"{inside}{name}."))
    return found


def kind_of(option):
    kind = option.get("elements", option["type"])
    if "choices" in option:
        kind = " or ".join(", ".join(option["choices"]).rsplit(", ", 1))
    return ("list of " if option["type"] == "list" else "") + kind + (", secret" if option.get("no_log") else "")


def default_of(option):
    if option.get("required"):
        return "required"
    default = option.get("default", "")
    return str(default).lower() if isinstance(default, bool) else str(default)


def undescribed(options, inside=""):
    for name, option in options.items():
        if not option.get("description"):
            yield inside + name
        yield from undescribed(option.get("options", {}), f"{inside}{name}.")


def test_every_type_of_step_is_in_the_guide_and_no_other():
    windows_alone = [name + " (Windows)" if kind.systems == ("windows",) else name for name, kind in TYPES.items()]
    assert [row[0] for row in tables()["Type"][1:]] == windows_alone
    assert {name for row in tables()["Some steps"][1:] for name in row[1].split(", ")} <= set(TYPES)
    assert {name for name, rows in tables().items() if rows[0][1:] == COLUMNS} <= {*TYPES, "Every step"}


@pytest.mark.parametrize("name", TYPES)
def test_a_step_takes_what_the_guide_says(name):
    assert in_the_guide(name) == in_the_code({**COMMON, **TYPES[name].options})


@pytest.mark.parametrize("name", SPECS)
def test_an_entry_point_is_there_and_described(name):
    assert (ROLE / "tasks" / f"{name}.yml").is_file()
    assert SPECS[name]["short_description"] and SPECS[name]["description"]
    assert list(undescribed(SPECS[name]["options"])) == []


def test_the_documented_defaults_are_the_defaults():
    options = {name: option for spec in SPECS.values() for name, option in spec["options"].items()}
    assert {name: option["default"] for name, option in options.items() if "default" in option} == DEFAULTS


@pytest.mark.parametrize("name", [*DEFAULTS, *SPECS, *TYPES])
def test_the_roles_page_has_it(name):
    assert f"`{name}`" in (ROLE / "README.md").read_text(encoding="utf-8")
