# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task says while it runs, under whatever callback.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable

from ansible import constants
from ansible.utils.display import Display


def say(lines: Iterable[str]) -> None:
    """Print them at once. Where standard output is JSON, they go to standard error."""
    is_json = str(constants.DEFAULT_STDOUT_CALLBACK).rpartition(".")[2] in ("json", "jsonl")
    Display().display("\n".join(lines), stderr=is_json)
