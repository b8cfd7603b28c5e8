# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the watcher's options, and what the role says of them: its defaults and its argument spec."""

from __future__ import annotations

import pathlib

import pytest
import yaml

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.options import (
    OPTIONS,
    RENAMED,
    Configuration,
    Settings,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import configured
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher import plan

ROLE = pathlib.Path(__file__).resolve().parents[2] / "roles" / "watcher"
DEFAULTS = yaml.safe_load((ROLE / "defaults" / "main.yml").read_text(encoding="utf-8"))
SPEC = yaml.safe_load((ROLE / "meta" / "argument_specs.yml").read_text(encoding="utf-8"))["argument_specs"]["main"][
    "options"
]
OF_THE_ROLE = {
    "state",
    "image",
    "python",
    "python_zip",
    "python_zip_sha256",
    "systemd",
    "force",
    "keep_state",
}
"""What the program is not told."""
NO_OPTIONS = {"settings", "limits", "undo_limits"}


def test_every_field_is_an_option_and_every_option_a_field():
    assert {*Settings._fields, *Configuration._fields} - NO_OPTIONS == set(OPTIONS)


def test_every_variable_is_an_option_or_of_the_role():
    said = {option.variable for option in OPTIONS.values() if option.variable and not option.may_be_unsaid}
    assert set(DEFAULTS) == said | {f"watcher_{name}" for name in OF_THE_ROLE}
    assert said.issubset(plan.variables().values())


@pytest.mark.parametrize(
    "option", [one for one in OPTIONS.values() if one.variable in DEFAULTS], ids=lambda one: one.name
)
def test_the_role_says_of_an_option_what_its_table_does(option):
    spec = SPEC[option.variable]
    assert spec["type"] == option.kind.type and spec["default"] == DEFAULTS[option.variable] and spec["description"]
    assert all(configured({"format": 1, option.name: choice})[1] == [] for choice in spec.get("choices", ()))


@pytest.mark.parametrize(
    "option", [one for one in OPTIONS.values() if one.variable in DEFAULTS], ids=lambda one: one.name
)
def test_the_default_of_the_role_is_the_default_of_the_program(option):
    value = {} if option.name == "hooks" else DEFAULTS[option.variable]  # the role makes an object of a list
    assert configured({"format": 1, option.name: value}) == configured({"format": 1})


@pytest.mark.parametrize("name", ["mode", "approve"])
def test_each_value_is_a_choice_and_has_words(name):
    assert SPEC[OPTIONS[name].variable]["choices"] == list(OPTIONS[name].in_words)


def test_no_option_has_a_former_name():
    assert not set(OPTIONS).intersection(RENAMED) and set(OPTIONS).issuperset(RENAMED.values())
