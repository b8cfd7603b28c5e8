# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How deep the task files of a run nest."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.nesting import NESTED
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    begin,
    timed_out,
)


def test_a_long_watch_does_not_nest_without_end():
    record = begin(wait_timeout=1e6)
    again, step_again = [], []
    for at in range(1, 2000):
        record = run_record.looked(record, {"web1": timed_out()}, at=at)
        again.append(record["todo"]["look_again"])
        if not again[-1]:
            step_again.append(record["todo"]["step_again"])
    assert again.count(False) == len(step_again) == 1999 // NESTED
    assert step_again.count(False) == len(step_again) // NESTED
