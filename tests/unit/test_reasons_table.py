# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide has every reason for which an event is not approved, in the words that people get to read."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.tests.unit import reasons_table


def test_the_guide_has_every_reason():
    page = reasons_table.PAGE.read_text(encoding="utf-8")
    assert reasons_table.page_with(reasons_table.table(), page) == page, "make figure writes it anew"
