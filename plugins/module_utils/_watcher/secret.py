# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The secret that a report is signed with: read when it is used, and nowhere else.

Private to this collection.

It stands in no command line, no environment, no log and in nothing that is kept. Where systemd hands it over as a credential
(``LoadCredential=NAME:PATH``, NAME being that of the file), that one is taken.
"""

import hashlib
import hmac
import os
import stat
from typing import Mapping

from .._machine.platform import native

LONGEST = 4096
HEADER = "X-Hub-Signature-256"


class SecretProblem(Exception):
    """Why there is no secret to sign with, in a sentence."""


def signature(body: bytes, secret: bytes) -> str:
    """The value of :data:`HEADER`, as GitHub made it known: what Event-Driven Ansible checks."""
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def read_secret(path: str, environment: Mapping[str, str]) -> bytes:
    """The secret in a file, without the end of its line.

    :arg environment: where systemd says in which folder its credentials are
    :raises SecretProblem: when there is none, or others than its user may read it
    """
    folder = environment.get("CREDENTIALS_DIRECTORY") or ""
    credential = os.path.join(folder, os.path.basename(path))
    if folder and os.path.exists(credential):
        path = credential
    try:
        descriptor = os.open(path, os.O_RDONLY | native.AT_ONCE)
        try:
            _check(path, os.fstat(descriptor))
            content = os.read(descriptor, LONGEST + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise SecretProblem(f"the secret file {path} can't be read: {error.strerror or error}") from error
    secret = content.rstrip(b"\r\n")
    if not secret:
        raise SecretProblem(f"the secret file {path} is empty")
    if len(content) > LONGEST:
        raise SecretProblem(f"the secret file {path} has more than {LONGEST} bytes")
    return secret


def _check(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SecretProblem(f"the secret file {path} is no file")
    if not native.is_ours(found):
        raise SecretProblem(f"the secret file {path} is another user's: make it root's, with mode 0600")
    # Systemd gives its credentials a mode that the group may read, with a list that names one user
    if native.open_to(found, 0o037):
        raise SecretProblem(f"others may read or change the secret file {path}: make it root's, with mode 0600")
