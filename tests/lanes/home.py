# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in the user's home, to see whether a lane wrote there."""

import os
import pathlib

HOME = pathlib.Path.home()
CLONE = pathlib.Path(__file__).resolve().parents[2]
PIP = pathlib.Path(
    os.environ.get("PIP_CACHE_DIR") or pathlib.Path(os.environ.get("XDG_CACHE_HOME") or HOME / ".cache") / "pip"
)


def listing() -> dict[str, tuple[int, int]]:
    """Every file below the user's home with its size and time of change, but for this clone and pip's cache."""
    found = {}
    for folder, folders, files in os.walk(HOME):
        folders[:] = [name for name in folders if pathlib.Path(folder, name).resolve() not in (CLONE, PIP.resolve())]
        for name in files:
            path = os.path.join(folder, name)
            try:
                status = os.lstat(path)
            except OSError:
                continue  # gone meanwhile
            found[path] = (status.st_size, status.st_mtime_ns)
        if not files and not folders:
            found[folder + os.sep] = (0, 0)
    return found


def changes(before: dict[str, tuple[int, int]]) -> list[str]:
    after = listing()
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
