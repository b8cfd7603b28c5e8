# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A Windows machine as a run reaches it: by the collection's own code over a PowerShell that stays, of which each request is part of the life."""

from __future__ import annotations

import datetime
import json
import math
import random
from typing import TYPE_CHECKING, Any

from .. import collection
from ..aside import aside
from ..azure import Azure, Scope
from ..clock import Clock, Life, Process
from ..journal import Journal, copied
from ..machine import NEVER, Machine
from ..marks import journalled
from ..service import WALL
from .disk import FOLDER, MARK, YES, Disk
from .script import Script
from .service import Service

if TYPE_CHECKING:
    from ..driver import Run

CONNECTS = 0.3  # seconds until a connection shows that it works
ASKS = (0.02, 0.12)  # seconds that the PowerShell that stays takes for whatever it is asked
DEAD = (0.5, 15.0)  # seconds after which one that a start of the machine has ended is known to be gone
ASKS_WMI = 0.2  # seconds until it is known when the machine was started
PAUSE = 0.2  # seconds between two requests of a line to the metadata service
HANGS = 18.0  # seconds for which a write may hang
BOOTS = 15.0  # seconds that a restart takes at least; boot.py takes two boots that are closer together for one whose clock was set

calls = collection.part("plugin_utils._windows.calls")
lost_of = collection.part("plugin_utils._machine.lost")
beside_mark = collection.part("module_utils._machine.beside_mark")
AnsibleConnectionFailure = calls.AnsibleConnectionFailure


class WindowsMachine(Machine):
    """mark, yes, put_back: what is on its disk."""

    is_linux = False
    service_type = Service
    damage = ("late", "lock")  # nothing tells the next PowerShell of the one that hangs

    def __init__(self, host: str, name: str, clock: Clock, journal: Journal, azure: Azure, scope: Scope) -> None:
        self.disk = Disk(self.fault)
        self._understood: tuple[bytes | None, Any] = (None, None)
        super().__init__(host, name, clock, journal, azure, scope)
        self.takes = 1.5 + self.cost  # seconds of a start of PowerShell before it does anything
        self.stays: dict[str, Standing] = {}  # of each run, while it lives
        self.pace = random.Random(host)  # of its own
        self.has_id = True  # whether its user may give a boot an id
        self.ahead = 0.0  # seconds by which its clock is
        self.dies_with_run = True  # whether what is called for it on the controller is killed with the run
        self.starts: list[float] = []  # when PowerShell was
        self.asks: list[float] = []  # when it was asked for something
        self.calls: list[tuple[Run, Process]] = []

    # ---- what is on its disk ----

    @property
    def mark(self) -> Any:
        content = self.disk.files.get(MARK, self.disk.files.get(f"{MARK}.old"))
        if content is not self._understood[0]:
            self._understood = (content, _understood(content))
        return self._understood[1]

    @mark.setter
    def mark(self, mark: Any) -> None:
        """By others than look.ps1."""
        self.disk.files.pop(f"{MARK}.old", None)
        if mark is None:
            self.disk.files.pop(MARK, None)
        else:
            self.disk.folders.add(FOLDER)
            self.disk.files[MARK] = b"no JSON" if "unreadable" in mark else json.dumps(mark).encode("ascii")

    @property
    def yes(self) -> list[str]:
        return [json.loads(self.disk.files[path])["event"] for path in self.disk.listed(YES)]

    @yes.setter
    def yes(self, events: list[str]) -> None:
        for path in self.disk.listed(YES):
            del self.disk.files[path]
        for event in events:
            self._write(YES, beside_mark.confirmation_file(event), beside_mark.confirmation_note(event, "somebody", ""))

    @property
    def put_back(self) -> list[str]:
        return sorted(beside_mark.suppressed_in(self.disk.files.get(f"{FOLDER}\\{beside_mark.SUPPRESSED}", b"")))

    @put_back.setter
    def put_back(self, events: list[str]) -> None:
        self._write(FOLDER, beside_mark.SUPPRESSED, beside_mark.with_events({}, events, 0.0))

    def _write(self, folder: str, name: str, note: dict[str, Any]) -> None:
        self.disk.folders.update((FOLDER, folder))
        self.disk.files[f"{folder}\\{name}"] = json.dumps(note).encode("ascii")

    def say_yes(self, event: str) -> None:
        self.yes = [*self.yes, event]

    @property
    def locked(self) -> bool:
        """Whether a script is writing."""
        return f"{FOLDER}\\lock" in self.disk.open

    @locked.setter
    def locked(self, _locked: bool) -> None:
        """The disk knows."""

    def _start(self, boot: int) -> None:
        super()._start(boot)
        if self.watcher and self.is_up:
            self.watcher.publish()

    def restart(self, seconds: float) -> None:
        super().restart(max(seconds, BOOTS))

    def lost_its_disk(self) -> None:
        super().lost_its_disk()
        self.disk.files.clear()
        self.disk.folders.clear()

    def mark_deleted(self) -> None:
        """Somebody deletes the file, and starts what was stopped."""
        if self.mark is None or not self.is_up or self.locked:
            return
        self.mark, self.by_hand = None, True
        for step in self.steps:
            step.cut_off()
            step.running = step.originally
        self.journal.add("mark-gone", host=self.host, run="a person")

    # ---- what look.ps1 finds there ----

    @property
    def boot_id(self) -> str:
        return f"boot-{self.host}-{self.boots}" if self._is_given_id else self._booted()

    @property
    def _is_given_id(self) -> bool:
        """A watcher may give each boot an id, and everybody can read it then."""
        return self.has_id or self.watcher is not None

    @property
    def clock_ms(self) -> int:
        return int(1000 * self.uptime)

    def get_boot(self) -> Life:
        yield ASKS_WMI
        return {
            "booted": self._booted(),
            "uptime_ms": int(1000 * self.uptime),
            "clock_ms": self.clock_ms,
            "id": self.boot_id if self._is_given_id else "",
        }

    def _booted(self) -> str:
        """By its clock, whenever that is set: to the second, and not always to the same."""
        wall = WALL + self.clock.now + self.ahead
        moment = datetime.datetime.fromtimestamp(math.floor(wall - self.uptime), datetime.timezone.utc)
        return moment.strftime("%Y-%m-%dT%H:%M:%S")

    def get_trust(self, path: str) -> dict[str, Any]:
        if path not in self.disk.folders:
            return {"sddl": None, "link": False, "user": ""}
        sddl = "O:BAD:PAI(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)"
        return {"sddl": sddl, "link": False, "user": "S-1-5-21-1-2-3-500", "lock": self.disks}

    def hangs_while_writing(self) -> Life:
        if self.fault("lock"):
            self.journal.add("hangs", host=self.host)
            yield min(self._end_of("lock"), HANGS)
            yield from self.frozen()

    def replacing(self) -> None:
        """A file is gone, and its new content is not there yet."""
        if self.fault("cut"):
            self.faults = [fault for fault in self.faults if fault[2] != "cut"]
            self.clock.after(0.001, self.restart, 5.0)

    def written(self, path: str, before: bytes | None, run: str) -> None:
        if path == MARK:
            journalled(self, _understood(before), self.mark, run)

    # ---- what a run reaches ----

    def call(self, requests: list[Any], call: dict[str, Any], holder: dict[str, Any], within: Any, run: Run) -> Life:
        """What the action does for a Windows machine: the machine program runs on the controller, and ends in its time."""
        del within  # the machine is asked
        began, seconds = self.clock.now, float(call["seconds"])
        asked = copied({"options": self.options(call, holder, None), "requests": requests, "steps": self.plan})
        process = self.clock.begin(
            aside(
                lambda meanwhile: calls.perform_on_windows(
                    self.host,
                    lambda _module, arguments: meanwhile(self.ask(arguments["parameters"]["Requests"], run)),
                    asked,
                    _Controller(self.clock, run, meanwhile),
                    _Caller(run),
                )
            )
        )
        self.calls = [(by, other) for by, other in self.calls if not other.over] + [(run, process)]
        try:
            yield process.done, seconds
        except GeneratorExit:  # the line is ended, and with it what runs in it
            if not run.over or self.dies_with_run:
                process.end()
            raise
        if not process.over:
            process.end()
            return self._lost(lost_of.too_slow(seconds), began)
        if process.result is None or process.result["lost"]:
            return self._lost((process.result or {"lost": "it was killed"})["lost"], began)
        return self.answered(process.result, asked, began, run)

    def controller_killed(self, run: Run) -> None:
        for by, process in self.calls:
            if by is run and self.dies_with_run:
                process.end()

    def end_calls(self) -> None:
        super().end_calls()
        for _run, process in self.calls:
            process.end()

    # ---- the PowerShell that stays ----

    def ask(self, requests: list[dict[str, Any]], run: Run) -> Life:
        """What look.ps1 makes of these requests, as a module would return it. What stays is gone with whatever goes wrong."""
        yield from run.line_stands_still()
        stays = self.stays.pop(run.name, None)
        self.asks.append(self.clock.now)
        if stays and stays.boot != self.boots:
            yield DEAD[self.boots % 2]
            stays = None
        if not stays:
            yield CONNECTS
        how = self.fault("refuses", "hangs", "cut-before")
        how = how or ("" if self.is_up else "hangs" if self.boots % 2 else "refuses")
        if how == "hangs":
            yield NEVER
        if how:
            yield 0.5
            raise AnsibleConnectionFailure("connection refused" if how == "refuses" else "Connection reset by peer")
        yield from self.frozen()
        if not stays and self.fault("no-powershell"):
            yield self.takes
            raise AnsibleConnectionFailure("Out of memory")
        stays = stays or Standing(self.boots)
        script = self._powershell(copied(requests), run.name, stays)
        program = self.sent(script)
        yield program.done, NEVER
        yield from run.line_stands_still()
        if self.fault("cut-after") or (program.result is None and not self.boots % 2):
            raise AnsibleConnectionFailure("Connection reset by peer")
        if program.result is None or self.fault("answers-lost"):
            yield NEVER
        self.stays[run.name] = stays
        return {"changed": False, "error": [], "failed": False, "result": program.result}

    def _powershell(self, requests: list[dict[str, Any]], run: str, stays: Standing) -> Life:
        if not stays.name:
            self.starts.append(self.clock.now)
            stays.name = f"PowerShell {len(self.starts)}"
            yield self.takes
        yield self.pace.uniform(*ASKS)
        if self.fault("stalls"):
            yield self._end_of("stalls")
        yield from self.frozen()
        polls = any(one["Do"] == "http" for one in requests)
        if polls:
            yield max(0.0, stays.polled + PAUSE - self.clock.now)
        result = yield from Script(self, run, stays.name).result(requests)
        if polls:
            stays.polled = self.clock.now
        return result


class Standing:
    """A PowerShell that was started under a boot, and when it had the metadata service asked last."""

    def __init__(self, boot: int) -> None:
        self.boot, self.name, self.polled = boot, "", -1.0


class _Controller:
    """The clocks of the code that runs on the controller; nobody waits by them but this call."""

    def __init__(self, clock: Clock, run: Run, meanwhile: Any) -> None:
        self._clock, self._run, self._meanwhile = clock, run, meanwhile

    def now(self) -> float:
        return self._clock.now

    def wall(self) -> float:
        return WALL + self._clock.now + self._clock.error

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            self._meanwhile(self._slept(seconds))

    def _slept(self, seconds: float) -> Life:
        yield seconds
        yield from self._run.line_stands_still()


class _Caller:
    """Whether the run still waits."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def is_gone(self) -> bool:
        return self._run.over


def _understood(content: bytes | None) -> Any:
    """A mark's file, as others than the collection read it."""
    if content is None:
        return None
    try:
        return json.loads(content)
    except ValueError:
        return {"unreadable": "it is no JSON"}
