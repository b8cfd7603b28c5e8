# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What maintain itself printed, as it stands in its log."""

import re


def waiting(log: str) -> str:
    """The line by which maintain says that every machine has been polled, and that it waits for new events; "" before that.

    Events that are announced earlier are shown to some of the machines and not yet to others.
    """
    found = re.search(r"^\d\S+Z  waits +\S.*(?=\n)", log, re.M)
    return found[0] if found else ""
