# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import trust


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "etc" / "hooks" / "10-app"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\n")
    for one in (path, path.parent, path.parent.parent):
        one.chmod(0o755)
    return path


def test_a_file_that_only_its_owner_can_change(file):
    assert trust.objection(str(file)) == trust.unfit(str(file)) == ""


@pytest.mark.parametrize("mode", [0o775, 0o757])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_it_and_each_folder_above_it_count(file, depth, mode):
    open_one = [file, *file.parents][depth]
    open_one.chmod(mode)
    assert trust.objection(str(file)) == (
        f"{open_one} is writable by users other than root (mode {mode:04o}): chmod go-w {open_one}"
    )


def test_a_sticky_folder_is_fine_and_a_sticky_file_is_not(file):
    file.parent.chmod(0o1777)
    assert trust.objection(str(file)) == ""
    file.chmod(0o1777)
    assert "is writable by users other than root" in trust.objection(str(file))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
@pytest.mark.parametrize("depth", [0, 1])
def test_another_users(file, depth):
    hers = [file, *file.parents][depth]
    os.chown(str(hers), 12345, 0)
    assert trust.objection(str(file)) == f"{hers} belongs to user number 12345, not to root: chown root {hers}"


def test_links_are_followed_one_by_one(file, tmp_path):
    """The folder of a link in the middle counts: whoever can write there can bend it."""
    (tmp_path / "middle").mkdir()
    (tmp_path / "middle" / "link").symlink_to(file)
    first = tmp_path / "first"
    first.symlink_to("middle/link")
    assert trust.objection(str(first)) == ""
    (tmp_path / "middle").chmod(0o777)
    assert trust.objection(str(first)).startswith(f"{tmp_path}/middle is writable by users other than root")


def test_a_folder_that_is_a_link(file, tmp_path):
    (tmp_path / "away").mkdir()
    (tmp_path / "away" / "hooks").symlink_to(os.path.join(os.pardir, "etc", "hooks"))
    through = tmp_path / "away" / "hooks" / "10-app"
    assert trust.objection(str(through)) == ""
    (tmp_path / "etc").chmod(0o777)
    assert trust.objection(str(through)).startswith(f"{tmp_path}/etc is writable by users other than root")


def test_what_is_no_file_or_not_there_or_leads_nowhere(file, tmp_path):
    assert trust.objection(str(file.parent)) == f"{file.parent} is no file"
    assert trust.objection(str(tmp_path / "x")) == f"{tmp_path}/x can't be read: No such file or directory"
    (tmp_path / "round").symlink_to("round")
    assert trust.objection(str(tmp_path / "round")).endswith("can't be read: Too many levels of symbolic links")
    os.mkfifo(str(tmp_path / "pipe"))
    assert trust.objection(str(tmp_path / "pipe")).endswith("is no file")


def test_one_that_can_not_be_executed_is_trusted_and_not_run(file):
    file.chmod(0o644)
    assert trust.objection(str(file)) == ""
    assert trust.unfit(str(file)) == f"{file} is not executable: chmod +x {file}"
