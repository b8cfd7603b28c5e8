# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether the system's start is over, as systemd says.

Private to this collection.
"""

import subprocess

ASK_LIMIT = 5.0
STARTING = ("initializing", "starting")
LONGEST = 300.0  # seconds since its start after which a system that never says so is taken to have started


def has_started(uptime: float) -> bool:
    """Whether nothing more is going to be started by it."""
    return uptime >= LONGEST or is_system_running() not in STARTING


def is_system_running() -> str:
    """systemd's word: ``starting``, ``running``, ``degraded``, ``stopping`` and others; "" when it says none in time."""
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
