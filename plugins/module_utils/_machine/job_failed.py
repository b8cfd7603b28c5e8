# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a job can't be begun.

Private to this collection.
"""

from .hand import ABSENT as NOT_YET
from .hand import FAILED, Progress


class JobFailed(Exception):
    """Why a job can't be begun, in a sentence."""

    def progress(self) -> Progress:
        """What that means to the step."""
        return Progress(FAILED, str(self))


class NotBegun(JobFailed):
    """It was not begun, and may be later: the system takes nothing on while it goes down."""

    def progress(self) -> Progress:
        return Progress(NOT_YET, str(self))
