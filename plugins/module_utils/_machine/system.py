# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine program asks its system.

Private to this collection.
"""

from .._clock import Clock
from .._core.lease import Moment


class System:
    """This machine.

    :arg boot_id: where somebody who knows it better has said it: a sandbox may have a /proc of its own, which in a container shows
        the host's; "" to read it
    """

    def __init__(self, boot_id: str = "") -> None:
        self._boot_id = boot_id

    def uptime(self) -> float:
        """Seconds since the machine was started, sleep included."""
        with open("/proc/uptime", encoding="ascii") as file:
            return float(file.read().split()[0])

    def boot_id(self) -> str:
        if self._boot_id:
            return self._boot_id
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read().strip()


def moment_of(system: System, clock: Clock) -> Moment:
    return Moment(clock.wall(), system.uptime(), system.boot_id())
