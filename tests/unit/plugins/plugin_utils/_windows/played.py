# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What look.ps1 does with a list of requests, played in Python, for servers and disks that do no wrong.

This shows what is made of its answers, not that look.ps1 works.
"""

import base64
import http.client
import pathlib
import time
import urllib.parse

SKIPPED = {"failure": "Skipped", "message": "an earlier request failed", "part": "stop"}
BUSY = {"failure": "Busy", "message": "The process cannot access the file", "part": "edit"}
LATE = {"failure": "Skipped", "message": "it came too late", "part": "late"}


class PlayedMachine:
    """A Windows machine.

    :arg disk: the folder that its disk is
    :arg boot: what it says of when it was started
    :arg exchange: what its metadata service answers to a request; by default a real one is made
    :arg now: by its clock, and `sleep`
    """

    def __init__(
        self, disk, boot=("2026-01-01T00:00:00", 3600000), exchange=None, now=time.monotonic, sleep=time.sleep
    ):
        self.disk = pathlib.Path(disk)
        self.boot = boot
        # what Windows says of the folder of the mark, where there is one; None: no access list can be read
        self.trust = {"sddl": "O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)", "link": False, "user": "", "lock": 17}
        self.boot_id = ""  # where its user may not put one into the registry
        self.busy = set()  # names of files that something else has open, for longer than look.ps1 waits
        self._exchange = exchange or exchanged
        self._now = now
        self._sleep = sleep

    def result(self, requests):
        """What comes of a list of requests."""
        answers: list[object] = []
        stopped = False
        for request in requests:
            if stopped:
                answers.append(SKIPPED)
                continue
            answer = expected(self._carried_out(request), request["Expect"])
            stopped = request["Stop"] and ("failure" in answer or answer.get("status", 0) >= 300)
            answers.append(answer)
        return {"answers": answers}

    def path(self, windows):
        """Where a file of the machine is here."""
        return self.disk.joinpath(*windows.replace("%", "").replace(":", "").replace("\\", "/").split("/"))

    def _carried_out(self, request):
        if request["Do"] == "http":
            return self._waited(request)
        if request["Do"] == "boot":
            booted, uptime = self.boot
            return {"booted": booted, "uptime_ms": uptime, "clock_ms": self._clock_ms(), "id": self.boot_id}
        path = self.path(request["Path"])
        if path.name in self.busy or (request["Do"] == "edit" and "lock" in self.busy):
            return dict(BUSY, part=request["Do"])
        if request["Do"] == "trust":
            return self.trust if path.exists() else {"sddl": None, "link": False, "user": ""}
        if request["Do"] == "folder":
            files = {file.name: contents(file) for file in sorted(path.glob("*.json"))}
            return {"files": files, "count": len(files)}
        try:
            there = contents(path)
            if request["Do"] == "read":
                return {"body": there}
            if request["Compare"] and there != request["Known"]:
                return {
                    "failure": "Changed",
                    "message": "it holds something else by now",
                    "part": "compare",
                    "body": there,
                }
            if self._is_late(request):
                return LATE
            return self._edited(path, request["Body"])
        except OSError as error:
            return {"failure": "Unknown", "message": str(error), "part": request["Do"]}

    def _clock_ms(self):
        return int(self._now() * 1000)

    def _is_late(self, request):
        return bool(request["UntilMs"]) and not request["FromMs"] <= self._clock_ms() <= request["UntilMs"]

    def _edited(self, path, body):
        path.parent.mkdir(parents=True, exist_ok=True)
        if body is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(base64.b64decode(body))
        return {"body": body}

    def _waited(self, request):
        started = self._now()
        polls = 0
        while True:
            elapsed = int((self._now() - started) * 1000)
            polls += 1
            if self._is_late(request):
                return dict(LATE, polls=polls)
            try:
                answer = self._exchange(request)
            except OSError as error:
                return {"failure": "ConnectionRefused", "message": str(error), "part": "head", "polls": polls}
            same = answer["status"] == 304 or (answer["status"] == 200 and answer["body"] == request["Known"])
            if elapsed >= request["LimitMs"] or not same:
                return dict(answer, polls=polls)
            self._sleep(max(200, min(request["IntervalMs"], request["LimitMs"] - elapsed)) / 1000)


def expected(answer, expect):
    if "failure" not in answer and any(answer.get(name) != expect[name] for name in expect):
        return dict(answer, failure="Changed", message="it is not what it was", part="expect")
    return answer


def contents(path):
    return base64.b64encode(path.read_bytes()).decode() if path.is_file() else None


def exchanged(request):
    url = urllib.parse.urlsplit(request["Url"])
    connection = http.client.HTTPConnection(url.netloc, timeout=request["TimeoutMs"] / 1000)
    body = base64.b64decode(request["Body"]) or None
    connection.request(request["Method"], url.path + "?" + url.query, body, request["Headers"])
    response = connection.getresponse()
    content = base64.b64encode(response.read()).decode()
    connection.close()
    headers = {name.lower(): value for name, value in response.getheaders()}
    return {"status": response.status, "headers": headers, "body": content}
