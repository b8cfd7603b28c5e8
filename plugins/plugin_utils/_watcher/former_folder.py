# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state folder that the installed settings name, and what a deployment with another one would leave behind in it: a mark, which nobody
would ever remove, and what a person has put beside it. Pure.

Private to this collection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...module_utils._text import clause, listed


def folder_of(settings: str) -> str:
    """ "" where there are none, or nobody can read them.

    :arg settings: the file that is on the machine
    """
    try:
        return str(json.loads(settings)["folder"] or "")
    except (ValueError, KeyError, TypeError):
        return ""


def left_behind(
    former: str, folder: str, there: Mapping[str, Any], here: Mapping[str, Any], force: bool = False
) -> str:
    """Why the folder may not be another one now, as a clause that follows the machine's name; "" when it may.

    What is in both folders alike is not left behind: they may be one folder by two names, or somebody has copied it.

    :arg former: folder so far, of which the machine program answered ``there``
    :arg folder: from now on, of which it answered ``here``
    :arg force: whether what a person has left may stay behind; a mark never may
    """
    moved = f"and azure_maintenance_folder is {folder} now"
    if there.get("lost"):
        return f"could not be asked what is in {former}, its state folder so far, {moved}: {clause(there['lost'])}"
    if there["mark"] and _outage(there["mark"]) != _outage(here.get("mark")):
        return (
            f"is marked in {former}, its state folder so far, {moved}: nobody would see that mark again and recover the machine. Leave "
            f"azure_maintenance_folder at {former} until the machine is back in service. Nothing was changed"
        )
    left = [] if force else list(_of_persons(there, here))
    if left:
        return (
            f"has {listed(left)} in {former}, its state folder so far, {moved}, where nobody would see that. Copy it to {folder}, or set "
            "watcher_force to true to leave it behind. Nothing was changed"
        )
    return ""


def _outage(mark: Any) -> Any:
    """What stays the same in a mark from its beginning to its end."""
    return mark and (mark.get("unreadable"), mark.get("holder"), mark.get("since"))


def _of_persons(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    if there["hold"] and there["hold"] != here.get("hold"):
        yield "a hold (hold.json)"
    if set(there["yes"]).difference(here.get("yes") or ()):
        yield "confirmations of events (folder yes)"
    if set(there["put_back"]).difference(here.get("put_back") or ()):
        yield "events despite which it was recovered (put_back.json)"
