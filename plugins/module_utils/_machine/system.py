# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine program asks its system.

Private to this collection.
"""

from .._clock import Clock
from .lease import Moment


class System:
    """This machine."""

    def uptime(self) -> float:
        """Seconds since the machine was started, sleep included."""
        with open("/proc/uptime", encoding="ascii") as file:
            return float(file.read().split()[0])

    def boot_id(self) -> str:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()


def moment_of(system: System, clock: Clock) -> Moment:
    return Moment(clock.wall(), system.uptime(), system.boot_id())
