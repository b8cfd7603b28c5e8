# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What an earlier deployment has left on a machine, by its settings: its hooks, and its state folder. What of that goes, and why it may not: a mark
in a folder that is another one now would never be removed by anybody, and what a person has put beside it would be lost. Pure.

Private to this collection.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from ...module_utils._text import clause, listed
from .hooks import is_key
from .place import Place

if TYPE_CHECKING:
    from .plan import Files


class HookPath(TypedDict):
    """A hook of the role's own on the machine."""

    key: str  # as HookFile has it
    path: str


class Former(TypedDict):
    """What an earlier deployment has installed; of a machine that has none, no hooks, and the state folder from now on."""

    folder: str  # of the state
    hooks: list[HookPath]


class Leaving(TypedDict):
    """What becomes of the hooks of an earlier deployment."""

    hooks: list[HookPath]  # those that go
    new: list[HookPath]  # those that it has not
    refused: str  # why they may not go


def former_of(settings: str, place: Place) -> Former:
    """What the settings say of it.

    :arg settings: the file that is on the machine; "" where there is none
    """
    try:
        said = json.loads(settings)
    except ValueError:
        said = None
    said = said if isinstance(said, dict) else {}
    keys = sorted(filter(is_key, said.get("hooks") or ()))
    return {
        "folder": str(said.get("folder") or place.state),
        "hooks": [{"key": key, "path": place.below(place.hooks, key)} for key in keys],
    }


def leaving(files: Files, former: Former, mark: Any, force: bool = False) -> Leaving:
    """Which hooks of ours go, and why they may not, while the machine is out of service by them.

    :arg files: what the machine gets
    :arg mark: the machine's; None where it has none
    """
    wanted, there = files["settings"]["hooks"], {hook["key"] for hook in former["hooks"]}
    refused = ""
    if isinstance(mark, Mapping) and (mark.get("holder") or {}).get("kind") == "watcher" and not force:
        keys = {*wanted, *(step["key"] for step in files["settings"]["steps"])}
        lacking = [step["key"] for step in mark.get("steps") or () if step["key"] not in keys]
        if lacking:
            refused = (
                f"is out of service by the watcher, and what would recover it is not among its new hooks and steps: {listed(lacking)}. "
                "Wait until it is back, or set watcher_force to true. Nothing was changed"
            )
    return {
        "hooks": [hook for hook in former["hooks"] if hook["key"] not in wanted],
        "new": [{"key": hook["key"], "path": hook["path"]} for hook in files["hooks"] if hook["key"] not in there],
        "refused": refused,
    }


def kind_of_mark(content: str) -> str:
    """Who holds a mark: ``watcher``, ``run``, ``drain``; "" where nobody can tell.

    :arg content: of its file
    """
    try:
        return str(json.loads(content)["holder"]["kind"])
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
