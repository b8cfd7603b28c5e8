# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom a run is for that names machines as Azure calls them."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import maintaining
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks.of_event import Place, concerned, names
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import RESULT, wrong

PLACES = {
    "a": Place("web_0", "web"),
    "b": Place("web_1", "web"),
    "c": Place("db", "data"),
    "d": Place("", ""),
    "e": Place("lone", ""),
}


@pytest.mark.parametrize(
    "resources, hosts",
    [
        (["web_1"], ["a", "b"]),
        (["WEB_0", "lone"], ["a", "b", "e"]),
        (["d"], ["d"]),  # the inventory does not say how it is called in Azure
        (["c"], []),  # but here it does
        (["of_another_team"], []),
        (["web"], []),
        (["{{ 'web_0' }}", "*", "all", ""], []),
    ],
)
def test_the_named_machines_and_those_that_share_a_group_or_scope_with_them(resources, hosts):
    assert concerned(PLACES, resources) == hosts


def test_names_as_a_rulebook_writes_them_and_as_a_person_does():
    assert names(",web_0,web_1") == names("web_0, web_1") == ["web_0", "web_1"]


def test_the_result_of_a_run_for_no_host_is_one_like_any_other():
    result = maintaining._for_nobody(["of_another_team"], "4711")["result"]
    assert wrong(result, RESULT) == []
    assert result["job"] == "4711" and "of_another_team" in result["notes"][0]
