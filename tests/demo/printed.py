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


def timeline(log: str, event_type: str) -> str:
    """The timeline of the last event of this type, with which maintain ends: a headline, and an indented line for each thing that
    happened. "" if there is none, as of a run that was interrupted."""
    found = re.findall(rf"^{event_type} \S.*(?:\n  .*)+", log, re.M)
    return found[-1] if found else ""
