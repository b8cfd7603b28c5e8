# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Python that runs the watcher on a Windows machine, which has none of its own: python.org's embeddable package, which the role brings
and unpacks, or one that is there. Pure but for the user's own file.

Private to this collection.
"""

from __future__ import annotations

import hashlib
import re
import struct
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, TypedDict

from ...module_utils._text import one_line, shown
from ...module_utils._watcher.host.windows_host import WINDOWS

OLDEST = (3, 11)
_I386 = 0x14C
_SHA256 = re.compile(r"[0-9A-Fa-f]{64}\Z")
_STANDARD_LIBRARY = re.compile(r"python(\d)(\d+)\.zip\Z")
_ADVICE = "name python.org's embeddable package (watcher_python_zip, and watcher_python_zip_sha256), or a Python that is there (watcher_python)"


class WindowsPython(TypedDict):
    """What is to run the program; nothing of a package where one is named that is there."""

    executable: str  # whole path of the one that is there, or ""
    zip: str  # the package, a file of the controller, or ""
    sha256: str
    folder: str  # that it is unpacked to: another one for another package


NONE = WindowsPython(executable="", zip="", sha256="", folder="")


class PythonError(Exception):
    """What is wrong, in a sentence without a full stop."""


def python_of(
    options: Mapping[str, Any], find_file: Callable[[str], str | None], programs: str
) -> tuple[WindowsPython, list[str]]:
    """What runs the program, and what is wrong with what was said of it.

    :arg options: ``python``, ``python_zip``, ``python_zip_sha256``
    :arg programs: folder of the machine
    """
    executable, package, sha256 = (
        str(options.get(name) or "") for name in ("python", "python_zip", "python_zip_sha256")
    )
    try:
        if bool(executable) == bool(package):
            many = "both watcher_python and watcher_python_zip say" if package else "nothing says"
            raise PythonError(f"{many} which Python runs the watcher on Windows: {_ADVICE}")
        if executable:
            return _there(executable), []
        return _brought(package, sha256, find_file, programs), []
    except PythonError as error:
        return NONE, [str(error)]


def _there(executable: str) -> WindowsPython:
    if not WINDOWS.is_whole_path(executable) or not executable.lower().endswith(".exe"):
        raise PythonError(f"watcher_python is {shown(executable)}, not the whole path of a python.exe")
    return WindowsPython(executable=executable, zip="", sha256="", folder="")


def _brought(package: str, sha256: str, find_file: Callable[[str], str | None], programs: str) -> WindowsPython:
    if not sha256:
        raise PythonError(f"nothing says what the SHA-256 of {package} is: set watcher_python_zip_sha256")
    if not _SHA256.match(sha256):
        raise PythonError(f"watcher_python_zip_sha256 is {shown(sha256, 70)}; a SHA-256 has 64 hexadecimal digits")
    path = find_file(package)
    if path is None:
        raise PythonError(
            f"watcher_python_zip is not there: {package} (a relative one is looked for beside the playbook and beside the inventory)"
        )
    try:
        with open(path, "rb") as file:
            found = hashlib.sha256(file.read()).hexdigest()
        if found != sha256.lower():
            raise PythonError(f"{path} has the SHA-256 {found}, and watcher_python_zip_sha256 says {sha256.lower()}")
        folder = WINDOWS.joined(programs, f"python-{_version(path)}-{found[:12]}")
        return WindowsPython(executable="", zip=path, sha256=found, folder=folder)
    except OSError as error:
        raise PythonError(f"{path} (watcher_python_zip) can't be read: {one_line(error.strerror or error)}") from error


def _is_32_bit(program: bytes) -> bool:
    """By what a program of Windows says of itself: the header that its 60th byte leads to, and the processor in that."""
    (place,) = struct.unpack_from("<I", program, 60) if len(program) >= 64 else (0,)
    return program[place : place + 6] == b"PE\0\0" + struct.pack("<H", _I386)


def _version(path: str) -> str:
    """The version of a package: ``3.11``."""
    try:
        with zipfile.ZipFile(path) as package:
            names = package.namelist()
            program = package.read("python.exe") if "python.exe" in names else b""
    except zipfile.BadZipFile as error:
        raise PythonError(f"{path} (watcher_python_zip) is no ZIP") from error
    version = next((match for match in map(_STANDARD_LIBRARY.match, names) if match), None)
    if not version or "python.exe" not in names:
        raise PythonError(
            f"{path} (watcher_python_zip) is no embeddable package of python.org: it has no python.exe and no python3NN.zip"
        )
    number = tuple(int(part) for part in version.groups())
    if number < OLDEST:
        raise PythonError(f"{path} is Python {number[0]}.{number[1]}, and the watcher needs 3.11 or later on Windows")
    if _is_32_bit(program):
        raise PythonError(
            f"{path} is a 32-bit Python, which Windows shows another registry and another System32: take the package for amd64 or arm64"
        )
    return f"{number[0]}.{number[1]}"
