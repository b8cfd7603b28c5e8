# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run that keeps what its ticks bring: lines for people, or reports."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import Run


class Keeping(Run):
    """:arg brings: what is new of a record, by how much had happened before; ``kept`` has all of it in order"""

    def __init__(self, brings, *machines, **options):
        super().__init__(*machines, **options)
        self.kept, self._brings = [], brings

    def tick(self, count=1, seconds=4.0):
        for _number in range(count):
            number = len(self.record.happenings)
            super().tick(1, seconds)
            self.kept += self._brings(self.record, number)
        return self
