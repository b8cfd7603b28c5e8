# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of a step, in a few words. Pure.

Private to this collection.
"""

from typing import Any, Mapping

from .._text import last_line, one_line
from .step_type import MOST


def exit_words(result: Mapping[str, Any]) -> str:
    """How a program ended: its exit code and its last words."""
    words = (
        last_line(result.get("stderr"), MOST)
        or last_line(result.get("stdout"), MOST)
        or one_line(result.get("msg"), MOST)
    )
    return f"exit code {result['rc']}: {words}" if words else f"exit code {result['rc']}"


def kept_back(more: str = "") -> str:
    """What is said of a failure whose words are a secret."""
    return f"it failed{more}; its words are kept back (no_log)"
