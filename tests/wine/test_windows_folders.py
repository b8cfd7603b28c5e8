# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role watcher has the program do before the service is started: the folders are made, and what others could change is named. Wine makes
access lists up, so what Windows is taken to say of them stands here."""

import json

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import trust
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host import windows_host
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.service import windows_system

OURS = "O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
OF_USERS = "O:SYD:PAI(A;OICI;FA;;;SY)(A;OICI;0x1301bf;;;BU)"


@pytest.fixture
def listed(monkeypatch):
    """What Windows is taken to say of single files and folders; all else is the administrators'."""
    found = {}
    monkeypatch.setattr(trust, "sddl_of", lambda path: found.get(path, OURS))
    return found


@pytest.fixture
def folders(tmp_path, capsys):
    def run(*words):
        assert windows_system.folders_main(["--state", str(tmp_path / "state"), *map(str, words)]) == 0
        return json.loads(capsys.readouterr().out)

    return run


def test_folders_are_made_once(tmp_path, listed, folders):
    wanted = [str(tmp_path / "state"), str(tmp_path / "state" / "spool"), str(tmp_path / "config" / "hooks")]
    words = [word for path in wanted for word in ("--folder", path)]
    assert folders(*words) == {"made": wanted, "open": []}
    assert folders(*words) == {"made": [], "open": []}
    assert all((tmp_path / path).is_dir() for path in wanted)


def test_the_accounts_of_the_services_are_let_in_where_they_are_needed(tmp_path, listed, folders, monkeypatch):
    let_in = {}
    monkeypatch.setattr(windows_system, "let_in", let_in.__setitem__)
    state = str(tmp_path / "state")
    folders("--folder", state, "--folder", state + r"\spool", "--folder", state + r"\other")
    lists = windows_host.folders(state)
    assert let_in == {state: lists[state], state + r"\spool": lists[state + r"\spool"]}


def test_what_others_could_change_is_named_once(tmp_path, listed, folders):
    config, hook = tmp_path / "config", tmp_path / "config" / "10-app.cmd"
    config.mkdir()
    hook.write_text("")
    listed[str(config)] = OF_USERS
    (one,) = folders("--folder", config, "--file", hook, "--secret", hook)["open"]
    assert one["path"] == str(config) and "Users (BU) may write there" in one["why"]
    listed[str(config)] = OURS.replace("O:BA", "O:S-1-5-21-1-2-3-1001")
    (one,) = folders("--file", hook)["open"]
    assert "its owner is S-1-5-21-1-2-3-1001" in one["why"]


def test_what_the_user_who_asks_owns_is_not_the_services(tmp_path, listed, folders, monkeypatch):
    monkeypatch.setattr(trust, "own_sid", lambda: "S-1-5-21-1-2-3-1001")
    settings = tmp_path / "watcher.json"
    settings.write_text("{}")
    listed[str(settings)] = OURS.replace("O:BA", "O:S-1-5-21-1-2-3-1001")
    assert trust.objection(str(settings)) == ""
    assert [one["path"] for one in folders("--file", settings)["open"]] == [str(settings)]


def test_a_secret_is_read_by_nobody_else(tmp_path, listed, folders):
    secret = tmp_path / "secret"
    secret.write_text("")
    listed[str(secret)] = "O:BAD:PAI(A;;FA;;;BA)(A;;FR;;;BU)"
    assert folders("--file", secret)["open"] == []
    (one,) = folders("--secret", secret)["open"]
    assert "Users (BU) may read it" in one["why"]
    assert folders("--file", tmp_path / "nothing")["open"][0]["path"] == str(tmp_path / "nothing")


def test_a_folder_that_can_not_be_made_is_named(tmp_path, listed, folders):
    (tmp_path / "file").write_text("")
    found = folders("--folder", tmp_path / "file" / "folder")
    assert found["made"] == [] and "can't be made" in found["open"][0]["why"]
