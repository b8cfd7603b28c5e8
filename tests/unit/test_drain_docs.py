# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people read of role drain is what it goes by: types of steps, their options, the role's own variables."""

from __future__ import annotations

import pathlib

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import COMMON
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import TYPES

ROLE = pathlib.Path(__file__).resolve().parents[2] / "roles" / "drain"
SPECS = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]
DEFAULTS = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text(encoding="utf-8"))
STEPS = {name[len("step_") :]: spec for name, spec in SPECS.items() if name.startswith("step_")}
ENTRY_POINTS = {name: spec for name, spec in SPECS.items() if not name.startswith("step_")}
FACTS = ("type", "elements", "default", "choices", "required", "no_log")


def without_words(options):
    """An argument spec without what is only for people."""
    return {
        name: dict(
            {fact: option[fact] for fact in FACTS if fact in option},
            options=without_words(option.get("options", {})),
        )
        for name, option in options.items()
    }


def undescribed(options, inside=""):
    for name, option in options.items():
        if not option.get("description"):
            yield inside + name
        yield from undescribed(option.get("options", {}), f"{inside}{name}.")


def test_every_type_of_step_is_documented_and_no_other():
    assert list(STEPS) == list(TYPES)


@pytest.mark.parametrize("name", TYPES)
def test_a_step_takes_what_its_documentation_says(name):
    checked = {**COMMON, "type": {**COMMON["type"], "choices": [name]}, **TYPES[name].options}
    assert without_words(STEPS[name]["options"]) == without_words(checked)
    assert list(undescribed(STEPS[name]["options"])) == []
    for system in set(COMMON["systems"]["choices"]) - set(TYPES[name].systems):
        assert system not in str(STEPS[name]["description"]).lower()


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_an_entry_point_is_there_and_described(name):
    assert (ROLE / "tasks" / f"{name}.yml").is_file()
    assert SPECS[name]["short_description"] and SPECS[name]["description"]
    assert list(undescribed(SPECS[name]["options"])) == []


def test_the_documented_defaults_are_the_defaults():
    options = {name: option for spec in ENTRY_POINTS.values() for name, option in spec["options"].items()}
    assert {name: option["default"] for name, option in options.items() if "default" in option} == DEFAULTS


@pytest.mark.parametrize("name", [*DEFAULTS, *SPECS, *TYPES])
def test_the_roles_page_has_it(name):
    assert f"`{name}`" in (ROLE / "README.md").read_text(encoding="utf-8")
