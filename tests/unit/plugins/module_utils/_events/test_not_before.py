# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events import event
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.vectors import cases


@pytest.mark.parametrize("case", cases("dates.json"))
def test_not_before(case):
    assert event.parse_not_before(case["text"]) == case["unix"]


def test_not_before_is_a_float():
    assert isinstance(event.parse_not_before("2016-09-19T18:29:47Z"), float)


def test_a_long_garbled_date_is_refused_quickly():
    assert event.parse_not_before("1" * 200000) is None
    assert event.parse_not_before("Mon, " + " " * 200000 + "x") is None
