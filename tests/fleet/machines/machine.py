# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One machine: its disk, its power switch, its cable, and its console."""

import contextlib
import datetime
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from . import cgroups, services, settings
from .host import LONG, FleetError, process_words, run, until

_POWER_OFF, _REBOOT = signal.SIGRTMIN + 4, signal.SIGRTMIN + 5  # what systemd as process 1 takes them for
_BOOT_SECONDS = 90
_BOOT_ID = "/proc/sys/kernel/random/boot_id"


class Machine:
    def __init__(self, spec: settings.Spec) -> None:
        self.spec = spec
        self.folder = settings.WORK / "machines" / spec.name
        self.root = self.folder / "root"  # what the machine sees as its disk, also readable from here
        self.console = self.folder / "console.log"
        self._wanted = self.folder / "wanted"

    # --- disk ---

    def make_disk(self, rootfs: pathlib.Path, authorized_key: str) -> None:
        """A fresh disk: the shared root file system, with a layer on top that holds what this machine writes."""
        if self.folder.exists():
            shutil.rmtree(self.folder)
        for part in ("upper", "work", "root"):
            (self.folder / part).mkdir(parents=True)
        run(
            "mount",
            "-t",
            "overlay",
            settings.PREFIX + self.spec.name,
            "-o",
            f"lowerdir={rootfs},upperdir={self.folder}/upper,workdir={self.folder}/work",
            str(self.root),
        )
        self._write("etc/hostname", self.spec.name + "\n")
        self._write("etc/machine-id", hashlib.md5(self.spec.name.encode()).hexdigest() + "\n")
        self._write(
            "etc/hosts",
            "127.0.0.1 localhost\n" + "".join(f"{spec.address} {spec.name}\n" for spec in settings.MACHINES),
        )
        for home in ("root", f"home/{settings.USER}"):
            keys = self._write(f"{home}/.ssh/authorized_keys", authorized_key)
            owner = (self.root / home).stat()
            for entry in (keys.parent, keys):
                os.chown(entry, owner.st_uid, owner.st_gid)
        services.configure(self.spec, self._write)
        if self.spec.service:
            run("systemctl", f"--root={self.root}", "enable", self.spec.service)

    def _write(self, path: str, text: str) -> pathlib.Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        return target

    # What the drain steps of the tests leave in /var/tmp, read and written from out here

    def times(self, note: str) -> list[float]:
        """The Unix times in a note ("prepared", "recovered"), oldest first."""
        path = self.root / "var/tmp" / note
        return [float(line) for line in path.read_text(encoding="ascii").split()] if path.exists() else []

    def refuse(self) -> None:
        """From now on the last drain step fails on this machine."""
        (self.root / "var/tmp/refuse").touch()

    def hang(self, hangs: bool) -> None:
        """From now on, or not any more, the drain step that waits for the application waits on this machine."""
        (self.root / "var/tmp/hang").touch() if hangs else (self.root / "var/tmp/hang").unlink(missing_ok=True)

    def forget(self) -> None:
        for note in ("prepared", "recovered", "refuse", "hang"):
            (self.root / "var/tmp" / note).unlink(missing_ok=True)
        shutil.rmtree(self._marks, ignore_errors=True)

    # What the product keeps there, read and changed from out here

    @property
    def _marks(self) -> pathlib.Path:
        return self.root / "var/lib/azure-maintenance"

    def mark(self) -> dict[str, Any] | None:
        """The machine's mark; None where it has none."""
        try:
            text = (self._marks / "mark.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        return json.loads(text)

    def left_behind(self) -> list[str]:
        """What is in the folder of the mark and does not belong there when nobody handles the machine."""
        found = (path.relative_to(self._marks) for path in self._marks.rglob("*") if not path.is_dir())
        return sorted(str(path) for path in found if str(path) != "lock")

    def let_lease_run_out(self) -> None:
        """As if two minutes had gone by in which nobody renewed the mark's lease."""
        with self._marks_locked():
            mark = self.mark()
            if mark:
                mark["lease"]["until"] = mark["lease"]["uptime"]
                changed = self._marks / "changed"
                changed.write_text(json.dumps(mark), encoding="utf-8")
                changed.rename(self._marks / "mark.json")

    @contextlib.contextmanager
    def _marks_locked(self) -> Iterator[None]:
        if not self._marks.exists():
            yield
            return
        with open(self._marks / "lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    # --- power ---

    def power_on(self) -> None:
        """Start it, if it isn't on; wait_for_ssh() tells when it is there."""
        if self.supervisor_runs():
            if self.is_wanted():
                return
            until(f"{self.spec.name}, which is being switched off, to be off", lambda: not self.supervisor_runs())
        self._wanted.write_text("on", encoding="ascii")
        subprocess.Popen(
            [sys.executable, "-m", "machines.supervise", self.spec.name],
            cwd=pathlib.Path(__file__).resolve().parents[1],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(f"the supervisor of {self.spec.name}", self.supervisor_runs, pause=0.02)

    def power_off(self, timeout: float = LONG) -> None:
        """Shut it down in order, and leave it off."""
        self._want_off()
        self._signal(_POWER_OFF)
        until(f"{self.spec.name} to power off", lambda: not self.supervisor_runs(), timeout)

    def pull_plug(self, timeout: float = LONG) -> None:
        """Off at once, nobody is warned. What it had not synced is lost to its services, as on a real machine."""
        self._want_off()
        self._signal(signal.SIGKILL)
        until(f"{self.spec.name} to be off", lambda: not self.supervisor_runs(), timeout)

    def reboot(self) -> None:
        """An orderly reboot, as by `systemctl reboot`. Returns at once."""
        self._signal(_REBOOT)

    def reset(self) -> None:
        """The reset button: off and on again, nobody is warned. Returns at once."""
        self._signal(signal.SIGKILL)

    def stay_down(self) -> None:
        """After its next reset it does not come up again: not before power_on()."""
        self._want_off()

    def freeze(self, frozen: bool) -> None:
        """Stop all its processes where they are, or let them go on: a memory-preserving pause."""
        cgroups.freeze(self.spec.name, frozen)

    def is_wanted(self) -> bool:
        return self._wanted.read_text(encoding="ascii") == "on"

    def _want_off(self) -> None:
        self._wanted.write_text("off", encoding="ascii")

    def supervisor_runs(self) -> bool:
        return any("machines.supervise" in process_words(pid) for pid in cgroups.members(self.spec.name))

    def init(self) -> int | None:
        """The process id, out here, of the machine's process 1: the one child of its systemd-nspawn."""
        for pid in cgroups.members(self.spec.name):
            words = process_words(pid)
            if words and words[0].endswith("systemd-nspawn"):
                try:
                    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
                except OSError:
                    return None  # it ended while we looked
                if children:
                    return int(children[0])
        return None

    def _signal(self, number: int) -> None:
        pid = self.init()
        if pid is None:
            raise FleetError(f"{self.spec.name} is not running; its console: {self.console}")
        os.kill(pid, number)

    # --- from outside ---

    def inside(self, *command: str) -> str:
        """Run a command on the machine, also when it can't be reached over its network."""
        pid = self.init()
        if pid is None:
            raise FleetError(f"{self.spec.name} is not running; its console: {self.console}")
        return run("nsenter", f"--target={pid}", "--all", "--", *command).stdout

    def stop_sshd(self) -> None:
        """The machine lives on and serves, but Ansible can't get in any more, nor go on over an open connection."""
        self.inside("systemctl", "stop", "ssh.service")
        self.inside("sh", "-c", "pkill --full '^sshd: ' || true")  # sees this machine's processes only

    def start_services(self) -> None:
        """sshd and what the machine serves, if a test stopped them; also while it is still booting."""
        units = ["ssh.service"] + ([f"{self.spec.service}.service"] if self.spec.service else [])

        def started() -> bool:
            try:
                self.inside("systemctl", "start", *units)
            except FleetError:
                return False
            return True

        until(f"{' and '.join(units)} on {self.spec.name} to start", started, _BOOT_SECONDS, pause=0.3)

    def began(self, unit: str) -> float:
        """When a unit was started last, in Unix time."""
        said = self.inside(
            "systemctl", "show", "--timestamp=us+utc", "--value", "--property=ActiveEnterTimestamp", unit
        )
        return datetime.datetime.strptime(f"{said.strip()} +0000", "%a %Y-%m-%d %H:%M:%S.%f %Z %z").timestamp()

    def programs(self) -> set[int]:
        """The processes, out here, of the product's program on this machine while it answers calls."""
        return {pid for pid in cgroups.members(self.spec.name) if _is_program(process_words(pid))}

    def wait_for_calls(self, number: int, longest: float) -> None:
        """Until so many calls of the program have begun; no longer than so many seconds."""
        deadline = time.monotonic() + longest
        known = self.programs()
        while number > 0 and time.monotonic() < deadline:
            time.sleep(0.01)
            found = self.programs()
            number -= len(found - known)
            known = found

    def next_call(self, timeout: float = LONG) -> set[int]:
        """The processes of the program that answer calls, as soon as there are any."""
        return until(f"a call of the program on {self.spec.name}", self.programs, timeout, pause=0.005)

    def stand_still(self, pids: set[int]) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """All its processes: sudo stands still with the one that it runs."""
        for pid in cgroups.members(self.spec.name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def boot_id(self) -> str:
        """Another one after each boot. Empty while the machine is off, or has not come further than to be this box's process.

        Read from out here: a process inside is stopped for a moment by an orderly shutdown, and nsenter, which stops with it, is never
        told to go on.
        """
        pid = self.init()
        if pid is None:
            return ""
        try:
            found = pathlib.Path(f"/proc/{pid}/root{_BOOT_ID}").read_text(encoding="ascii")
        except OSError:  # it ended while we looked
            return ""
        return found.strip() if found != pathlib.Path(_BOOT_ID).read_text(encoding="ascii") else ""

    def answers(self, port: int) -> bool:
        """Call it from a thread that is in the controller's namespace."""
        try:
            with socket.create_connection((self.spec.address, port), timeout=1) as connection:
                return port != 22 or connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def wait_for_ssh(self, timeout: float = _BOOT_SECONDS) -> None:
        try:
            until(f"{self.spec.name} to answer on port 22", lambda: self.answers(22), timeout)
        except FleetError as error:
            tail = self.console.read_text(encoding="utf-8", errors="replace").splitlines()[-20:]
            raise FleetError(f"{error}\nThe end of its console ({self.console}):\n" + "\n".join(tail)) from None


def _is_program(words: Sequence[str]) -> bool:
    return len(words) > 1 and "python" in words[0] and any("sys.stdin.buffer.read" in word for word in words)
