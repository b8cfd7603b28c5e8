# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The hooks that users name become files, and what is wrong with them is said."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.hooks import (
    folders_of,
    hook_files,
    is_key,
    longest,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._watcher.place import place_of

SCRIPT = "#!/bin/sh\nexit 0\n"
ON_LINUX = place_of("linux", {})
ON_WINDOWS = place_of("windows", {"ProgramFiles": r"C:\Program Files", "ProgramData": r"C:\ProgramData"})
APP = {"name": "app", "phase": "prepare", "content": SCRIPT}


def files(*hooks, found=None):
    return hook_files(list(hooks), (found or {}).get, ON_LINUX)


def keys(*hooks):
    made, errors = files(*hooks)
    assert errors == []
    return [file["key"] for file in made]


def error(*hooks, **more):
    made, errors = files(*hooks, **more)
    assert len(errors) == 1
    return errors[0]


def test_a_hook_is_a_file_with_its_number_in_front():
    assert keys(APP) == ["prepare.d/50-app"]
    assert keys(dict(APP, order=5)) == ["prepare.d/05-app"]
    assert keys(dict(APP, order="7", name="app.sh")) == ["prepare.d/07-app.sh"]


def test_a_hook_for_types_is_a_file_in_the_folder_of_each():
    assert keys(dict(APP, types=["redeploy", "Reboot", "reboot"])) == [
        "prepare.d/Reboot/50-app",
        "prepare.d/Redeploy/50-app",
    ]


def test_hooks_come_in_the_order_in_which_they_run():
    first, last = dict(APP, name="z", order=1), dict(APP, name="a", order=99)
    assert keys(last, APP, first) == ["prepare.d/01-z", "prepare.d/50-app", "prepare.d/99-a"]


def test_what_a_hook_is_besides():
    (made,), errors = files(dict(APP, limit="30", user="postgres", content="#!/bin/sh"))
    assert errors == []
    assert (made["limit"], made["user"], made["content"]) == (30.0, "postgres", "#!/bin/sh\n")
    (made,), errors = files(dict(APP, user="root", limit=None, types=[]))
    assert (made["limit"], made["user"], made["type"]) == (None, "", "")


def test_a_file_is_found_and_looked_into(tmp_path):
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_bytes(b"\x7fELF...")
    bad.write_text("echo no interpreter\n", encoding="utf-8")
    known = {"good": str(good), "bad": str(bad)}
    hook = {"name": "app", "phase": "notify"}
    (made,), errors = files(dict(hook, file="good"), found=known)
    assert (made["file"], made["template"], errors) == (str(good), "", [])
    assert f"{bad} begins with no line such as #!/bin/sh" in error(dict(hook, file="bad"), found=known)
    assert "its file is not there: none" in error(dict(hook, file="none"), found=known)
    # what a template begins with shows when it is written
    (made,), errors = files(dict(hook, template="bad"), found=known)
    assert (made["template"], errors) == (str(bad), [])


@pytest.mark.parametrize(
    "changed, said",
    [
        ({"phase": "prepair"}, "phase is 'prepair' (did you mean 'prepare'?); it is one of prepare, recover, notify"),
        ({"phase": None}, "phase is None; it is one of"),
        ({"name": "../../etc/cron.d/x"}, "name is '../../etc/cron.d/x'; it is letters"),
        ({"name": ".hidden"}, "name is '.hidden'"),
        ({"name": "a b"}, "name is 'a b'"),
        ({"types": ["Rebot"]}, "no type 'Rebot' of events is known (did you mean 'Reboot'?)"),
        ({"types": "Reboot"}, "types is 'Reboot', not a list"),
        ({"limit": 0}, "limit is 0; it is a number of seconds, more than 0"),
        ({"limit": True}, "limit is True"),
        ({"limit": "nan"}, "limit is 'nan'"),
        ({"order": 100}, "order is 100; it is a number from 0 to 99"),
        ({"order": 1.5}, "order is 1.5"),
        ({"user": "a b"}, "user is 'a b', not the name of a user"),
        ({"content": "echo"}, "its content begins with no line such as #!/bin/sh"),
        ({"content": None}, "nothing says what it runs; give one of content, file, template"),
        ({"file": "x"}, "content, file all say what it runs"),
        ({"timeout": 3}, "key 'timeout' is unknown; it takes name, phase"),
    ],
)
def test_what_is_wrong_is_said(changed, said):
    given = error(dict(APP, **changed))
    assert given.startswith("watcher_hooks, hook 1")
    assert said in given


def test_two_hooks_can_not_be_one_file():
    assert error(APP, APP) == (
        "watcher_hooks, hook 2 ('app'): another one is prepare.d/50-app, too: give them different names or another order"
    )
    assert keys(APP, dict(APP, phase="recover")) == ["prepare.d/50-app", "recover.d/50-app"]


def test_no_list_and_no_dictionary():
    assert hook_files("x", lambda path: None, ON_LINUX) == ([], ["watcher_hooks is 'x', not a list of hooks"])
    assert "it is not a dictionary" in error("x")


def test_which_keys_may_be_removed():
    assert is_key("prepare.d/50-app") and is_key("notify.d/Reboot/50-app.sh")
    for key in ("/etc/passwd", "prepare.d/../../x", "prepare.d/a/b/c", "other.d/x", "prepare.d/.x", "prepare.d/"):
        assert not is_key(key)


def test_the_folders_are_those_of_all_phases_and_of_the_types_that_have_hooks():
    made, _errors = files(dict(APP, types=["Freeze"]))
    there = [f"/etc/azure-maintenance/hooks/{name}.d" for name in ("notify", "prepare", "recover")]
    assert folders_of(made, ON_LINUX) == sorted([*there, f"{there[1]}/Freeze"])


def test_the_longest_preparation_is_that_of_the_type_with_the_most_hooks():
    made, _errors = files(
        APP,
        dict(APP, name="b", types=["Freeze"], limit=5),
        dict(APP, name="c", types=["Reboot"], limit=7),
        dict(APP, name="d", phase="recover", limit=1000),
    )
    assert longest(made, "prepare", 300.0) == 307.0
    assert longest(made, "recover", 300.0) == 1000.0
    assert longest(made, "notify", 300.0) == 0.0


# ---- Windows ----

CMD = {"name": "app.cmd", "phase": "prepare", "content": "@echo off\n"}


def on_windows(**given):
    return hook_files([dict(CMD, **given)], lambda path: path, ON_WINDOWS)


def test_a_hook_of_windows_has_an_ending_and_the_ends_of_lines_of_windows():
    (file,), errors = on_windows()
    assert errors == [] and (file["key"], file["content"]) == ("prepare.d/50-app.cmd", "@echo off\r\n")
    (file,), errors = on_windows(content="a\r\nb")
    assert errors == [] and file["content"] == "a\r\nb\r\n"
    assert on_windows(name="app.exe", content="", file="app.exe")[1] == []


def test_windows_powershell_is_told_that_a_script_is_in_utf_8():
    """It takes what begins with no byte order mark for ANSI; cmd.exe would take the mark for a part of the first command."""
    assert on_windows(name="app.PS1", content="'\u00e9'")[0][0]["content"] == "\ufeff'\u00e9'\r\n"
    assert on_windows(name="app.ps1", content="'e'")[0][0]["content"] == "'e'\r\n"
    assert on_windows(content="rem \u00e9")[0][0]["content"] == "rem \u00e9\r\n"


@pytest.mark.parametrize(
    "given, words",
    [
        ({"name": "app"}, "name is app; Windows runs what ends in one of .ps1, .cmd, .bat, .exe"),
        ({"name": "app.sh"}, "Windows runs what ends in one of"),
        ({"user": "app"}, "it has a user, and on Windows the watcher runs everything as SYSTEM: leave user out"),
    ],
)
def test_what_windows_does_not_run(given, words):
    files, errors = on_windows(**given)
    assert files == [] and len(errors) == 1 and words in errors[0]
