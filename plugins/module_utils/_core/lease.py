# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the owner of a mark counts as alive. Pure.

Private to this collection.

It goes by the time since the machine was started, which nobody sets, and by the boot id: who held the mark before a reboot
has not renewed it since.
"""

from typing import Any, Dict, Mapping, NamedTuple

LEASE = 120.0
"""Seconds for which a mark is held from one call to the next."""


class Moment(NamedTuple):
    """Now, by the machine's clocks."""

    wall: float  # Unix time: only to be shown
    uptime: float  # seconds since the machine was started
    boot_id: str


def lease_of(moment: Moment, seconds: float) -> Dict[str, Any]:
    """A lease of so many seconds from now."""
    return {"uptime": moment.uptime, "boot_id": moment.boot_id, "until": moment.uptime + seconds}


def renewed(lease: Mapping[str, Any], moment: Moment) -> Dict[str, Any]:
    """The lease for as long as it was given, from now."""
    return lease_of(moment, lease["until"] - lease["uptime"])


def is_expired(lease: Mapping[str, Any], moment: Moment) -> bool:
    return bool(lease["boot_id"] != moment.boot_id or moment.uptime >= lease["until"])


def left(lease: Mapping[str, Any], moment: Moment) -> float:
    """Seconds until it expires, never below 0."""
    return 0.0 if is_expired(lease, moment) else float(lease["until"] - moment.uptime)


def since(began: Mapping[str, Any], moment: Moment) -> float:
    """Seconds since something began; infinite when the machine has been started anew since."""
    if began["boot_id"] != moment.boot_id or moment.uptime < began["uptime"]:
        return float("inf")
    return float(moment.uptime - began["uptime"])
