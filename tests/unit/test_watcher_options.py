# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the watcher's options, and what is written out of it: the role's defaults, its argument spec, its README."""

from __future__ import annotations

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
from ansible_collections.cloudops.azure_maintenance.tests.unit import watcher_options

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


@pytest.mark.parametrize("path", watcher_options.pages(), ids=lambda path: path.stem)
def test_what_is_written_out_is_the_table(path):
    assert path.read_text(encoding="utf-8") == watcher_options.pages()[path], "make figure writes it anew"


def test_every_field_is_an_option_and_every_option_a_field():
    assert {*Settings._fields, *Configuration._fields} - NO_OPTIONS == set(OPTIONS)


def test_every_variable_is_an_option_or_of_the_role():
    given = yaml.safe_load(watcher_options.DEFAULTS.read_text(encoding="utf-8"))
    of_inventory = {option.variable for option in OPTIONS.values() if not option.description}
    assert {*given, *of_inventory} - {""} == {*plan.variables().values(), *(f"watcher_{name}" for name in OF_THE_ROLE)}


@pytest.mark.parametrize("option", OPTIONS.values(), ids=lambda option: option.name)
def test_an_option_takes_its_default(option):
    value = option.variable_default
    if option.description and value != "" and "{{" not in str(value):
        assert configured({"format": 1, option.name: {} if option.name == "hooks" else value})[1] == []


def test_no_option_has_a_former_name():
    assert not set(OPTIONS).intersection(RENAMED) and set(OPTIONS).issuperset(RENAMED.values())
