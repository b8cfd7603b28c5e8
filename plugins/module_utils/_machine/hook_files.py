# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a hook finds on the disk: what happened, and a folder for notes. Both go with the mark.

Private to this collection.

::

    hooks/NAME.json       what happened, for one try of one hook
    hooks/notes           where hooks leave notes for those after them, up to the recovery
    hooks/notes-USER      the same for those that run as another user: who can write there could mislead root's
"""

import os
import stat
from typing import Any, Mapping, Optional

from . import files
from .own_processes import Account
from .places import HOOKS


class HookFiles:
    """The files of all hooks.

    :arg above: the folder of the mark
    """

    def __init__(self, above: str) -> None:
        self._above = above
        self._folder = os.path.join(above, HOOKS)

    def event(self, name: str, context: Mapping[str, Any], account: Optional[Account]) -> str:
        """The file that says what happened; only this user can read it."""
        self._open(account)
        path = os.path.join(self._folder, f"{name}.json")
        files.replace(path, context)
        self._give(path, account)
        return path

    def notes(self, account: Optional[Account]) -> str:
        """The folder for notes; only this user can use it."""
        self._open(account)
        path = os.path.join(self._folder, f"notes-{account.pw_name}" if account else "notes")
        files.make_folder(path)
        self._give(path, account)
        return path

    def _open(self, account: Optional[Account]) -> None:
        """Make the folder, and let another user through to what is hers: not to see what else there is."""
        files.make_folder(self._folder)
        for folder in (self._above, self._folder) if account else ():
            mode = stat.S_IMODE(os.stat(folder).st_mode)
            if mode & 0o011 != 0o011:
                os.chmod(folder, mode | 0o011)

    def _give(self, path: str, account: Optional[Account]) -> None:
        if account:
            os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
