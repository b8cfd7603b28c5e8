# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks a program of the system something.

Private to this collection.
"""

import subprocess
from typing import List, NamedTuple


class Said(NamedTuple):
    """What a program said. A code of -1: there is none, or it did not end in time."""

    code: int
    text: str


def ask(command: List[str], seconds: float = 5.0) -> Said:
    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.Popen(  # pylint: disable=ansible-bad-function
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
    except OSError:
        return Said(-1, "")
    try:
        text = process.communicate(timeout=seconds)[0].decode("utf-8", "replace")
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return Said(-1, "")
    return Said(process.returncode, text)
