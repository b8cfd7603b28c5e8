# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whom files and folders belong to, and who may write there, as Windows itself says it. Wine makes access lists up out of the modes of
Unix: so what they say of other users proves nothing here, and tests/vectors/windows_folders.json says what follows from them. That they are
asked for and understood does.
"""

import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files, trust
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import platform
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import trust as here
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.settings import (
    SettingsError,
    SettingsFile,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import Hooking


@pytest.fixture
def listed(monkeypatch):
    """What Windows is taken to say of single files and folders."""
    found = {}
    real = here.sddl_of
    monkeypatch.setattr(here, "sddl_of", lambda path: found.get(path) or real(path))
    return found


def test_windows_says_whose_a_file_is(tmp_path):
    (tmp_path / "file").write_text("")
    assert here.sddl_of(str(tmp_path / "file")).startswith("O:")
    assert "D:" in here.sddl_of(str(tmp_path))
    assert here.own_sid().startswith("S-1-5-")


def test_of_what_is_not_there_it_does_not(tmp_path):
    with pytest.raises(FileNotFoundError):
        here.sddl_of(str(tmp_path / "nothing"))
    assert trust.objection(str(tmp_path / "nothing")).endswith("is no file")
    assert trust.folder_objection(str(tmp_path / "nothing")).endswith("is no folder")


def test_our_own_are_trusted(tmp_path):
    files.make_folder(str(tmp_path / "folder"))
    path = tmp_path / "folder" / "10-app.cmd"
    path.write_text("")
    assert trust.folder_objection(str(tmp_path / "folder")) == ""
    assert trust.objection(str(path)) == trust.unfit(str(path)) == ""


def test_a_folder_that_is_there_stays(tmp_path):
    files.make_folder(str(tmp_path))
    assert os.path.isdir(tmp_path)


def test_a_folder_is_given_a_list(tmp_path):
    """Wine keeps no more of one than modes of Unix can say."""
    given = here.sddl_of(str(tmp_path))
    platform.set_list(str(tmp_path), given[given.index("D:") :])
    assert trust.folder_objection(str(tmp_path)) == ""
    (tmp_path / "file").write_text("")
    platform.show_everybody(str(tmp_path / "file"))
    assert here.sddl_of(str(tmp_path / "file")).startswith("O:") and (tmp_path / "file").read_text() == ""
    with pytest.raises(FileNotFoundError):
        platform.set_list(str(tmp_path / "none"), given[given.index("D:") :])


OF_USERS = "O:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;0x1301bf;;;BU)"


def test_a_hook_that_users_may_write_is_not_run(tmp_path, listed):
    found = Hooking(tmp_path, "@echo never\r\n", ".cmd")
    listed[str(found.path)] = OF_USERS
    progress = found.begin()
    assert progress.state == "refused" and "Users (BU) may write there" in progress.note
    assert not os.path.exists(found.jobs.folder) or not os.listdir(found.jobs.folder)


def test_nor_one_whose_folder_they_may(tmp_path, listed):
    path = tmp_path / "10-app.cmd"
    path.write_text("")
    for folder, words in ((tmp_path, "may write there"), (tmp_path.parent.parent, "may replace what is there")):
        listed.clear()
        listed[str(folder)] = OF_USERS
        assert words in trust.unfit(str(path)) and str(folder) in trust.unfit(str(path))


def test_a_secret_that_they_may_read_is_not_used(tmp_path, listed):
    path = tmp_path / "secret"
    path.write_text("x")
    listed[str(path)] = "O:BAD:P(A;;FA;;;BA)(A;;FR;;;BU)"
    assert "Users (BU) may read it" in trust.secret_objection(str(path))
    assert trust.objection(str(path)) == ""


def test_settings_that_they_may_write_are_not_followed(tmp_path, listed):
    path = tmp_path / "watcher.json"
    path.write_text('{"format": 1, "mode": "observe"}')
    settings = SettingsFile(str(path))
    path.write_text('{"format": 1, "mode": "manage"}')
    listed[str(path)] = OF_USERS
    with pytest.raises(SettingsError, match=r"Users \(BU\) may write there"):
        SettingsFile(str(path))  # nor does a watcher start by them
    assert not settings.refresh(anyway=True) and "may write there" in settings.problem
    assert settings.current.settings.mode == "observe"
    listed.clear()
    assert SettingsFile(str(path)).current.settings.mode == "manage"


def test_what_windows_can_not_run(tmp_path):
    path = tmp_path / "10-app.txt"
    path.write_text("")
    assert "its name must end in one of .bat, .cmd, .exe" in trust.unfit(str(path))


def test_another_machine_is_not_looked_at():
    assert "is on another machine" in here._why(r"\\server\share\10-app.cmd")
