# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each type of event is like unless a scenario says otherwise.

Notice and tail as seen and documented: the notice table's minimum is in practice the most one sees, and an event
stays Started far longer than its duration.
"""

from typing import NamedTuple

MAINTENANCE = "Host server is undergoing maintenance."
FAILURE = "Virtual machine has encountered a failure."
REQUESTED = {
    "Reboot": "Virtual machine is going to be restarted as requested by authorized user.",
    "Redeploy": "Virtual machine is going to be redeployed as requested by authorized user.",
}


class TypeDefaults(NamedTuple):
    """What holds for an event of a type unless it says otherwise; times in seconds."""

    notice: float
    tail: float
    duration: int
    description: str


DEFAULTS = {
    "Freeze": TypeDefaults(900, 600, 9, MAINTENANCE),
    "Reboot": TypeDefaults(900, 600, -1, MAINTENANCE),
    "Redeploy": TypeDefaults(600, 600, -1, MAINTENANCE),
    "Preempt": TypeDefaults(30, 60, -1, ""),
    "Terminate": TypeDefaults(300, 60, -1, ""),
    "SpotRebalanceRecommendation": TypeDefaults(600, 600, -1, ""),
}
OTHER = TypeDefaults(900, 600, -1, "")

TERMINATE = "Terminate"
ADVICE = "SpotRebalanceRecommendation"
AUTOMATIC = ("Reboot", "Redeploy")  # what `automatically_approve` can name


def defaults_of(event_type: str) -> TypeDefaults:
    """The defaults of a type, known or not."""
    return DEFAULTS.get(event_type, OTHER)


def describe(event_type: str, source: str, no_notice: bool) -> str:
    """The text that Azure shows."""
    if source == "User":
        return REQUESTED.get(event_type, "")
    if no_notice:
        return FAILURE
    return defaults_of(event_type).description
