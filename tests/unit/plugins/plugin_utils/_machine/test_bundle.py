# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program as one file: what is in it, and that it needs nothing but Python."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import bundle
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine.call import Call


def test_the_same_files_are_the_same_bytes():
    first = bundle.program()
    bundle.program.cache_clear()
    assert bundle.program() == first and bundle.program() is bundle.program()


def test_another_content_has_another_name(monkeypatch):
    first = bundle.program()
    monkeypatch.setattr(bundle, "MAIN", bundle.MAIN + "\n")
    bundle.program.cache_clear()
    other = bundle.program()
    bundle.program.cache_clear()
    assert other.name != first.name


def test_what_needs_more_than_python_stays_behind():
    names = zipfile.ZipFile(io.BytesIO(bundle.program().content)).namelist()
    assert "azure_maintenance/_imds/http_transport.py" in names and "azure_maintenance/_machine/program.py" in names
    assert not [name for name in names if "requests_transport" in name or name.endswith("/_module.py")]
    assert names == sorted(names)


def test_every_module_in_it_can_be_imported_alone(tmp_path):
    path = tmp_path / "program.zip"
    path.write_bytes(bundle.program().content)
    names = [name[:-3].replace("/", ".") for name in zipfile.ZipFile(path).namelist() if "__" not in name]
    code = f"import importlib, sys; sys.path.insert(0, {str(path)!r}); [importlib.import_module(n) for n in {names!r}]"
    subprocess.run([sys.executable, "-I", "-S", "-B", "-c", code], check=True)


def test_the_watcher_of_the_same_files_is_the_same_bytes():
    first = bundle.watcher()
    assert bundle.watcher() == first
    assert first.name == f"{bundle.version()}.pyz" and bundle.version()[0].isdigit()
    names = zipfile.ZipFile(io.BytesIO(first.content)).namelist()
    assert "azure_maintenance/_watcher/service/loop.py" in names and names == sorted(names)
    assert not [name for name in names if "requests_transport" in name or name.endswith("/_module.py")]


OF_WINDOWS = ("_machine/windows/kernel.py", "_machine/windows/cluster_node.ps1", "_watcher/service/windows_service.py")


def test_what_is_for_windows_goes_to_windows_alone():
    linux = names_in(bundle.watcher()) + names_in(bundle.program())
    there = names_in(bundle.watcher(for_windows=True))
    assert [name for name in linux if "windows" in name] == []
    assert [name for name in OF_WINDOWS if f"{bundle.NAME}/{name}" not in there] == []


def names_in(program):
    return zipfile.ZipFile(io.BytesIO(program.content)).namelist()


def test_the_version_is_that_of_the_manifest_where_there_is_one(tmp_path, monkeypatch):
    monkeypatch.setattr(bundle, "COLLECTION", tmp_path)
    (tmp_path / "galaxy.yml").write_text("namespace: x\nversion: 1.2.3\n")
    assert bundle.version() == "1.2.3"
    (tmp_path / "MANIFEST.json").write_text('{"collection_info": {"version": "1.2.4"}}')
    assert bundle.version() == "1.2.4"


def test_what_the_role_builds_is_the_same(tmp_path):
    script = bundle.COLLECTION / "roles" / "watcher" / "files" / "build_zipapp.py"
    subprocess.run([sys.executable, "-I", str(script), str(tmp_path / "watcher.pyz")], check=True)
    assert (tmp_path / "watcher.pyz").read_bytes() == bundle.watcher().content


def test_it_answers(tmp_path):
    call = Call(
        sys.executable,
        [str(tmp_path)],
        bundle.program(),
        {"options": {"folder": str(tmp_path / "marks"), "number": 3}, "requests": [], "steps": []},
    )
    for with_program in (True, False):
        line, data = call.sent(with_program)
        done = subprocess.run(["/bin/sh", "-c", line], input=data, stdout=subprocess.PIPE, check=True)
        answer = call.answer(done.stdout.decode())
        assert answer["lost"] == "" and answer["answers"] == [] and answer["number"] == 3, json.dumps(answer)
