# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One PowerShell on a Windows machine that stays, and carries out look.ps1 again and again: a start of its own costs 3 to 4 s each time.

Private to this collection.
"""

from __future__ import annotations

import contextlib
import json
import math
import secrets
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ansible.errors import AnsibleError

from ...module_utils._imds.transport import REQUESTS_PER_SECOND
from ...module_utils._text import one_line
from .._bounds import ANSWER
from .channels import CHANNELS, Broken, Channel
from .logins import Logins
from .machine import POWERSHELL, Execute

BEAT = 20.0
"""Seconds after which a word is said, also between two calls: policies let WinRM end what was idle for three minutes."""

START = 60.0
"""Seconds in which it has started: 1 to 3 s, 14 s where the machine is very busy."""

PROVEN = 2.0
"""Seconds from its last answer after which it is asked first whether it is still there: the machine may have been rebooted meanwhile."""

ANSWERS = 15.0
"""Seconds in which it says so."""

PAUSE = 1.0 / REQUESTS_PER_SECOND
"""Seconds between two requests to the metadata service."""

SPARE = 60.0
"""Seconds beside its requests' own in which an answer comes."""


class Standing:
    """
    :arg connection: Ansible's to the machine, which is used for other things between the calls as well
    :arg logins: the account that it is logged in with

    :attr is_only_slow: whether the last look failed here, over a connection that carries words: so that can be used further
    """

    is_only_slow = False

    def __init__(self, connection: Any, logins: Logins) -> None:
        self._connection, self._logins = connection, logins
        self._lock = threading.RLock()
        self._channel: Channel | None = None
        self._name, self._number, self._unread = "", 0, b""
        self._heard = self._polled = 0.0
        self._ends = threading.Event()

    def look(self, requests: Sequence[Mapping[str, Any]], seconds: float) -> dict[str, Any]:
        """What look.ps1 makes of these requests.

        :arg seconds: that it may take
        :raises Broken: there is no answer; whether it was carried out is not known where it had been sent
        """
        polls, until = any(one["Do"] == "http" for one in requests), time.monotonic() + seconds
        with self._lock:
            self.is_only_slow = False
            try:
                self._make_sure(until)
                if polls:  # after one another the script sends them at this pace, too
                    time.sleep(max(0.0, self._polled + PAUSE - time.monotonic()))
                return self._asked(requests, until)
            except Broken:
                self._drop()
                self.is_only_slow = True
                raise
            except BaseException:
                # Of the connection: to end it politely would take its time again.
                self._channel = None
                raise
            finally:
                self._polled = time.monotonic() if polls else self._polled

    def alone(self) -> AbstractContextManager[Any]:
        """To be used in a ``with`` where something else goes over the connection: encrypted, it carries one exchange at a time."""
        return self._lock

    def close(self) -> None:
        """Let it end. Never fails."""
        self._ends.set()
        with self._lock:
            self._drop()

    def _make_sure(self, until: float) -> None:
        """Have one that lives, so that whatever is sent to it arrives."""
        if self._channel and time.monotonic() - self._heard > PROVEN:
            try:
                self._asked([], min(until, time.monotonic() + ANSWERS))
            except Exception:  # of the connection's libraries, too
                self._channel = None
        if not self._channel:
            self._start(until)

    def _start(self, until: float) -> None:
        self._name, self._unread = secrets.token_hex(8), b""
        try:
            with self._logins.turn():
                self._channel = CHANNELS[self._connection.transport](self._connection, self._name)
            hello = self._read(min(until, time.monotonic() + START))
            if hello.get("line") != self._name:
                raise Broken(f"something else than PowerShell answered: {one_line(json.dumps(hello), 200)}")
        except Broken as error:  # what it said tells why it can't run there
            self._drop()
            self.is_only_slow = True
            raise AnsibleError(str(error)) from error
        if not self._number:
            threading.Thread(target=self._beat, daemon=True).start()

    def _asked(self, requests: Sequence[Mapping[str, Any]], until: float) -> dict[str, Any]:
        self._number += 1
        asked = f"{self._name} {self._number}"
        self._send(json.dumps({"id": asked, "requests": list(requests)}).encode("ascii") + b"\n")
        answer = self._read(until)
        if answer.get("id") != asked or not isinstance(answer.get("result"), dict):
            why = answer.get("error") or "its answer is none to what was asked"
            raise Broken(f"PowerShell could not carry it out ({one_line(why, 300)})")
        found: dict[str, Any] = answer["result"]
        return found

    def _read(self, until: float) -> dict[str, Any]:
        """The next line; says meanwhile that somebody is still there."""
        beat = time.monotonic() + BEAT
        while b"\n" not in self._unread:
            now = time.monotonic()
            if now >= until:
                raise Broken("PowerShell gave no answer in time")
            if now >= beat:
                self._send(b"\n")
                beat = now + BEAT
            self._unread += self._held().receive(min(until, beat) - now)
            if len(self._unread) > ANSWER:
                raise Broken(f"its answer has more than {ANSWER} bytes")
        text, self._unread = self._unread.split(b"\n", 1)
        self._heard = time.monotonic()
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise Broken(f"PowerShell answered something else: {one_line(text.decode('ascii', 'replace'), 200)}")
        return found

    def _send(self, data: bytes) -> None:
        self._held().send(data)

    def _held(self) -> Channel:
        if self._channel is None:
            raise Broken("PowerShell has ended")
        return self._channel

    def _drop(self) -> None:
        channel, self._channel = self._channel, None
        if channel:
            channel.close()

    def _beat(self) -> None:
        while not self._ends.wait(BEAT):
            # In a call whoever waits for the answer does the same; and something else may go over the connection.
            if self._lock.acquire(blocking=False):
                try:
                    with contextlib.suppress(Exception):  # the next call finds out
                        if self._channel:
                            self._send(b"\n")
                finally:
                    self._lock.release()


def over(stays: Standing, execute: Execute, until: float = math.inf) -> Execute:
    """Runs look.ps1 over the one that stays, and all else as before.

    :arg until: when an answer is too late, by time.monotonic
    """

    def executed(module: str, arguments: dict[str, Any]) -> Mapping[str, Any]:
        if module != POWERSHELL:
            with stays.alone():
                return execute(module, arguments)
        requests = arguments["parameters"]["Requests"]
        took = sum(one.get("TimeoutMs", 0) + one.get("LimitMs", 0) for one in requests) / 1000
        return {"result": stays.look(requests, max(0.0, min(took + SPARE, until - time.monotonic())))}

    return executed
