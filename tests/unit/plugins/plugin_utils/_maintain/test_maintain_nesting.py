# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep the task files of a run nest."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.nesting import NESTED, count_look
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    UNREACHABLE,
    begin,
    event,
    look,
    timed_out,
)


def looked(record, result, at):
    """What the task files do at every look."""
    return count_look(run_record.looked(record, {"web1": result}, at), record["todo"]["look"])


@pytest.mark.parametrize(
    "result, at, again",
    [
        (timed_out(), 2, True),
        (UNREACHABLE, 2, False),  # another one looks now
        (look(event()), 2, False),
        (timed_out(), 1000, False),  # the run is at its end
    ],
)
def test_the_same_machines_look_again_only_while_there_is_nothing_to_do(result, at, again):
    record = looked(looked(begin(), timed_out(), at=1), result, at)
    assert record["nesting"]["look_again"] is again


def test_a_long_watch_does_not_nest_without_end():
    record = begin(wait_timeout=1e6)
    look_again, pass_again = [], []
    for at in range(1, 2000):
        record = looked(record, timed_out(), at)
        look_again.append(record["nesting"]["look_again"])
        if not look_again[-1]:
            pass_again.append(record["nesting"]["pass_again"])
    assert look_again.count(False) == len(pass_again) == 1999 // NESTED
    assert pass_again.count(False) == len(pass_again) // NESTED


def test_a_look_is_not_counted_in_place():
    record = begin()
    looked(record, timed_out(), at=1)
    assert record["nesting"] == {"looks": 0, "passes": 0, "look_again": False, "pass_again": True}
