# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether what a task returned that called a machine is an answer to that call. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SILENT = "Its task returned nothing that could be read."


def checked(number: int | None, answer: Mapping[str, Any], silent: str = SILENT) -> dict[str, Any]:
    """The answer, or as ``lost`` why there is none.

    :arg number: of the call; before ansible-core 2.19 that of an answer may be a text
    """
    if answer.get("lost") or str(answer.get("number")) != str(number):
        return {"lost": answer.get("lost") or answer.get("msg") or silent}
    return dict(answer)
