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


def has_run(result: Mapping[str, Any]) -> bool:
    """Whether the program of a command module was started, so that ``rc`` is its exit code.

    A module that can't start it has an ``rc`` all the same, and has not measured how long it took (``delta``). The program
    `timeout`, under which a command runs on Linux, ends with 126 or 127 when it can't start it, and says so.
    """
    if not result.get("delta") or "rc" not in result:
        return False
    words = last_line(result.get("stderr"), MOST)
    return not (
        result["rc"] in (125, 126, 127) and "timeout" in str(result.get("cmd")) and words.startswith("timeout: ")
    )


def kept_back(more: str = "") -> str:
    """What is said of a failure whose words are a secret."""
    return f"it failed{more}; its words are kept back (no_log)"
