# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program as one file: what a machine needs of module_utils, as a zip that Python runs.

Private to this collection.
"""

from __future__ import annotations

import functools
import hashlib
import io
import pathlib
import zipfile
from typing import NamedTuple

MODULE_UTILS = pathlib.Path(__file__).parents[2] / "module_utils"
PACKAGES = ("_events", "_imds", "_machine", "_operations", "_steps")
LEFT_OUT = ("_module.py", "_imds/requests_transport.py")  # they need more than Python
NAME = "azure_maintenance"  # of the package that module_utils is on the machine

MAIN = f"from {NAME}._machine.process import main\n\nmain()\n"


class Program(NamedTuple):
    name: str  # of its file; another one for another content
    content: bytes


@functools.cache
def program() -> Program:
    """The same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(_files().items()):
            archive.writestr(zipfile.ZipInfo(path), text, zipfile.ZIP_DEFLATED)
    content = buffer.getvalue()
    return Program(f"{hashlib.sha256(content).hexdigest()[:32]}", content)


def _files() -> dict[str, str]:
    found = {"__main__.py": MAIN, f"{NAME}/__init__.py": ""}
    paths = [*MODULE_UTILS.glob("*.py"), *(path for room in PACKAGES for path in (MODULE_UTILS / room).rglob("*.py"))]
    for path in paths:
        inside = path.relative_to(MODULE_UTILS).as_posix()
        if inside not in LEFT_OUT:
            found[f"{NAME}/{inside}"] = path.read_text(encoding="utf-8")
    return found
