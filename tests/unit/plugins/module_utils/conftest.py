# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import functools
import shutil
import subprocess

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.store import FolderStore
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils.scripted import ScriptedTransport
from ansible_collections.cloudops.azure_maintenance.tests.unit.schemas import MARK, wrong


@pytest.fixture(autouse=True)
def marks_are_as_the_schema_says(monkeypatch):
    """Every mark that a test has written, by whichever call. Found at its end, as a call turns what goes wrong in it into an answer."""
    found = []

    def checked(write):
        @functools.wraps(write)
        def checks(store, mark, *more):
            returned = write(store, mark, *more)
            found.extend(wrong(mark, MARK))
            return returned

        return checks

    for name in ("create", "replace", "replace_unreadable"):
        monkeypatch.setattr(FolderStore, name, checked(getattr(FolderStore, name)))
    yield
    assert found == []


@pytest.fixture
def transport():
    """A Transport whose whole script must have been played when the test is over."""
    scripted = ScriptedTransport()
    yield scripted
    scripted.finish()


@pytest.fixture
def clock(transport):
    return transport.clock


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """Files of an authority, and of a server that it has signed."""
    if not shutil.which("openssl"):
        pytest.skip("openssl, which would make certificates, is not on PATH")
    folder = tmp_path_factory.mktemp("authority")

    def openssl(*arguments):
        subprocess.check_output(["openssl", *arguments], cwd=str(folder), stderr=subprocess.STDOUT)

    (folder / "names").write_text("subjectAltName=DNS:localhost\n", encoding="ascii")
    key = ["-newkey", "rsa:2048", "-nodes"]
    own = ["-days", "2", "-subj", "/CN=Test authority", "-addext", "keyUsage=critical,keyCertSign"]
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", *own)
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names", "-days", "2"]
    openssl("x509", "-req", "-in", "server.csr", "-out", "server.pem", *signed)
    return folder
