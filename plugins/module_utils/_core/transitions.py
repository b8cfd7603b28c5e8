# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine is to become: prepared for events, recovered, or left as it is. One answer for the run and the watcher. Pure.

Private to this collection.
"""

from typing import NamedTuple

PREPARED, RECOVERED = "prepared", "recovered"

PREPARE_AGAIN = 5.0
"""Seconds until a preparation that could not even begin is retried: there is a time by which it has to be done."""

RECOVER_AGAIN = 30.0
"""Seconds until a recovery that left something is retried, at first: each time it is twice as long."""

RECOVER_AGAIN_AT_MOST = 600.0


class Try(NamedTuple):
    """What did not come about.

    to: PREPARED or RECOVERED; "" where nothing failed
    at: when it failed last
    times: how often it did in a row
    """

    to: str = ""
    at: float = 0.0
    times: int = 0

    def again(self, to: str, at: float) -> "Try":
        """After one more that did not come about."""
        return Try(to, at, self.times + 1 if to == self.to else 1)

    def rests(self, to: str, now: float) -> bool:
        """Whether it is too early to retry that."""
        if self.to != to:
            return False
        longer = min(RECOVER_AGAIN * 2 ** min(self.times - 1, 10), RECOVER_AGAIN_AT_MOST)
        return now - self.at < (PREPARE_AGAIN if to == PREPARED else longer)
