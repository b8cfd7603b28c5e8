# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secret: read when it is used, from a file that nobody else reads; and the signature, as receivers check it."""

import os

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import trust
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_daemon import (
    SecretError,
    read_secret,
    signature,
)


@pytest.fixture(autouse=True)
def closed(monkeypatch):
    """Where no mode of a file says it, whom it is open to is tested in tests/wine."""
    if os.name == "nt":
        monkeypatch.setattr(trust, "secret_objection", lambda path: "")


def a_secret(folder, content=b"s3cret\n", mode=0o600, name="eda"):
    path = folder / name
    path.write_bytes(content)
    path.chmod(mode)
    return str(path)


def test_the_signature_is_githubs():
    # The example of GitHub's own documentation ("Validating webhook deliveries")
    assert signature(b"Hello, World!", b"It's a Secret to Everybody") == (
        "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    )


@pytest.mark.parametrize("content", [b"s3cret", b"s3cret\n", b"s3cret\r\n"])
def test_it_is_read_without_the_end_of_its_line(tmp_path, content):
    assert read_secret(a_secret(tmp_path, content), {}) == b"s3cret"


def test_a_credential_of_systemd_comes_first(tmp_path):
    (tmp_path / "credentials").mkdir()
    environment = {"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")}
    path = a_secret(tmp_path)
    assert read_secret(path, environment) == b"s3cret"
    a_secret(tmp_path / "credentials", b"other", 0o440)
    assert read_secret(path, environment) == b"other"
    os.unlink(path)
    assert read_secret(path, environment) == b"other"


@pytest.mark.parametrize("mode", [0o604, 0o602, 0o620, 0o610, 0o601])
def test_one_that_others_may_touch_is_refused(tmp_path, mode):
    with pytest.raises(
        SecretError, match="others may read or change the secret file .*: make it root's, with mode 0600"
    ):
        read_secret(a_secret(tmp_path, mode=mode), {})


@pytest.mark.parametrize(
    "content, words", [(b"", "is empty"), (b"\n", "is empty"), (b"x" * 5000, "has more than 4096 bytes")]
)
def test_what_is_no_secret(tmp_path, content, words):
    with pytest.raises(SecretError, match=words):
        read_secret(a_secret(tmp_path, content), {})


def test_nothing_is_there(tmp_path):
    with pytest.raises(SecretError, match="can't be read: No such file or directory"):
        read_secret(str(tmp_path / "none"), {})
    with pytest.raises(SecretError, match="is no file"):
        read_secret(str(tmp_path), {})


def test_a_pipe_holds_nobody_up(tmp_path):
    os.mkfifo(str(tmp_path / "pipe"), 0o600)
    with pytest.raises(SecretError, match="is no file"):
        read_secret(str(tmp_path / "pipe"), {})
