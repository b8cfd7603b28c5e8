# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a file may decide what this program runs: only if nobody but root, or this program's own user, can change it.

Private to this collection.
"""

import errno
import os
import stat
from typing import Iterator, List

from .._text import one_line

_MOST_LINKS = 40


def objection(path: str) -> str:
    """Why somebody else could have put this file there, or have changed it, in a sentence; "" when nobody could.

    Each folder on the way to it counts, and links with all that they lead through.
    """
    if os.name == "nt":
        from .windows.trust import objection as objection_there

        return objection_there(path)
    try:
        here = ""
        for here in _way(path):
            why = _open_to_others(here)
            if why:
                return _words(here, why)
        return "" if stat.S_ISREG(os.lstat(here).st_mode) else _words(path, "is no file")
    except OSError as error:
        return _words(path, f"can't be read: {error.strerror}")


def secret_objection(path: str) -> str:
    """The same of a file on Windows that others must not even read."""
    from .windows.trust import objection as objection_there

    return objection_there(path, is_secret=True)


def folder_objection(path: str) -> str:
    """The same of a folder on Windows: others must not put anything there."""
    from .windows.trust import folder_objection as objection_there

    return objection_there(path)


def unfit(path: str) -> str:
    """Why this file is not run, in a sentence; "" when nothing speaks against it."""
    if os.name == "nt":
        from .windows.trust import unfit as unfit_there

        return unfit_there(path)
    why = objection(path)
    if not why and not os.stat(path).st_mode & 0o111:
        why = _words(path, f"is not executable: chmod +x {one_line(path)}")
    return why


def _open_to_others(path: str) -> str:
    found = os.lstat(path)
    if found.st_uid not in (0, os.geteuid()):
        return f"belongs to user number {found.st_uid}, not to root: chown root {one_line(path)}"
    # In a folder such as /tmp (sticky) only its owner and root can move what others have made.
    if found.st_mode & 0o022 and not (stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX):
        mode = stat.S_IMODE(found.st_mode)
        return f"is writable by users other than root (mode {mode:04o}): chmod go-w {one_line(path)}"
    return ""


def _way(path: str) -> Iterator[str]:
    """The folders from the root on that lead to a file, and at last the file; links are followed one by one.

    The folder that a link is in has come before: who can't write there can't have made it.
    """
    here, links = os.sep, 0
    ahead = _names(os.path.abspath(path))
    yield here
    while ahead:
        name = ahead.pop()
        if name == os.pardir:
            here = os.path.dirname(here)
            continue
        below = os.path.join(here, name)
        if os.path.islink(below):
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
            target = os.readlink(below)
            here = os.sep if target.startswith(os.sep) else here
            ahead += _names(target)
        else:
            here = below
            yield here


def _names(path: str) -> List[str]:
    """The parts of a path, the last one first."""
    return [name for name in reversed(path.split(os.sep)) if name not in ("", os.curdir)]


def _words(path: str, why: str) -> str:
    return f"{one_line(path)} {why}"
