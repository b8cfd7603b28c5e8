# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program and the watcher, each as one file: what a machine needs of module_utils, as a zip that Python runs.

Private to this collection. Needs nothing but Python, as the role that builds the watcher loads it by its path.
"""

from __future__ import annotations

import functools
import hashlib
import io
import json
import pathlib
import re
import zipfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

COLLECTION = pathlib.Path(__file__).parents[3]
MODULE_UTILS = COLLECTION / "plugins" / "module_utils"
PACKAGES = ("_core", "_events", "_imds", "_machine", "_operations", "_steps")
WATCHER = (*PACKAGES, "_watcher")
LEFT_OUT = ("_module.py", "_imds/requests_transport.py")  # they need more than Python
OF_WINDOWS = (
    "_machine/windows/",
    "_watcher/commands/check_windows.py",
    "_watcher/host/windows_host.py",
    "_watcher/reports/windows_hook.py",
    "_watcher/service/windows_beside.py",
    "_watcher/service/windows_log.py",
    "_watcher/service/windows_service.py",
    "_watcher/service/windows_system.py",
)
CLUSTER = COLLECTION / "roles" / "drain" / "files" / "cluster_node.ps1"
NAME = "azure_maintenance"  # of the package that module_utils is on the machine

MAIN = f"from {NAME}._machine.process import main\n\nmain()\n"
WATCHER_MAIN = (
    "import sys\n\nfrom {package}._watcher.main import main\n\nsys.exit(main({version!r}, sys.path[0], sys.argv[1:]))\n"
)


class Program(NamedTuple):
    name: str  # of its file; another one for another content
    content: bytes


@functools.cache
def program() -> Program:
    """The same files give the same bytes."""
    content = packed(files(PACKAGES, MAIN))
    return Program(f"{hashlib.sha256(content).hexdigest()[:32]}", content)


def watcher(for_windows: bool = False) -> Program:
    """The watcher of this version, with the machine program in it."""
    number = version()
    content = packed(files(WATCHER, WATCHER_MAIN.format(package=NAME, version=number), for_windows))
    return Program(f"{number}.pyz", content)


def packed(files: Mapping[str, str]) -> bytes:
    """A zip of these files. Without their times and their order on the disk: the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(path), text, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def version() -> str:
    """Of this collection: what its manifest says where it was installed, what galaxy.yml says in its repository."""
    manifest = COLLECTION / "MANIFEST.json"
    if manifest.is_file():
        return str(json.loads(manifest.read_text(encoding="utf-8"))["collection_info"]["version"])
    found = re.search(r"^version: *(\S+) *$", (COLLECTION / "galaxy.yml").read_text(encoding="utf-8"), re.MULTILINE)
    if not found:
        raise ValueError(f"{COLLECTION} does not say which version it is")
    return found.group(1)


def files(packages: Sequence[str], main: str, for_windows: bool = False) -> dict[str, str]:
    """What a program is made of, by its path within the file: these packages of module_utils, and what begins them."""
    left_out = LEFT_OUT if for_windows else (*LEFT_OUT, *OF_WINDOWS)
    found = {"__main__.py": main, f"{NAME}/__init__.py": ""}
    paths = [*MODULE_UTILS.glob("*.py"), *(path for room in packages for path in (MODULE_UTILS / room).rglob("*.py"))]
    for path in paths:
        inside = path.relative_to(MODULE_UTILS).as_posix()
        if not inside.startswith(left_out):
            found[f"{NAME}/{inside}"] = path.read_text(encoding="utf-8")
    if for_windows:  # the one script that the machine runs itself
        found[f"{NAME}/_machine/windows/{CLUSTER.name}"] = CLUSTER.read_text(encoding="ascii")
    return found
