# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hooks there are: files in folders, in the order in which they are run, and what speaks against running one.

Private to this collection.
"""

import os
import stat
from typing import List, NamedTuple

PHASES = ("prepare", "recover", "notify")


class HookFile(NamedTuple):
    """One hook."""

    key: str  # its path below the folder of hooks: notify.d/Reboot/10-slack
    path: str
    problem: str  # why it must not be run; "" when it may be


class HookFolderProblem(Exception):
    """Why nobody can tell which hooks there are."""


def hooks_in(folder: str, phase: str, event_type: str = "") -> List[HookFile]:
    """The hooks of a phase for a type of event, by name, whichever of the two folders they are in.

    :raises HookFolderProblem: when a folder is there and can't be read
    """
    place = f"{phase}.d"
    found = _files(folder, place)
    for name in _names(os.path.join(folder, place)):
        if event_type and name.lower() == event_type.lower() and os.path.isdir(os.path.join(folder, place, name)):
            found += _files(folder, f"{place}/{name}")
    return sorted(found, key=lambda hook: (os.path.basename(hook.path), hook.key))


def types_in(folder: str, phase: str) -> List[str]:
    """The types of events that have hooks of their own."""
    place = os.path.join(folder, f"{phase}.d")
    return [name for name in _names(place) if os.path.isdir(os.path.join(place, name))]


def writers(found: os.stat_result) -> str:
    """Who besides root and this user may write it; "" when nobody may."""
    if found.st_uid not in (0, os.geteuid()):
        return f"user number {found.st_uid}"
    if found.st_mode & stat.S_IWOTH:
        return "everybody"
    return "its group" if found.st_mode & stat.S_IWGRP else ""


def _names(folder: str) -> List[str]:
    try:
        return sorted(name for name in os.listdir(folder) if not name.startswith((".", "#")) and not name.endswith("~"))
    except FileNotFoundError:
        return []
    except OSError as error:
        raise HookFolderProblem(f"{folder} can't be read: {error.strerror}") from error


def _files(folder: str, place: str) -> List[HookFile]:
    here = os.path.join(folder, place)
    paths = [(f"{place}/{name}", os.path.join(here, name)) for name in _names(here)]
    return [HookFile(key, path, _problem(folder, path)) for key, path in paths if not os.path.isdir(path)]


def _problem(folder: str, path: str) -> str:
    """Whoever may write the file, or put another one in its place, could have root run what they like."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return "it is no file"
        who = writers(found)
        if who:
            return f"{who} may write it: make it root's, and run chmod go-w {path}"
        place = os.path.dirname(path)
        while len(place) >= len(folder):
            who = writers(os.stat(place))
            if who:
                return f"{who} may write into {place}: make it root's, and run chmod go-w {place}"
            place = os.path.dirname(place)
        if not found.st_mode & stat.S_IXUSR:
            return f"it is not executable: run chmod 0755 {path}"
    except OSError as error:
        return f"it can't be looked at: {error.strerror}"
    return ""
