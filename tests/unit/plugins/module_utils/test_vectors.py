# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of tests/vectors keep their form."""

import json
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import files, text_of


@pytest.mark.parametrize("path", files(), ids=os.path.basename)
def test_one_case_a_line_each_of_a_name_of_its_own(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    vectors = json.loads(text)
    names = [case["name"] for case in vectors["cases"]]
    assert sorted(set(names)) == sorted(names)
    assert set(vectors) == {"about", "cases"}
    assert text == text_of(vectors), "make format writes it in its form"
