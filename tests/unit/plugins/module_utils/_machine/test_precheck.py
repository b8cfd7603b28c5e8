# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Request `ready`: what speaks against taking a machine out of service, by a look that changes nothing."""

import errno
import os
import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import files, program, store
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.acting import Machine, step

READY = {"do": "ready"}


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path / "var" / "marks", step("one"), step("two", elsewhere=True), step("three"))


def asked(machine):
    (answer,) = machine.call(READY)["answers"]
    return answer


def test_nothing_speaks_against_it_and_nothing_is_left_behind(machine, tmp_path):
    assert asked(machine) == {"mark": "", "lacks": {}, "wall": machine.clock.wall()}
    assert list(tmp_path.iterdir()) == [] and machine.world.journal == []


def test_what_its_own_steps_lack_is_said_of_each(machine):
    machine.world.initial_states = {"one": "this machine has no one", "two": "not asked here", "three": "nor a three"}
    assert asked(machine)["lacks"] == {"command one": "this machine has no one", "command three": "nor a three"}


def test_a_hand_that_fails_is_no_end_of_the_look(machine, monkeypatch):
    monkeypatch.setattr(type(machine.world), "initial_states", {"one": 5}, raising=False)
    machine.world.initial_states = None
    assert asked(machine)["lacks"]["command three"].startswith("it could not be checked: ")


def test_a_look_has_its_time(machine, monkeypatch):
    monkeypatch.setattr(program, "PRECHECK_SECONDS", 0.0)
    assert asked(machine)["lacks"]["command one"] == "no time was left to check it"


# ---- whether a mark can be written ----


def test_a_folder_that_is_there_counts_itself(machine):
    machine.folder.mkdir(parents=True)
    assert asked(machine)["mark"] == ""
    machine.folder.chmod(0o777)
    assert "all may write there" in asked(machine)["mark"]


def test_a_file_in_its_place(machine, tmp_path):
    (tmp_path / "var").write_text("")
    assert asked(machine)["mark"].startswith(f"{machine.folder} can't be written (Not a directory): see what")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_the_user_may_not_write(machine, tmp_path):
    tmp_path.chmod(0o500)
    assert "(Permission denied): set ansible_become to true there" in asked(machine)["mark"]
    tmp_path.chmod(0o700)


def test_a_folder_that_nobody_may_write(machine, monkeypatch):
    monkeypatch.setattr(files.os, "access", lambda *arguments, **options: False)
    assert "(Permission denied): set ansible_become to true there" in asked(machine)["mark"]


LARGE = {"f_flag": 0, "f_frsize": 4096, "f_blocks": 9999, "f_bfree": 9999, "f_bavail": 9999}
LARGE.update(f_files=100, f_ffree=50, f_favail=50)


@pytest.mark.parametrize(
    "system, number",
    [
        ({}, 0),
        ({"f_bfree": 2, "f_bavail": 2}, errno.ENOSPC),
        ({"f_ffree": 0, "f_favail": 0}, errno.ENOSPC),
        ({"f_files": 0, "f_ffree": 0, "f_favail": 0}, 0),
        ({"f_blocks": 0, "f_bfree": 0, "f_bavail": 0}, 0),
        ({"f_flag": os.ST_RDONLY}, errno.EROFS),
    ],
)
def test_what_the_file_system_has(monkeypatch, tmp_path, system, number):
    said = types.SimpleNamespace(**dict(LARGE, **system))
    monkeypatch.setattr(files.os, "statvfs", lambda path: said)
    assert files.refusal(str(tmp_path / "not" / "there"), store.ROOM) == number


def test_a_folder_without_one_above_it(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert files.refusal("marks", store.ROOM) == 0
