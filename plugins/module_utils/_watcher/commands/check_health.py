# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the health endpoint by asking it: whether each of its addresses answers, and says what the mark says.

Private to this collection.
"""

import os
import stat
from typing import List

from ..._text import one_line
from ..host.this_host import HOST
from .check_report import FAIL, OK, Finding
from .status import StatusView

UNITS = "azure-maintenance-health.socket azure-maintenance-health.service"


def health(view: StatusView, folder: str) -> List[Finding]:
    """:arg folder: of the mark"""
    found: List[Finding] = []
    marked = bool(view.mark.value or view.mark.problem)
    for one in view.health:
        words = f"{one.address}: {one_line(one.words) or 'no answer'}"
        if one.is_in_service is None:
            found.append(Finding(FAIL, "health", words, f"{HOST.status(UNITS)}; load balancers get no answer, either"))
        elif one.is_in_service and marked:
            words = f"{one.address} answers that the machine is in service, and it is marked"
            found.append(Finding(FAIL, "health", words, HOST.restart(UNITS.split()[1])))
        else:
            found.append(Finding(OK, "health", words))
    closed = closed_folders(folder) if view.health else []
    if closed:
        words = f"its user can't see whether the machine is marked, as {closed[0]} is closed to it: it always answers in service"
        found.append(
            Finding(FAIL, "health", words, f"chmod o+x {closed[0]}, or set azure_maintenance_folder to another folder")
        )
    return found


def closed_folders(folder: str) -> List[str]:
    """Those on the way to a folder, and itself, that let an ordinary user not through."""
    found: List[str] = []
    while True:
        try:
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                found.insert(0, folder)
        except OSError:  # it is not there yet
            pass
        if folder == os.path.dirname(folder):
            return found
        folder = os.path.dirname(folder)
