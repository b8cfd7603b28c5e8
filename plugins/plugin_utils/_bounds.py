# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How much is taken from a machine, over whatever connection: one that says more, or never ends, has failed, and nobody else.

Private to this collection.
"""

from __future__ import annotations

ANSWER = 2_000_000
"""Characters of the machine program's answer, and of PowerShell's: a document has up to 1 MiB."""

RESULT = 8_000_000
"""Bytes of what comes of one call, a module's result among it, as the run gets it."""

MEMORY = 256 * 1024 * 1024
"""Bytes by which one call may make its own process grow: Ansible's connections keep whatever comes until it ends."""


def too_large(limit: int, what: str = "bytes") -> str:
    return f"Its answer can't be used: it has more than {limit} {what}."
