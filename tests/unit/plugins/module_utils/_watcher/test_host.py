# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's messages advise on each system."""

import ast
import pathlib
import re
import sys

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import trust
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.access_list import (
    HEALTH_SID,
    PUBLIC_FILE,
    READ_FILE,
    READING,
    REPORTS_SID,
    SEE,
    allowed,
    distrust,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher import host
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.linux_host import LINUX
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.host.windows_host import (
    SERVICES,
    WINDOWS,
    folders,
)

WATCHER = pathlib.Path(host.__file__).parents[1]
COMMANDS = re.compile(
    r"systemctl (?!show|could)|journalctl|\bsudo\b|chmod|chown|df -h|timedatectl|/etc/azure|/var/lib/azure"
)
LINUX_ALONE = {
    "host/linux_host.py",
    "commands/check_system.py",  # what keeps files from being run there
}
CONTROLLERS = ("action", "callback", "filter", "lookup", "plugin_utils", "test")
METHODS = ("start", "restart", "status", "enable", "log", "log_end")
NO_RIGHTS = 0
OF_PATHS = ("close", "close_private", "close_folder", "room", "look")


def texts(path):
    """The strings of a file but for its comments."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    comments = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    names = ("Constant", "Str")  # the latter is Python 3.6's
    found = [node for node in ast.walk(tree) if type(node).__name__ in names and id(node) not in comments]
    values = [node.value if hasattr(node, "value") else node.s for node in found]
    return [value for value in values if isinstance(value, str)]


def test_only_the_file_of_a_system_names_its_commands():
    found = {
        path.relative_to(WATCHER).as_posix(): [text for text in texts(path) if COMMANDS.search(text)]
        for path in WATCHER.rglob("*.py")
    }
    assert {name: words for name, words in found.items() if words and name not in LINUX_ALONE} == {}
    assert found["host/linux_host.py"], "the pattern finds nothing any more"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="it reads what runs on controllers, which is of their Python")
def test_who_speaks_of_other_machines_names_the_commands_of_their_systems():
    """What runs on a controller, or is read there: a machine that it speaks of may have another system."""
    rooms = [WATCHER.parent / "_core", WATCHER.parent / "_events", *(WATCHER.parents[1] / room for room in CONTROLLERS)]
    files = [path for room in rooms for path in sorted(room.rglob("*.py"))]
    assert len(files) > 50
    assert [path.name for path in files if any(re.search("systemctl|journalctl", text) for text in texts(path))] == []


@pytest.mark.parametrize("system", [LINUX, WINDOWS], ids=["Linux", "Windows"])
def test_commands_name_what_they_are_about(system):
    for name in METHODS:
        assert "a-service" in getattr(system, name)("a-service"), name
    for name in OF_PATHS:
        words = getattr(system, name)("A_PATH")
        assert "{" not in words and ("A_PATH" in words or name == "room"), name
    assert all(text for text in system if isinstance(text, str))


@pytest.mark.parametrize(
    "path, on_linux, on_windows",
    [
        ("/var/lib/azure-maintenance", True, False),
        ("var/lib", False, False),
        (r"C:\ProgramData\AzureMaintenance", False, True),
        ("C:/ProgramData", False, True),
        ("C:ProgramData", False, False),
        (r"\ProgramData", False, False),
        (r"\\files\share\azure", False, False),
        (r"%ProgramData%\AzureMaintenance", False, False),
    ],
)
def test_a_whole_path_is_one_of_the_system_that_it_is_for(path, on_linux, on_windows):
    assert (LINUX.is_whole_path(path), WINDOWS.is_whole_path(path)) == (on_linux, on_windows)


def test_a_path_is_without_what_separates_it_from_a_name():
    assert [LINUX.without_end(path) for path in ("/srv/az//", "/")] == ["/srv/az", "/"]
    assert [WINDOWS.without_end(path) for path in ("D:\\az\\", "D:/az/", "D:\\")] == ["D:\\az", "D:/az", "D:\\"]


def test_the_endings_of_hooks_are_those_that_windows_runs():
    assert set(WINDOWS.hook_endings) == {*trust.PROGRAMS, *trust.INTERPRETERS}


def test_on_windows_nothing_of_linux_is_advised():
    """Nor what only one of command prompt and PowerShell knows: && is no operator of Windows PowerShell, and sc is another command there."""
    words = "\n".join(text for text in WINDOWS if isinstance(text, str))
    assert not re.search(r"systemctl|journalctl|sudo|chmod|chown|/var|/etc|&&|\bsc ", words)


DATA = r"C:\ProgramData\AzureMaintenance"


def test_only_the_watcher_is_system():
    accounts = {one.name: one.account for one in SERVICES}
    assert accounts == {
        "azure-maintenance": "LocalSystem",
        "azure-maintenance-reports": r"NT SERVICE\azure-maintenance-reports",
        "azure-maintenance-health": r"NT SERVICE\azure-maintenance-health",
    }


@pytest.mark.parametrize("folder", sorted(folders()))
def test_what_others_may_do_in_the_folders_of_a_windows_machine(folder):
    """None of them but the sender's in the spool may write; and what the state is, is for administrators."""
    why = distrust("O:BA" + folders()[folder], False)
    assert why == (f"{REPORTS_SID} may write there" if folder.endswith("spool") else "")
    if folder.endswith("secrets"):
        assert distrust("O:BA" + folders()[folder], False, "", READING) == ""


def test_the_health_endpoint_sees_that_there_is_a_mark_and_reads_nothing():
    found = folders(r"D:\state")
    for state in (DATA, r"D:\state"):
        assert allowed(found[state], HEALTH_SID, for_files=True) & (SEE | READ_FILE) == SEE
        assert allowed(found[state], HEALTH_SID) & (SEE | READ_FILE) == SEE, "it lists no names"
    for folder in ("config", r"config\secrets", r"config\hooks", r"config\hooks\notify.d"):
        assert allowed(found[rf"{DATA}\{folder}"], HEALTH_SID) == NO_RIGHTS
        assert allowed(found[rf"{DATA}\{folder}"], HEALTH_SID, for_files=True) == NO_RIGHTS


def test_of_what_the_watcher_publishes_everybody_reads_only_what_is_for_everybody():
    run = folders()[DATA + r"\run"]
    assert allowed(run, HEALTH_SID) & READ_FILE, "a folder's names"
    assert allowed(run, HEALTH_SID, for_files=True) == NO_RIGHTS
    assert allowed(PUBLIC_FILE, HEALTH_SID) & READ_FILE and distrust("O:SY" + PUBLIC_FILE, False) == ""


def test_the_sender_reads_settings_and_no_state():
    found = folders()
    assert allowed(found[DATA], REPORTS_SID, for_files=True) == NO_RIGHTS
    assert allowed(found[DATA + r"\config"], REPORTS_SID, for_files=True) & READ_FILE
