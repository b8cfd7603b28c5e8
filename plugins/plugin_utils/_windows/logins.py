# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who logs in on Windows machines, and when no longer: who tries a wrong password again and again locks the account, and with it all of its
machines.

Private to this collection.

What is known of an account is in a file of the temporary folder of ansible-playbook, as each line is a process. An account that no machine has
let in yet is tried by one after the other, and after two refusals by none. One that was let in has the right password: then a refusal is about
the machine, such as one that has just been started, and that one tries again, but seldom.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterator
from typing import IO, Any

from ansible import constants

from ...module_utils._clock import steady
from .connection_errors import is_rejection
from .machine import WindowsProblem

TRIES = 2
"""Refusals after which an account is not tried any more."""

AGAIN = 120.0
"""Seconds after which a machine may be tried again whose user others have let in. Accounts are locked by five to ten refusals in 10 minutes."""

TURN = 5.0
"""Seconds that a login waits at most for another one of its account: a refusal comes at once, and the other machine may hang."""


class Logins:
    """One account on one machine.

    :arg user: as the inventory has it; without a domain it is each machine's own
    :arg machine: the host
    """

    def __init__(self, user: str, machine: str) -> None:
        is_shared = "@" in user or ("\\" in user and not user.startswith(".\\"))
        name = user.lower() if is_shared else f"{user.lower()} {machine}"
        file = f"azure-maintenance-login-{hashlib.sha256(name.encode()).hexdigest()[:32]}"
        self._user, self._machine = user, machine
        self._path = os.path.join(str(constants.DEFAULT_LOCAL_TMP), file)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """To be used around a login.

        :raises WindowsProblem: it may not be tried
        """
        with open(f"{self._path}.lock", "a", encoding="ascii") as lock:
            until = time.monotonic() + TURN
            while not self._known()["accepted"] and not _locked(lock) and time.monotonic() < until:
                time.sleep(0.05)
            known = self._known()
            self._refuse(known)
            try:
                yield
            except Exception as error:  # of pywinrm and pypsrp, too
                if is_rejection(str(error)):
                    self._note(refused=True)
                raise
            if not known["accepted"] or self._machine in known["refused"]:
                self._note(refused=False)

    def _refuse(self, known: dict[str, Any]) -> None:
        refused = known["refused"]
        if known["accepted"]:
            count, last = refused.get(self._machine, (0, 0.0))
            if count >= TRIES and steady() - last < AGAIN:
                raise WindowsProblem(
                    f"{self._machine} refuses the user {self._user}, who was let in before: it is tried again every {AGAIN / 60:g} minutes, as more "
                    "tries may lock the account. See whether its password was changed, and whether the machine reaches its domain."
                )
        elif sum(count for count, _last in refused.values()) >= TRIES:
            raise WindowsProblem(
                f"The user {self._user} was refused by {', '.join(sorted(refused))}, and is not tried any more in this run, as that may lock the "
                "account. Correct ansible_user and ansible_password, see that the account is neither locked nor expired, and run this again."
            )

    def _known(self) -> dict[str, Any]:
        """
        :return: ``accepted``, whether any machine has let it in, and ``refused``: by machine, how often since that did, and when last
        """
        try:
            with open(self._path, encoding="utf-8") as file:
                found: dict[str, Any] = json.load(file)
        except OSError:
            return {"accepted": False, "refused": {}}
        return found

    def _note(self, refused: bool) -> None:
        known = self._known()
        if refused:
            count = known["refused"].get(self._machine, (0, 0.0))[0]
            known["refused"][self._machine] = (count + 1, steady())
        else:
            known["refused"].pop(self._machine, None)
            known["accepted"] = True
        new = f"{self._path}.{os.getpid()}"  # a reader sees all of it or nothing
        with open(new, "w", encoding="utf-8") as file:
            json.dump(known, file)
        os.replace(new, self._path)


def _locked(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
