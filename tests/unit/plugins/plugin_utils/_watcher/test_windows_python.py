# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which Python runs the watcher on a Windows machine, and what is refused."""

from __future__ import annotations

import hashlib
import struct
import zipfile

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.windows_python import NONE, python_of

EMBEDDED = ("python.exe", "python311.dll", "python311.zip", "python311._pth")
PROGRAMS = r"C:\Program Files\AzureMaintenance"
THERE = r"C:\Program Files\Python312\python.exe"


@pytest.fixture(name="package")
def _package(tmp_path):
    def make(*names, program=b""):
        path = tmp_path / "python.zip"
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(zipfile.ZipInfo(name), program if name == "python.exe" else b"")
        return str(path), hashlib.sha256(path.read_bytes()).hexdigest()

    return make


def refusal(**options):
    found, errors = python_of(options, lambda path: path, PROGRAMS)
    assert found == NONE
    (words,) = errors
    return words


def test_a_package_gets_a_folder_of_its_own(package):
    path, sha256 = package(*EMBEDDED)
    found, errors = python_of({"python_zip": path, "python_zip_sha256": sha256.upper()}, lambda name: name, PROGRAMS)
    assert errors == []
    assert found == {
        "executable": "",
        "zip": path,
        "sha256": sha256,
        "folder": rf"{PROGRAMS}\python-3.11-{sha256[:12]}",
    }
    other = package(*EMBEDDED, "another.dll")
    assert (
        python_of({"python_zip": other[0], "python_zip_sha256": other[1]}, str, PROGRAMS)[0]["folder"]
        != found["folder"]
    )


def test_one_that_is_there_is_named_by_its_path():
    found, errors = python_of({"python": THERE, "python_zip": ""}, lambda path: None, PROGRAMS)
    assert errors == [] and found == {**NONE, "executable": THERE}


@pytest.mark.parametrize("path", ["python.exe", "/usr/bin/python3", r"C:\Python312", r"\\files\python\python.exe"])
def test_one_that_is_there_is_a_program_of_that_machine(path):
    assert "not the whole path of a python.exe" in refusal(python=path)


def test_one_of_both_is_needed():
    assert refusal().startswith("nothing says which Python runs the watcher on Windows")
    assert refusal(python=THERE, python_zip="x").startswith("both watcher_python and watcher_python_zip say")


@pytest.mark.parametrize(
    "names, words",
    [
        (EMBEDDED[:1], "is no embeddable package of python.org"),
        (EMBEDDED[1:], "is no embeddable package of python.org"),
        (("python.exe", "python310.zip"), "is Python 3.10, and the watcher needs 3.11 or later on Windows"),
        (("python.exe", "lib/python311.zip"), "is no embeddable package of python.org"),
    ],
)
def test_a_zip_that_is_no_such_package(package, names, words):
    path, sha256 = package(*names)
    assert words in refusal(python_zip=path, python_zip_sha256=sha256)


@pytest.mark.parametrize("processor, is_refused", [(0x14C, True), (0x8664, False), (0xAA64, False)])
def test_a_python_of_32_bits_is_refused(package, processor, is_refused):
    program = b"MZ".ljust(60) + struct.pack("<I", 80) + b"".ljust(16) + b"PE\0\0" + struct.pack("<H", processor)
    path, sha256 = package(*EMBEDDED, program=program)
    errors = python_of({"python_zip": path, "python_zip_sha256": sha256}, str, PROGRAMS)[1]
    assert ["is a 32-bit Python, which Windows shows" in words for words in errors] == [True] * is_refused


def test_a_package_is_what_its_sha256_says(package, tmp_path):
    path, sha256 = package(*EMBEDDED)
    assert "set watcher_python_zip_sha256" in refusal(python_zip=path)
    assert "64 hexadecimal digits" in refusal(python_zip=path, python_zip_sha256=sha256[1:])
    said = refusal(python_zip=path, python_zip_sha256="0" * 64)
    assert f"{path} has the SHA-256 {sha256}, and watcher_python_zip_sha256 says {'0' * 64}" == said
    nothing = {"python_zip": "nothing.zip", "python_zip_sha256": sha256}
    assert "watcher_python_zip is not there: nothing.zip" in python_of(nothing, lambda path: None, PROGRAMS)[1][0]
    (tmp_path / "text.zip").write_text("no ZIP")
    sha256 = hashlib.sha256(b"no ZIP").hexdigest()
    assert "is no ZIP" in refusal(python_zip=str(tmp_path / "text.zip"), python_zip_sha256=sha256)
