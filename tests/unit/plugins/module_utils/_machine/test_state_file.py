# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small file of the state: whole or not there, read once a change, and what can't be read is reported with the reason."""

import json
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.files import (
    StateFile,
    Unreadable,
    object_in,
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state.json"


def test_what_was_written_is_read_with_its_format(path):
    file = StateFile(str(path))
    assert file.read() is None
    file.replace({"a": 1})
    assert file.read() == StateFile(str(path)).read() == {"a": 1, "format": 1}
    assert os.stat(str(path)).st_mode & 0o777 == 0o600 and os.listdir(str(path.parent)) == ["state.json"]
    path.unlink()
    assert file.read() is None


def test_one_without_a_format(path):
    file = StateFile(str(path), None)
    file.replace_unsynced({"a": 1}, 0o644)
    assert json.loads(path.read_text()) == file.read() == {"a": 1}
    assert os.stat(str(path)).st_mode & 0o777 == 0o644 and os.listdir(str(path.parent)) == ["state.json"]


def test_it_is_read_again_only_when_it_has_changed(path):
    file = StateFile(str(path))
    file.replace({"a": 1})
    assert file.read() is file.read()
    file.replace({"a": 2})
    assert file.read() == {"a": 2, "format": 1}


@pytest.mark.parametrize(
    "content, why",
    [
        (b"", "is no JSON: "),
        (b"\xff", "is no JSON: "),
        (b"[" * 3000, "is no JSON: "),
        (b"[]", "is no JSON object, but []"),
        (b'{"a": 1}', "is of format None, and this version reads format 1"),
        (b'{"format": 2}', "is of format 2, and this version reads format 1"),
        (b'{"format": 1, "a": "' + b"x" * 5000 + b'"}', "has more than 4000 bytes"),
    ],
)
def test_what_can_not_be_understood(path, content, why):
    path.write_bytes(content)
    file = StateFile(str(path), most=4000)
    for _again in range(2):
        with pytest.raises(Unreadable) as caught:
            file.read()
        assert str(caught.value).startswith(why)
    file.replace({})
    assert file.read() == {"format": 1}


def test_one_that_can_not_be_read(path):
    path.mkdir()
    with pytest.raises(Unreadable, match="can't be read: "):
        StateFile(str(path)).read()


def test_content_that_came_another_way():
    assert object_in(b'{"format": 1}') == {"format": 1} and object_in(b"{}", None) == {}
    with pytest.raises(Unreadable):
        object_in(b"{}")
