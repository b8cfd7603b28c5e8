# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a lane wrote into the user's home.

Others write there meanwhile: shells, editors, caches. A lane is blamed for what only its own tools leave in a home.
"""

import os
import pathlib
import pwd
import re
from collections.abc import Iterator

# Ansible, this collection's program, and the tools of the lanes, by what they write when they don't go by HOME
TRACES = (
    ".ansible*",
    ".azure-maintenance*",
    ".cache/ansible*",
    ".cache/antsibull*",
    ".cache/galaxy*",
    ".cache/powershell",
    ".cache/pylint",
    ".cache/wine",
    ".config/ansible*",
    ".config/antsibull*",
    ".config/powershell",
    ".local/lib/python*",
    ".local/share/ansible*",
    ".local/share/powershell",
    ".local/share/applications/wine*",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".wine",
)
CLONE = pathlib.Path(__file__).resolve().parents[2]


def homes() -> set[pathlib.Path]:
    """HOME, and the one that ssh and the program on machines ask the system for."""
    found = {pathlib.Path.home()}
    try:
        found.add(pathlib.Path(pwd.getpwuid(os.getuid()).pw_dir))
    except KeyError:
        pass
    return found


def files(top: pathlib.Path) -> Iterator[str]:
    """All below it, or itself; of an empty folder its name with a slash. This clone may be there, too."""
    if not top.is_dir():
        yield str(top)
    for folder, folders, names in os.walk(top):
        folders[:] = [name for name in folders if pathlib.Path(folder, name).resolve() != CLONE]
        yield from (os.path.join(folder, name) for name in names)
        if not names and not folders:
            yield folder + os.sep


def is_of_a_living_run(path: str) -> bool:
    """Whether it is the temporary folder of an ansible that runs: that is somebody else's, as no lane runs when this is asked."""
    found = re.search(r"/\.ansible/tmp/ansible-local-(\d+)", path)
    return found is not None and os.path.exists(f"/proc/{found.group(1)}")


def listing() -> dict[str, tuple[int, int]]:
    """What these tools have in the user's home, with its size and time of change; the home itself, so that there is something."""
    found = {str(home): (0, 0) for home in homes()}
    for path in (path for home in homes() for trace in TRACES for top in home.glob(trace) for path in files(top)):
        if is_of_a_living_run(path):
            continue
        try:
            status = os.lstat(path)
        except OSError:
            continue  # gone meanwhile
        found[path] = (0, 0) if path.endswith(os.sep) else (status.st_size, status.st_mtime_ns)
    return found


def changes(before: dict[str, tuple[int, int]]) -> list[str]:
    after = listing()
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
