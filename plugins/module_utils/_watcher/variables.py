# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A report as the variables that a hook gets, beside the file that holds all of it. Pure.

Private to this collection.
"""

from typing import Any, Dict

from .report import Report

PREFIX = "AZURE_MAINTENANCE_"
LONGEST = 32 * 1024
"""Characters of one variable: a system refuses to start a program that is given one of more than 128 kB."""


def variables(report: Report, phase: str, **more: Any) -> Dict[str, str]:
    """The variables of a hook.

    :arg phase: prepare, recover or notify
    :arg more: what whoever runs it knows: ``file``, ``budget``, ``attempt``, ``notes``
    """
    event = report["event"] or {}
    duration = event.get("duration")
    found = {
        "phase": phase,
        "happened": report["happened"],
        "id": event.get("id", ""),
        "type": event.get("type", ""),
        "status": event.get("status", ""),
        "source": event.get("source", ""),
        "resources": _listed(event.get("resources", ())),
        "name": report["machine"]["name"],
        "not_before": event.get("not_before_utc") or "",
        "duration": "" if duration is None else str(duration),
    }
    found.update((name, str(value)) for name, value in more.items())
    return {PREFIX + name.upper(): value[:LONGEST] for name, value in found.items()}


def _listed(names: Any) -> str:
    """The names, with commas between them, and none cut in the middle: half a name may be another machine's."""
    text = ",".join(names)
    return text if len(text) <= LONGEST else text[:LONGEST].rpartition(",")[0]
