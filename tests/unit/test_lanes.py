# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests/lanes/lib.sh promises to every lane, whoever runs it and however his shell is set up; and whom lane home blames."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import stat
import subprocess

import pytest

LANES = pathlib.Path(__file__).resolve().parents[1] / "lanes"
PROXIES = {"http_proxy": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "example.org"}
ODD = {
    **PROXIES,
    "ANSIBLE_CONFIG": "/nowhere",
    "ANSIBLE_STDOUT_CALLBACK": "nonsense",
    "AZURE_EMULATOR_CONTROL": "http://127.0.0.1:1",
    "CDPATH": "/:.",
    "COLUMNS": "20",
    "FORCE_COLOR": "1",
    "GIT_DIR": "/nowhere",
    "GREP_OPTIONS": "-v",
    "LANG": "de_DE.UTF-8",
    "LANGUAGE": "de:tr",
    "LC_ALL": "tr_TR.UTF-8",
    "LOGNAME": "somebody",
    "MAKEFLAGS": "-j9",
    "NO_COLOR": "1",
    "NOTIFY_SOCKET": "/nowhere",
    "NOX_DEFAULT_VENV_BACKEND": "conda",
    "PIP_TARGET": "/nowhere",
    "PIP_USER": "1",
    "PYTEST_ADDOPTS": "--nonsense",
    "PYTHONHOME": "/nowhere",
    "PYTHONPATH": "/nowhere",
    "PYTHONWARNINGS": "error",
    "SUDO_USER": "somebody",
    "TAR_OPTIONS": "--nonsense",
    "TMPDIR": "/no where/ä",
    "TZ": "Asia/Kathmandu",
    "USER": "somebody",
}


def git(folder, *words):
    settings = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.check_output(
        ["git", "-C", str(folder), *settings, *words],
        env=dict(os.environ, GIT_CONFIG_GLOBAL=os.devnull),
        stderr=subprocess.STDOUT,
    )


@pytest.fixture(name="clone")
def _clone(tmp_path):
    clone = tmp_path / "clone"
    (clone / "tests" / "lanes").mkdir(parents=True)
    shutil.copy(str(LANES / "lib.sh"), str(clone / "tests" / "lanes"))
    (clone / "galaxy.yml").touch()
    (clone / ".gitignore").write_text("/build/\n")
    git(clone, "init")
    return clone


def lane(clone, script, umask=0o022, status=0, **environment):
    """What a lane of this script prints: standard output, and what a failing one says there."""
    done = subprocess.run(
        ["bash", "-c", f'cd "$1" && . tests/lanes/lib.sh && {{\n{script}\n}}', "lane", str(clone)],
        env=dict({"PATH": os.environ["PATH"], "HOME": str(clone.parent)}, **environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        preexec_fn=lambda: os.umask(umask),
    )
    assert done.returncode == status, (done.stdout + done.stderr).decode()
    return done.stdout.decode()


def test_nothing_of_the_users_shell_reaches_a_lane(clone):
    shows = "cd /; umask; pwd; env -u _ -u SHLVL -u OLDPWD | sort"
    plain = lane(clone, shows)
    assert plain.splitlines()[0] == "0022" and "TMPDIR=/" in plain and "LC_ALL=C.UTF-8" in plain
    assert lane(clone, shows, umask=0o077, **ODD) == lane(clone, shows, umask=0, **ODD) == plain


def test_what_fetches_goes_by_the_users_proxies(clone):
    assert {f"{name}={PROXIES[name]}" for name in PROXIES} <= set(lane(clone, "fetching env", **ODD).splitlines())


def test_from_the_folder_for_temporary_files_programs_can_be_run(clone):
    """Also where TMPDIR is none, and by a path that leaves room for that of a socket."""
    folder = lane(
        clone,
        'printf "#!/bin/sh\\n" >"$TMPDIR/$$" && chmod +x "$TMPDIR/$$" && "$TMPDIR/$$" && rm "$TMPDIR/$$"; echo $TMPDIR',
        **ODD,
    )
    assert folder in ("/tmp\n", "/var/tmp\n")


@pytest.mark.parametrize("home", [None, "/nowhere", "/proc"])
def test_no_home_is_needed(clone, home):
    unset = "unset HOME; " if home is None else ""
    lane_of_none = ["bash", "-c", f"{unset}cd '{clone}' && . tests/lanes/lib.sh && echo $HOME"]
    environment = {"PATH": os.environ["PATH"], "HOME": home or "/"}
    assert subprocess.check_output(lane_of_none, env=environment).decode() == f"{clone}/build/home\n"


@pytest.mark.parametrize("umask", [0, 0o027, 0o077])
def test_files_in_a_view_have_the_same_modes_under_every_umask(clone, umask):
    modes = {"data": 0o666 & ~umask, "program": 0o777 & ~umask}
    for name, mode in modes.items():
        (clone / name).touch()
        (clone / name).chmod(mode)
    view = pathlib.Path(lane(clone, "use_view one; echo $VIEW", umask=umask, **ODD).strip())
    assert [stat.S_IMODE((view / name).stat().st_mode) for name in modes] == [0o644, 0o755]
    assert {stat.S_IMODE(folder.stat().st_mode) for folder in (view, view / "tests")} == {0o755}
    assert (view / "program").stat().st_uid == os.geteuid()


def test_an_export_without_git_says_what_to_do(clone):
    shutil.rmtree(str(clone / ".git"))
    said = lane(clone, "echo went on", status=1)
    assert f"The lanes ask git which files there are here, in {clone}, and it says: fatal: not a git repository" in said
    assert said.endswith("If this is no clone, make it one: git init && git add --all\n")
    git(clone.parent, "init")  # around it
    assert lane(clone, "use_view one; ls galaxy.yml") == "galaxy.yml\n"
    (clone.parent / ".gitignore").write_text("clone\n")
    assert "the repository around this folder ignores it" in lane(clone, "echo went on", status=1)


def test_a_worktree_is_a_clone(clone):
    git(clone, "add", "--all")
    git(clone, "commit", "--message", "All")
    git(clone, "worktree", "add", str(clone.parent / "other"))
    assert lane(clone.parent / "other", "use_view one; ls galaxy.yml") == "galaxy.yml\n"


def test_a_path_that_ansible_can_not_run_a_python_of_is_named(clone):
    (clone.parent / "umläut").mkdir()
    clone = clone.rename(clone.parent / "umläut" / "clone")
    assert lane(clone, "echo went on", **ODD) == "went on\n"
    clone = clone.rename(clone.parent / "my clone")
    said = lane(clone, "echo went on", status=1)
    assert said.startswith("Ansible can't run a Python whose path has a space") and said.endswith(f"It is in {clone}\n")


@pytest.mark.parametrize("name", ["fleet", "fleet-others"])
def test_a_skipped_lane_names_the_command_that_runs_it(clone, name):
    for script in ("fleet", "fleet-others"):
        shutil.copy(str(LANES / script), str(clone / "tests" / "lanes"))
    not_root = "id() { echo 1000; }; export -f id"
    said = lane(clone, f"{not_root}; bash tests/lanes/{name}", status=77)
    assert said.startswith("SKIP: ") and said.endswith(f": sudo make {name}\n")


SETTING_UP = "Setting up Ansible in .venv, once: some minutes\n"


@pytest.mark.parametrize(
    "has, status, said",
    [
        ("3.10", 0, SETTING_UP + "ansible-core 2.16\nwent on\n"),  # Ubuntu 22.04
        ("3.11", 0, SETTING_UP + "ansible-core 2.19\nwent on\n"),  # Debian 12
        ("3.12", 0, SETTING_UP + "ansible-core 2.21\nwent on\n"),
        (
            "3.9",
            1,
            "This needs Python 3.10 or newer with its venv module (Debian, Ubuntu: apt-get install python3-venv).\n",
        ),
    ],
)
def test_the_demo_takes_the_newest_ansible_core_that_this_python_runs(clone, has, status, said):
    shutil.copy(str(LANES / "with-demo"), str(clone / "tests" / "lanes"))
    with (clone / "tests" / "lanes" / "lib.sh").open("a") as lib:
        lib.write(f'python_for() {{ [[ " $* " = *" {has} "* ]] && echo python{has}; }}\n')
        lib.write('use_core() { echo "ansible-core $1"; }\nuse_view() { :; }\n')
    assert lane(clone, "bash tests/lanes/with-demo echo went on 2>&1", status=status) == said


# --- the user's home ---


@pytest.fixture(name="home")
def _home(tmp_path, monkeypatch):
    """The module, in a home that has little in it."""
    spec = importlib.util.spec_from_file_location("home", str(LANES / "home.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "homes", lambda: {tmp_path})
    return module


def test_a_lane_that_writes_where_its_tools_keep_things_in_a_home_is_blamed(home, tmp_path):
    before = home.listing()
    written = [".ansible/x", ".ansible_galaxy", ".cache/ansible-lint/a/b", ".local/lib/python3.12/site-packages/a.py"]
    for name in written:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert home.changes(before) == [str(tmp_path / name) for name in written]
    before = home.listing()
    (tmp_path / ".ansible" / "x").write_text("xy")
    (tmp_path / ".ansible_galaxy").unlink()
    (tmp_path / ".ansible" / "tmp").mkdir()
    assert [path[len(str(tmp_path)) :] for path in home.changes(before)] == [
        "/.ansible/tmp/",
        "/.ansible/x",
        "/.ansible_galaxy",
    ]


def test_what_others_write_in_a_home_is_no_lanes(home, tmp_path):
    before = home.listing()
    for name in (
        ".bash_history",
        ".viminfo",
        ".cache/pip/a",
        ".cache/other/a",
        ".config/Code/a",
        ".ssh/known_hosts",
        "work/a",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert before and home.changes(before) == []


def test_what_an_ansible_that_runs_has_there_is_not_a_lane_s_as_they_have_all_ended(home, tmp_path):
    before = home.listing()
    for number in (os.getpid(), 2**22 + 1):
        (tmp_path / ".ansible" / "tmp" / f"ansible-local-{number}a_b").mkdir(parents=True)
    assert home.changes(before) == [str(tmp_path / ".ansible" / "tmp" / f"ansible-local-{2**22 + 1}a_b") + os.sep]


def test_this_clone_may_lie_there(home, tmp_path, monkeypatch):
    clone = tmp_path / ".ansible" / "collections" / "ansible_collections" / "cloudops" / "azure_maintenance"
    clone.mkdir(parents=True)
    monkeypatch.setattr(home, "CLONE", clone)
    before = home.listing()
    (clone / "build").mkdir()
    (clone / "build" / "a").write_text("x")
    assert home.changes(before) == []
