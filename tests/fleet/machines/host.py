# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands on the box that holds the fleet, and whether it can hold one at all."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

TOOLS = {
    "systemd-nspawn": "systemd-container",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "apt-get": "apt",
}


class FleetError(Exception):
    """The fleet could not do what was asked; the message says what and where to look."""


def why_not() -> str | None:
    """None when this box can hold a fleet, else what is missing and how to get it."""
    if os.geteuid() != 0:
        return "the fleet needs root (namespaces, mounts): run the tests with sudo"
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        packages = " ".join(sorted({TOOLS[tool] for tool in missing}))
        return f"not found: {', '.join(missing)}. On Debian or Ubuntu: apt-get install {packages}"
    return None


LONG = 180.0
"""Seconds after which nobody waits any more, on a machine that is very busy as well. All is well long before."""


def run(*command: str, check: bool = True, timeout: float = LONG, **kwargs) -> subprocess.CompletedProcess:
    """Run a command to its end. A failure says the command and what it printed."""
    done = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        check=False,
        **kwargs,
    )
    if check and done.returncode != 0:
        raise FleetError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout.strip()}")
    return done


def until(what: str, condition: Callable[[], T], timeout: float = LONG, pause: float = 0.1) -> T:
    """Wait until `condition` answers something true, and answer that. `what` is for the one who reads the failure."""
    deadline = time.monotonic() + timeout
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() >= deadline:
            raise FleetError(f"waited {timeout:g} s for {what}; last seen: {answer!r}")
        time.sleep(pause)


def ensure_inotify(machines: int) -> None:
    """systemd takes a handful of inotify instances a machine; the usual limit of 128 ends at about 20 machines."""
    path, wanted = "/proc/sys/fs/inotify/max_user_instances", 64 + 8 * machines
    with open(path, encoding="ascii") as handle:
        if int(handle.read()) >= wanted:
            return
    with open(path, "w", encoding="ascii") as handle:
        handle.write(str(wanted))


def process_words(pid: int) -> Sequence[str]:
    """The command line of a process; empty when it is gone."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as handle:
            return handle.read().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return ()
