# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""look.ps1 in virtual time, line by line: what it does with a list of requests, and how long that takes.

Functions here bear the names that they have there. It does no more than the script, and goes wrong where that does: by what its disk
throws and its metadata service answers.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any, Protocol

from ..clock import Clock, Life
from .disk import Disk, IoThrown, Missing, Thrown

PATIENCE = 2.0  # seconds for which Wait-Shared tries again
WRITES = 0.02  # seconds that it takes to write a file and have it on the disk
REPLACES = 0.005  # seconds in which the file is gone, and its new content is not there yet

Answer = dict[str, Any]


class Service(Protocol):
    """What answers at an address."""

    def exchange(self, request: dict[str, Any], limit: float, run: str, by: str) -> Life:
        """What it answers, after as long as that takes."""

    def until_other(self, longest: float) -> Life:
        """Wait until it would answer otherwise, at most so many seconds."""


class Host(Protocol):
    """What the script finds on its machine."""

    clock: Clock
    disk: Disk
    service: Service

    @property
    def clock_ms(self) -> int:
        """Milliseconds since its boot."""

    def get_boot(self) -> Life:
        """Which boot this is."""

    def get_trust(self, path: str) -> Answer:
        """Whether only those who may can write there."""

    def frozen(self) -> Life:
        """Stand still for as long as the machine does."""

    def hangs_while_writing(self) -> Life:
        """Where a disk that hangs is waited for."""

    def replacing(self) -> None:
        """The old file is gone, and the new one not there yet."""

    def written(self, path: str, before: bytes | None, run: str) -> None:
        """A file was written, which had this content before."""


class Script:
    """One list of requests.

    :arg run: of whom it is, for the journal of the life
    :arg by: the PowerShell that carries it out
    """

    def __init__(self, host: Host, run: str, by: str = "") -> None:
        self.host, self.run, self.by = host, run, by

    def result(self, requests: list[dict[str, Any]]) -> Life:
        """What it makes of them."""
        answers, stopped, asked = [], False, False
        for request in requests:
            if stopped:
                answers.append({"failure": "Skipped", "message": "an earlier request failed", "part": "stop"})
                continue
            if asked and request["Do"] == "http":
                yield from self._sleep(0.2)
            asked = asked or request["Do"] == "http"
            try:
                answer = _compare_expected((yield from self._invoke_request(request)), request["Expect"])
            except Thrown as thrown:
                answer = {"failure": thrown.failure, "message": str(thrown), "part": request["Do"]}
            stopped = request["Stop"] and ("failure" in answer or answer.get("status", 0) >= 300)
            answers.append(answer)
        return {"answers": answers}

    def _invoke_request(self, request: dict[str, Any]) -> Life:
        do = request["Do"]
        if do == "http":
            return (yield from self._wait_change(request))
        if do == "boot":
            return (yield from self.host.get_boot())
        path = request["Path"]
        if do == "trust":
            return self.host.get_trust(path)
        if do == "folder":
            return (yield from self._read_folder(path))
        if do == "edit":
            return (yield from self._edit_file(path, request))
        return {"body": (yield from self._read_file(path))}

    # ---- http ----

    def _test_late(self, request: dict[str, Any]) -> bool:
        if request["UntilMs"] == 0:
            return False
        return not request.get("FromMs", 0) <= self.host.clock_ms <= request["UntilMs"]

    def _send_request(self, request: dict[str, Any]) -> Life:
        if self._test_late(request):
            return _late()
        limit = request["TimeoutMs"]
        if request["UntilMs"] != 0:
            limit = max(1, min(limit, request["UntilMs"] - self.host.clock_ms))
        return (yield from self.host.service.exchange(request, limit / 1000, self.run, self.by))

    def _wait_change(self, request: dict[str, Any]) -> Life:
        started, polls = self._now, 0
        while True:
            last = self._since(started) >= request["LimitMs"]
            answer = yield from self._send_request(request)
            polls += 1
            same = answer.get("status") == 304 or (answer.get("status") == 200 and answer["body"] == request["Known"])
            if last or not same:
                return {**answer, "polls": polls}
            pause = max(0.2, min(request["IntervalMs"] / 1000, self._left(request, started)))
            # Polls that see nothing else are only counted.
            idle = yield from self.host.service.until_other(self._left(request, started))
            polls += int(idle / pause)
            yield from self._sleep(max(0.2, min(pause - idle % pause, self._left(request, started))))

    def _left(self, request: dict[str, Any], started: float) -> float:
        return max(0.0, request["LimitMs"] / 1000 - (self._now - started))

    # ---- files ----

    def _wait_shared(self, action: Callable[[], Any]) -> Life:
        began = self._now
        while True:
            try:
                return action()
            except IoThrown as thrown:
                if isinstance(thrown, Missing) or self._now - began > PATIENCE:
                    raise
            yield from self._sleep(0.05)

    def _read_file(self, path: str) -> Life:
        for name in (path, f"{path}.old"):
            try:
                content = yield from self._wait_shared(lambda name=name: self.host.disk.read(name))
            except Missing:
                continue
            return base64.b64encode(content).decode("ascii")
        return None

    def _edit_file(self, path: str, request: dict[str, Any]) -> Life:
        disk = self.host.disk
        folder = path.rpartition("\\")[0]
        disk.make_folder(folder)
        lock = f"{folder}\\lock"
        yield from self._wait_shared(lambda: disk.open_alone(lock))
        try:
            there = yield from self._read_file(path)
            if request["Compare"] and there != request["Known"]:
                return _changed(path, there)
            if self._test_late(request):
                return _late()
            before = None if there is None else base64.b64decode(there)
            yield from self.host.hangs_while_writing()
            if request["Body"] is None:
                yield from self._wait_shared(lambda: self._delete(path))
            else:
                yield from self._write(path, base64.b64decode(request["Body"]))
            self.host.written(path, before, self.run)
            return {"body": request["Body"]}
        finally:
            disk.close(lock)

    def _delete(self, path: str) -> None:
        self.host.disk.delete(f"{path}.old")
        self.host.disk.delete(path)

    def _write(self, path: str, content: bytes) -> Life:
        disk, new = self.host.disk, f"{path}.new"
        yield from self._wait_shared(lambda: disk.open_alone(new))
        try:
            yield from self._sleep(WRITES)
            disk.write(new, content)
        finally:
            disk.close(new)
        if path in disk.files:
            yield from self._wait_shared(lambda: disk.move(path, f"{path}.old"))
            self.host.replacing()
            yield REPLACES
        yield from self._wait_shared(lambda: disk.move(new, path))
        try:
            disk.delete(f"{path}.old")
        except Thrown:
            pass  # it is read only where the file itself is missing

    def _read_folder(self, path: str) -> Life:
        found = {}
        for file in self.host.disk.listed(path):
            found[file.rpartition("\\")[2]] = yield from self._read_file(file)
        return {"files": found, "count": len(found)}

    # ---- time ----

    @property
    def _now(self) -> float:
        return self.host.clock.now

    def _since(self, started: float) -> int:
        return int((self._now - started) * 1000)

    def _sleep(self, seconds: float) -> Life:
        yield seconds
        yield from self.host.frozen()


def _late() -> Answer:
    return {"failure": "Skipped", "message": "it came too late", "part": "late"}


def _compare_expected(answer: Answer, expected: dict[str, Any]) -> Answer:
    changed = [] if "failure" in answer else [name for name in expected if answer.get(name) != expected[name]]
    if changed:
        return {**answer, "failure": "Changed", "message": f"{changed[0]} is not what it was", "part": "expect"}
    return answer


def _changed(path: str, there: str | None) -> Answer:
    return {"failure": "Changed", "message": f"{path} is not what it was", "part": "compare", "body": there}
