# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A file that calls itself pure changes no argument, and sees no clock; nor does one see a clock that only changes the record of a run."""

from __future__ import annotations

import functools

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit import purity
from ansible_collections.cloudops.azure_maintenance.tests.unit.rooms import PLUGINS

FILES = {path.relative_to(PLUGINS).as_posix(): path for path in sorted(PLUGINS.rglob("*.py"))}
PURE = [file for file, path in FILES.items() if purity.says(path, purity.PURE)]
CHANGING = [file for file, path in FILES.items() if purity.says(path, purity.CHANGES_THE_RECORD)]

changes = functools.lru_cache(purity.changes)


def changed_by(file):
    room, _slash, name = file.rpartition("/")
    return [change for change in changes(room)[name.removesuffix(".py")] if change.is_seen]


@pytest.mark.parametrize("file", PURE)
def test_what_is_pure_changes_nothing(file):
    assert changed_by(file) == []


@pytest.mark.parametrize("file", CHANGING)
def test_what_changes_the_record_changes_nothing_else(file):
    assert {change.argument for change in changed_by(file)} <= {"record", "machine"}, (
        "a machine is a part of the record"
    )


@pytest.mark.parametrize("file", PURE + CHANGING)
def test_neither_sees_a_clock_or_the_system(file):
    assert purity.reads_outside(FILES[file]) == []


@pytest.mark.parametrize(
    "body",
    [
        "given['x'] = 1",
        "given.x = 1",
        "del given['x']",
        "given.append(1)",
        "given['x'].setdefault('y', []).append(1)",
        "part = given.get('x') or {}; part['y'] = 1",
        "for one in given.values(): one['y'] = 1",
        "for one in [one for one in given if one]: one['y'] = 1",
        "sorted(given)[0]['y'] = 1",
        "a, b = given, 1; a[b] += 1",
        "_changes(1, given['x'])",
    ],
)
def test_what_counts_as_a_change(body, tmp_path, monkeypatch):
    text = f"def public(given):\n    {body}\ndef _changes(_number, one):\n    one.clear()\n"
    (tmp_path / "some.py").write_text(text)
    monkeypatch.setattr(purity, "PLUGINS", tmp_path)
    assert {change.function for change in purity.changes(".")["some"] if change.is_seen} == {"public"}


@pytest.mark.parametrize(
    "body",
    [
        "new = dict(given); new['x'] = 1",
        "new = [one for one in given]; new.sort()",
        "given = {**given}; given['x'] = 1",
        "_changes(given, {})",
        "new = {}; new.update(given); return new",
    ],
)
def test_what_is_no_change(body, tmp_path, monkeypatch):
    text = f"def public(given):\n    {body}\ndef _changes(_number, one):\n    one.clear()\n"
    (tmp_path / "some.py").write_text(text)
    monkeypatch.setattr(purity, "PLUGINS", tmp_path)
    assert [change for change in purity.changes(".")["some"] if change.is_seen] == []
