# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which hooks there are, in which order, with what limits; and which are refused."""

import os
import subprocess
import sys
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import trust
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks import (
    HOOK_LIMIT,
    Hooks,
    with_context,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.values import HookOptions


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "hooks"


def put(folder, *keys):
    for key in keys:
        path = folder.joinpath(*key.split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)


def keys(found):
    return [step["key"] for step in found.steps]


def hooks(folder, wishes=None, **options):
    return Hooks(str(folder), {key: HookOptions(**one) for key, one in (wishes or {}).items()}, **options)


def test_they_run_in_name_order_those_of_the_events_type_among_them(folder):
    put(folder, "prepare.d/30-c", "prepare.d/10-a", "prepare.d/Reboot/20-b", "prepare.d/Freeze/05-x", "recover.d/10-z")
    found = hooks(folder)
    assert keys(found.found("prepare", "Reboot")) == ["prepare.d/10-a", "prepare.d/Reboot/20-b", "prepare.d/30-c"]
    assert [step["number"] for step in found.found("prepare", "Reboot").steps] == [1, 2, 3]
    assert (
        keys(found.found("prepare", "Redeploy"))
        == keys(found.found("prepare", ""))
        == ["prepare.d/10-a", "prepare.d/30-c"]
    )
    assert keys(found.found("recover", "Reboot")) == ["recover.d/10-z"]
    assert keys(found.found("notify", "Reboot")) == []


def test_the_type_is_compared_without_case(folder):
    put(folder, "prepare.d/rEBOOT/10-a", "prepare.d/Reboot/20-b", "recover.d/FREEZE/1")
    assert keys(hooks(folder).found("prepare", "reboot")) == ["prepare.d/rEBOOT/10-a", "prepare.d/Reboot/20-b"]
    assert hooks(folder).kinds() == {"reboot", "freeze"}


def test_a_hook_is_a_checked_step(folder):
    put(folder, "prepare.d/Reboot/10-app", "recover.d/20-app")
    wishes = {"prepare.d/Reboot/10-app": {"limit": 60, "user": "app"}}
    (step,) = hooks(folder, wishes).found("prepare", "reboot").steps
    assert step == {
        "key": "prepare.d/Reboot/10-app",
        "number": 1,
        "name": "10-app",
        "type": "prepare_hook",
        "path": str(folder / "prepare.d/Reboot/10-app"),
        "timeout": 60.0,
        "undo_timeout": 60.0,
        "user": "app",
        "elsewhere": False,
        "does": "run prepare.d/Reboot/10-app",
        "undoes": "",
        "context": {},
    }
    (back,) = hooks(folder, wishes).found("recover", "reboot").steps
    assert (back["type"], back["does"], back["undoes"]) == ("recover_hook", "", "run recover.d/20-app")
    assert (back["timeout"], back["undo_timeout"], back["user"]) == (HOOK_LIMIT, HOOK_LIMIT, "")
    assert hooks(folder, wishes, limit=30.0).found("recover", "").steps[0]["undo_timeout"] == 30.0


def test_hooks_are_told_what_happened_and_other_steps_are_as_they_were(folder):
    put(folder, "prepare.d/10-app")
    (found,) = hooks(folder).found("prepare", "").steps
    service = {"type": "service"}
    first, second = with_context([found, service], {"happened": "scheduled"})
    assert first["context"] == {"happened": "scheduled"} and second is service
    assert found["context"] == {}


def test_what_editors_and_package_managers_leave_is_no_hook(folder):
    put(folder, "prepare.d/.hidden", "prepare.d/a~", "prepare.d/a.rpmsave", "prepare.d/a.swp", "prepare.d/a.dpkg-old")
    found = hooks(folder).found("prepare", "")
    assert found.steps == () and found.refused == {}


def test_one_that_is_not_fit_is_refused_with_the_reason_and_the_others_run(folder):
    put(folder, "prepare.d/10-a", "prepare.d/20-b", "prepare.d/30-c", "prepare.d/40-d")
    (folder / "prepare.d/10-a").chmod(0o644)
    (folder / "prepare.d/20-b").chmod(0o777)
    (folder / "prepare.d/25-gone").symlink_to("nowhere")
    found = hooks(folder).found("prepare", "Reboot")
    assert keys(found) == ["prepare.d/30-c", "prepare.d/40-d"]
    assert [step["number"] for step in found.steps] == [1, 2]
    assert {key: why.split(": ")[0] for key, why in found.refused.items()} == {
        "prepare.d/10-a": f"{folder}/prepare.d/10-a is not executable",
        "prepare.d/20-b": f"{folder}/prepare.d/20-b is writable by users other than root (mode 0777)",
        "prepare.d/25-gone": f"{folder}/prepare.d/25-gone can't be read",
    }


def test_a_folder_that_others_can_write_makes_all_in_it_refused(folder):
    put(folder, "prepare.d/10-a", "prepare.d/Reboot/20-b", "recover.d/10-a")
    (folder / "prepare.d").chmod(0o775)
    assert set(hooks(folder).found("prepare", "Reboot").refused) == {"prepare.d/10-a", "prepare.d/Reboot/20-b"}
    assert hooks(folder).found("recover", "Reboot").refused == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_one_that_is_not_roots_is_refused(folder):
    put(folder, "prepare.d/10-a")
    os.chown(str(folder / "prepare.d/10-a"), 12345, 0)
    assert "belongs to user number 12345" in hooks(folder).found("prepare", "").refused["prepare.d/10-a"]


def test_a_name_of_the_configuration_that_no_file_has(folder):
    put(folder, "prepare.d/10-a", "prepare.d/Reboot/20-b")
    wishes = {"prepare.d/10-a": {}, "prepare.d/Reboot/20-b": {}, "prepare.d/20-b": {"limit": 5}}
    assert hooks(folder, wishes).unknown() == {
        "prepare.d/20-b": f"the configuration names the hook prepare.d/20-b, and {folder} has no such file; "
        "there are prepare.d/10-a, prepare.d/Reboot/20-b"
    }
    assert hooks(folder / "nowhere", {"x": {}}).unknown()["x"].endswith("has no such file; there are none")


WITHOUT = """
import os, sys
sys.path[:0] = {path!r}
for name in ("fcntl", "pwd", "grp", "termios", "resource"):
    sys.modules[name] = None
del os.geteuid
import importlib, pkgutil
import ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps as steps
for found in pkgutil.iter_modules(steps.__path__):
    importlib.import_module(steps.__name__ + "." + found.name)
import ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy  # time zones ask the real system
os.name = "nt"
import types
sys.modules[steps.__name__.replace("_steps", "_machine.windows.trust")] = types.SimpleNamespace(unfit=lambda path: "")
import ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.settings.hooks as hooks
print([step["key"] for step in hooks.Hooks(sys.argv[1], {{}}).found("prepare", "").steps])
"""


def test_nothing_of_posix_is_needed_to_find_them(folder):
    """A Windows Python has none of these modules. Its access lists are tried on one (lane wine)."""
    put(folder, "prepare.d/10-a")
    code = WITHOUT.format(path=[path for path in sys.path if path])
    said = subprocess.check_output([sys.executable, "-c", code, str(folder)])
    assert said.decode() == "['prepare.d/10-a']\n"


def test_on_windows_its_access_list_decides(folder, monkeypatch):
    put(folder, "prepare.d/10-a")
    asked = types.SimpleNamespace(unfit=lambda path: f"others than administrators may write {path}")
    monkeypatch.setitem(sys.modules, f"{trust.__package__}.windows.trust", asked)
    with monkeypatch.context() as windows:
        windows.setattr(trust.os, "name", "nt")
        said = trust.unfit("10-a")
    assert said == "others than administrators may write 10-a"
