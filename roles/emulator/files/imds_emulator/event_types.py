# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each type of event is like unless a scenario says otherwise.

Notice and tail as seen and documented: the notice table's minimum is in practice the most one sees, and an event
stays Started far longer than its duration.
"""

from typing import NamedTuple, Optional

MAINTENANCE = "Host server is undergoing maintenance."
FAILURE = "Virtual machine has encountered a failure."
REQUESTED = {
    "Reboot": "Virtual machine is going to be restarted as requested by authorized user.",
    "Redeploy": "Virtual machine is going to be redeployed as requested by authorized user.",
}


class Manner(NamedTuple):
    """The defaults of a type, in seconds."""

    notice: float
    tail: float
    duration: int
    description: str


MANNERS = {
    "Freeze": Manner(900, 600, 9, MAINTENANCE),
    "Reboot": Manner(900, 600, -1, MAINTENANCE),
    "Redeploy": Manner(600, 600, -1, MAINTENANCE),
    "Preempt": Manner(30, 60, -1, ""),
    "Terminate": Manner(300, 60, -1, ""),
    "SpotRebalanceRecommendation": Manner(600, 600, -1, ""),
}
OTHER = Manner(900, 600, -1, "")

TERMINATE = "Terminate"
ADVICE = "SpotRebalanceRecommendation"
AUTOMATIC = ("Reboot", "Redeploy")  # what `automatically_approve` can name


def manner(event_type: str) -> Manner:
    """The defaults of a type, known or not."""
    return MANNERS.get(event_type, OTHER)


def describe(event_type: str, source: str, no_notice: bool) -> Optional[str]:
    """The text that Azure shows."""
    if source == "User":
        return REQUESTED.get(event_type, "")
    if no_notice:
        return FAILURE
    return manner(event_type).description
