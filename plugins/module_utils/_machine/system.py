# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine program asks its system: for how long it has run, which start of it this is, and whether that start is over; and what
the watcher asks besides, which ``linux_system.py`` and ``windows_system.py`` of its service answer.

Private to this collection.
"""

from .._clock import Clock, Moment

ASK_LIMIT = 5.0
STARTING = ("initializing", "starting")
LONGEST = 300.0  # seconds since its start after which a system that never says so is taken to have started


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


def has_started(uptime: float) -> bool:
    """Whether nothing more is going to be started by it."""
    return uptime >= LONGEST or is_system_running() not in STARTING


def is_system_running() -> str:
    """systemd's word: ``starting``, ``running``, ``degraded``, ``stopping`` and others; "" when it says none in time."""
    import subprocess  # takes time to import, and few calls need it

    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            ["systemctl", "is-system-running"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return ""
    try:
        return process.communicate(timeout=ASK_LIMIT)[0].decode("ascii", "replace").strip()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return ""


class WatchedSystem:
    """One system. None of these waits: what takes its time is asked beside the loop.

    going_down: whether it is being shut down; settled: whether what it starts at its boot has been started, or was waited for long enough
    """

    going_down = False
    settled = True

    def moment(self) -> Moment:
        """Now, by the machine's clocks."""
        raise NotImplementedError

    def start(self) -> None:
        """Begin to ask."""

    def stop(self) -> None:
        """Ask no more."""

    def watch_closely(self, closely: bool) -> None:
        """Whether something is under way, for which it matters that the system goes down."""


class Wake:
    """What the loop sleeps on."""

    def wait(self, seconds: float) -> None:
        """Until somebody wakes it, or the seconds are over."""
        raise NotImplementedError

    def wake(self) -> None:
        """From any thread, and from a handler of a signal."""
        raise NotImplementedError
