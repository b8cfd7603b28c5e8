# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The second look at what was done to a machine: when it is due, and whether an event may be approved by it."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.second_look import (
    NOTHING,
    STANDS,
    UNKNOWN,
    SecondLook,
)

NEVER = SecondLook()
STOOD, FAILED = SecondLook(100.0, STANDS), SecondLook(100.0, UNKNOWN, "lb1 did not answer")
NOTHING_TO_SEE = SecondLook(100.0, NOTHING)
IN_PART = SecondLook(100.0, UNKNOWN)


@pytest.mark.parametrize(
    "look, seconds, allows, is_due_to_approve, is_due",
    [
        (NEVER, 0, False, True, True),
        (STOOD, 5, True, False, False),
        (STOOD, 5.1, False, True, False),
        (STOOD, 60, False, True, True),
        (FAILED, 1.9, False, False, False),
        (FAILED, 2, False, True, False),
        (FAILED, 60, False, True, True),
        (IN_PART, 0, False, True, False),
        (NOTHING_TO_SEE, 3600, True, False, False),
    ],
)
def test_a_look_counts_for_five_seconds(look, seconds, allows, is_due_to_approve, is_due):
    now = 100.0 + seconds
    assert look.allows(now) == allows
    assert (look.is_due(now, True), look.is_due(now, False)) == (is_due_to_approve, is_due)
