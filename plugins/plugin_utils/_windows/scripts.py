# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a PowerShell that stays is given to run: over standard input, or in the runspace of a PSRP connection.

Private to this collection.
"""

from __future__ import annotations

import base64
import functools
import json
import pathlib

LEASE = 90.0
"""Seconds without a word after which it ends by itself: its controller is gone. A wait in a call ends then, too."""

SCRIPT = pathlib.Path(__file__).with_name("look.ps1")

# The first line of input is what runs; the second one is look.ps1. InputFormat None: PowerShell itself would read from standard input.
_BOOT = """$r = New-Object System.IO.StreamReader([Console]::OpenStandardInput(), [System.Text.Encoding]::ASCII)
$t = [System.Text.Encoding]::ASCII.GetString([System.Convert]::FromBase64String($r.ReadLine()))
& ([scriptblock]::Create($t)) $r {lease} '{name}'"""
_COMMAND = (
    "powershell -NoProfile -NonInteractive -ExecutionPolicy Unrestricted -InputFormat None -EncodedCommand {encoded}"
)
_KEPT = """$bytes = [System.Convert]::FromBase64String('{script}')
$global:AzureMaintenanceLook = [scriptblock]::Create([System.Text.Encoding]::ASCII.GetString($bytes))
'{hello}'"""
ASK = "& $global:AzureMaintenanceLook "
"""What a request to a runspace begins with: the rest is its line of JSON, as a text of PowerShell."""


def command(name: str) -> str:
    """The command that starts one which reads from standard input.

    :arg name: that its first word has
    """
    boot = _BOOT.replace("{lease}", str(round(1000 * LEASE))).replace("{name}", name)
    return _COMMAND.format(encoded=base64.b64encode(boot.encode("utf-16-le")).decode("ascii"))


@functools.cache
def first_input() -> bytes:
    """What that reads first."""
    scripts = (SCRIPT.with_name("line.ps1"), SCRIPT)
    return b"".join(base64.b64encode(script.read_bytes()) + b"\n" for script in scripts)


def kept(name: str) -> str:
    """What keeps look.ps1 in a runspace, and says the name."""
    script = base64.b64encode(SCRIPT.read_bytes()).decode("ascii")
    return _KEPT.replace("{script}", script).replace("{hello}", json.dumps({"line": name}))


def asked(line: bytes) -> str:
    """A request as a runspace gets it."""
    return f"{ASK}'{line.decode('ascii').strip().replace(chr(39), 2 * chr(39))}'"
