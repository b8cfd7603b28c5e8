# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The second look: whether what was done to take a machine out of service still stands. A reload of a load balancer, configuration management
or a person may have undone it since. Pure.

Private to this collection.

An event is approved by looks that are a few seconds old. While it waits for something else, its machines are looked at now and then: what does
not stand is done again. One who looks has all that was done looked at, here and elsewhere.
"""

from typing import Any, List, Mapping, NamedTuple, Optional

from .._steps.sequence import DONE

FRESH = 5.0
"""Seconds for which a look counts when an event is approved."""

PAUSE = 60.0
"""Seconds from one look to the next, while an event waits for something else."""

RETRY = 2.0
"""Seconds until the next look, where an approval waits for nothing but it, and the last one could not be made."""

NOT_LOOKED_AT = "not_looked_at"
"""The code of the reason against an approval, where a look could not be made."""

STANDS = "stands"
NOTHING = "nothing"
"""Nothing of what was done can be looked at."""
UNKNOWN = "unknown"
"""It could not be looked at, was not, or not yet all of it."""


class SecondLook(NamedTuple):
    """The last look.

    at: when; None where there was none
    found: STANDS, NOTHING or UNKNOWN
    why: why it could not be made, as a clause; "" where it could, or was not
    """

    at: Optional[float] = None
    found: str = UNKNOWN
    why: str = ""

    def allows(self, now: float) -> bool:
        """Whether an event may be approved by it."""
        return self.found == NOTHING or (self.found == STANDS and self.at is not None and now - self.at <= FRESH)

    def is_due(self, now: float, approves: bool) -> bool:
        """Whether it is time for another one.

        :arg approves: whether an approval waits for nothing but it
        """
        if self.found == NOTHING or (approves and self.allows(now)):
            return False
        pause = PAUSE if not approves else RETRY if self.why else 0.0
        return self.at is None or now - self.at >= pause


def second_look(answer: Mapping[str, Any], at: float) -> SecondLook:
    """What the machine program's answer to a request to become prepared says of it."""
    return SecondLook(at, answer.get("stands", UNKNOWN), answer.get("unseen", ""))


def not_verified(mark: Mapping[str, Any]) -> List[str]:
    """The keys of a mark's steps that were done, and that nobody looks at once more before an approval: they may not stand any more. Role drain
    approves nothing.
    """
    if mark["phase"] not in ("preparing", "prepared") or mark["holder"]["kind"] == "drain":
        return []
    return [step["key"] for step in mark["steps"] if step["state"] == DONE and step.get("not_verified")]
