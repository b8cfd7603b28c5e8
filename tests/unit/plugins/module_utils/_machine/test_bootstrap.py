# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a call sends first: the program is put into a folder that is its user's alone, once, and run from there."""

import io
import json
import os
import pathlib
import subprocess
import sys
import time
import zipfile

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import bootstrap

SAYS = (
    "import json, sys\nfrom inside import word\n"
    "print(sys.argv[1] + json.dumps([word, sys.stdin.read(), sys.flags.no_site]))\n"
)
ANSWER = ["hello", "the call", 1]
TAG = sys.implementation.cache_tag


def zipped(**files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name + ".py", text)
    return buffer.getvalue()


PROGRAM = zipped(__main__=SAYS, inside="word = 'hello'\n")


def started(folders, is_sent=True, name="n", more=0, program=None):
    """Run it as a machine would, by its text alone; returns what it says behind the marker."""
    text = pathlib.Path(bootstrap.__file__).read_text()
    program = program or PROGRAM
    arguments = ([str(folder) for folder in folders], name, len(program) + more, is_sent, "> ")
    code = f"{text}\nstart(*{arguments!a})\n".encode()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", "-B", "-c", f"import sys; exec(sys.stdin.buffer.read({len(code)}))"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    said = process.communicate(code + (program if is_sent else b"") + b"the call")[0].decode()
    return json.loads(said.split("> ")[1])


def program_in(folder):
    (own,) = folder.glob("azure-maintenance-*")
    (program,) = own.iterdir()
    return program


def test_it_is_missing_until_it_is_sent_and_stays(tmp_path):
    assert started([tmp_path], is_sent=False) == {"missing": True}
    assert list(tmp_path.iterdir()) == []
    assert started([tmp_path]) == ANSWER
    program = program_in(tmp_path)
    assert program.name == "n." + TAG
    assert program.stat().st_mode & 0o777 == 0o600 and program.parent.stat().st_mode & 0o777 == 0o700
    program.chmod(0o400)
    assert started([tmp_path], is_sent=False) == started([tmp_path]) == ANSWER
    assert program_in(tmp_path).stat().st_mode & 0o777 == 0o400  # it was not written again


def test_it_is_told_where_it_lies(tmp_path):
    says = zipped(__main__="import json, sys\nprint(sys.argv[1] + json.dumps(sys.argv[2:]))\n")
    assert started([tmp_path], program=says) == [str(program_in(tmp_path).parent)]


def test_another_program_is_another_file(tmp_path):
    assert started([tmp_path]) == ANSWER
    assert started([tmp_path], is_sent=False, name="m") == {"missing": True}


def test_a_program_that_is_broken_is_put_there_again(tmp_path):
    started([tmp_path])
    program_in(tmp_path).write_bytes(b"")
    assert started([tmp_path], is_sent=False) == {"missing": True}
    assert started([tmp_path]) == started([tmp_path], is_sent=False) == ANSWER


@pytest.mark.parametrize("where", ["folder", "link", "owner"])
def test_what_others_can_write_is_not_run(tmp_path, where):
    started([tmp_path])
    own = program_in(tmp_path).parent
    if where == "folder":
        own.chmod(0o770)
    elif where == "link":
        own.rename(tmp_path / "elsewhere")
        own.symlink_to(tmp_path / "elsewhere")
    elif os.geteuid() == 0:
        os.chown(str(own), 65534, 65534)
    else:
        pytest.skip("only root can give a folder away")
    assert started([tmp_path], is_sent=False) == {"missing": True}
    assert started([tmp_path]) == {"unwritable": f"{own}/n.{TAG}: others than this user may write there"}


@pytest.mark.parametrize("mode, is_trusted", [(0o755, True), (0o1777, True), (0o777, False), (0o775, False)])
def test_where_others_can_put_another_folder_in_its_place_it_is_not_run(tmp_path, mode, is_trusted):
    """A program of theirs could be there in the moment after it was looked at, and root runs it."""
    above = tmp_path / "above"
    (above / "tmp").mkdir(parents=True)
    above.chmod(mode)
    folders = [above / "tmp", tmp_path / "second"]
    assert started(folders) == started(folders, is_sent=False) == ANSWER
    assert (tmp_path / "second").exists() is not is_trusted
    above.chmod(0o755)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_under_another_users_is_not_used(tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(str(theirs), 65534, 65534)
    assert started([theirs / "tmp", tmp_path / "second"]) == ANSWER
    assert not list(theirs.glob("tmp/*/n.*")) and program_in(tmp_path / "second").name == "n." + TAG


def test_a_link_on_the_way_is_followed_once(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert bootstrap._own(str(tmp_path / "link" / "x")).startswith(str(tmp_path / "real" / "x" / "azure-maintenance-"))


def test_nobody_else_gets_to_what_is_made_above_it(tmp_path):
    """Whatever the umask: with 002, as of users of Red Hat, the group could exchange it."""
    mask = os.umask(0o002)
    try:
        assert started([tmp_path / "one" / "two"]) == ANSWER
    finally:
        os.umask(mask)
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "one", tmp_path / "one" / "two")} == {0o700}


def test_programs_that_were_not_in_use_for_a_week_are_removed(tmp_path):
    for name in ("old", "used", "new"):
        assert started([tmp_path], name=name) == ANSWER
    (own,) = tmp_path.glob("azure-maintenance-*")
    (own / "tmpabc").write_bytes(b"cut off")
    for name in (f"old.{TAG}", f"used.{TAG}", "tmpabc"):
        os.utime(str(own / name), (time.time() - 8 * 86400,) * 2)
    assert started([tmp_path], is_sent=False, name="used") == ANSWER
    assert started([tmp_path], name="newest") == ANSWER
    assert {path.name for path in own.iterdir()} == {f"{name}.{TAG}" for name in ("used", "new", "newest")}


def test_letters_that_the_locale_does_not_have(tmp_path, monkeypatch):
    for name, value in (("LC_ALL", "C"), ("PYTHONUTF8", "0"), ("PYTHONCOERCECLOCALE", "0")):
        monkeypatch.setenv(name, value)
    folder = tmp_path / "\u00fc"
    assert started([folder]) == started([folder], is_sent=False) == ANSWER
    assert program_in(folder).name == "n." + TAG


def test_one_that_this_python_does_not_take_is_put_there_again(tmp_path):
    """A magic number may change without the name of Python's caches."""
    started([tmp_path])
    with zipfile.ZipFile(str(program_in(tmp_path)), "w") as archive:
        archive.writestr("__main__.pyc", b"no magic" * 4)
    assert started([tmp_path], is_sent=False) == {"missing": True}
    assert started([tmp_path]) == ANSWER


def test_the_next_folder_stands_in(tmp_path):
    (tmp_path / "file").write_text("")
    folders = [tmp_path / "file" / "x", tmp_path / "second"]
    assert started(folders) == started(folders, is_sent=False) == ANSWER
    program_in(tmp_path / "second")
    refused = f"{folders[0]}/azure-maintenance-{os.geteuid()}/n.{TAG}: Not a directory"
    assert started(folders[:1]) == {"unwritable": refused}


def test_a_program_that_came_in_part_is_not_written(tmp_path):
    refused = started([tmp_path], more=1000)
    assert refused["unwritable"].endswith(": the connection was cut while it came")
    assert list(tmp_path.iterdir()) == []


def test_home_is_the_users_own_whatever_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(bootstrap.pwd, "getpwuid", lambda user: type("", (), {"pw_dir": f"/home/{user}"}))
    user = os.geteuid()
    assert bootstrap._own("~/.x") == f"/home/{user}/.x/azure-maintenance-{user}"
    assert bootstrap._own("/x") == f"/x/azure-maintenance-{user}"

    def unknown(_user):
        raise KeyError

    monkeypatch.setattr(bootstrap.pwd, "getpwuid", unknown)
    assert bootstrap._own("~/.x") == f"{tmp_path}/.x/azure-maintenance-{user}"
