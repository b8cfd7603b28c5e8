# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher's program as it is installed on a Windows machine, and its services, by the service manager."""

import ctypes
import itertools
import json
import pathlib
import subprocess
import sys

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import services
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.platform import start_of
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import bundle
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import (
    World,
    address,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import content, until

NAME = "azure-maintenance"
_numbers = itertools.count(1)


def next_name():
    """A VM of the emulator's, for each test another one."""
    return f"web{next(_numbers)}"


def build(folder):
    """The program of this version, as the role installs it."""
    path = folder / "watcher.pyz"
    path.write_bytes(bundle.watcher(for_windows=True).content)
    return path


def said(*command):
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return process.communicate()[0].decode("utf-8", "replace"), process.returncode


class Service:
    """A service of this machine, whose command line is the program's."""

    def __init__(self, name, program, *words):
        self.name = name
        said("sc.exe", "delete", name)  # what a run that was cut off has left
        command = subprocess.list2cmdline([sys.executable, "-I", "-S", str(program), *map(str, words)])
        words, code = said("sc.exe", "create", name, "binPath=", command)
        assert code == 0, words

    def start(self):
        words, code = said("sc.exe", "start", self.name)
        assert code == 0, words

    def runs(self):
        return services.state_of(self.name) == services.RUNNING

    def stop(self):
        words, code = said("sc.exe", "stop", self.name)
        assert code == 0, words
        until(lambda: services.state_of(self.name) == services.STOPPED, f"the end of {self.name}")
        until(lambda: not self.has_process(), f"the end of the process of {self.name}")

    def pid(self):
        """Of its process. (Wine's sc.exe does not say it.)"""
        ask = ctypes.WinDLL("advapi32").QueryServiceStatusEx
        ask.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p]
        found, size = (ctypes.c_uint32 * 9)(), ctypes.c_uint32()
        with services.Service(self.name) as service:
            assert ask(service._handle, 0, found, ctypes.sizeof(found), ctypes.byref(size))
        return found[7]

    def exit_code(self):
        """Its own, of the last time."""
        with services.Service(self.name) as service:
            return service.status().own_code

    def has_process(self):
        """Wine's service manager does not see that one was killed."""
        return bool(self.pid()) and start_of(self.pid()) is not None

    def remove(self):
        said("sc.exe", "stop", self.name)
        until(lambda: not self.has_process(), f"the end of {self.name}")
        said("sc.exe", "delete", self.name)


class Emulated(World):
    """The emulator that the session has started, and one of its VMs."""

    def __init__(self, name):
        found = json.loads(until(lambda: content(pathlib.Path(r"C:\emulator.json")), "the emulator"))
        self.endpoint = f"{found['metadata'][0]}/vm/{name}"
        self._control = address(found["control"])
        self._name = name

    def event(self, **keys):
        return super().event(resources=[self._name], **keys)


class Machine:
    """A machine with the watcher as its service.

    :arg more: of its settings
    """

    def __init__(self, folder, program, name, **more):
        self.folder, self.program = folder, program
        self.state = folder / "state"
        for phase in ("prepare", "recover", "notify"):
            (folder / "hooks" / f"{phase}.d").mkdir(parents=True)
        self.world = Emulated(name)
        self.settings = folder / "watcher.json"
        whole = {"format": 1, "folder": str(self.state), "hooks_folder": str(folder / "hooks"), "cooldown": 0}
        self.settings.write_text(
            json.dumps(dict(whole, endpoint=self.world.endpoint, boot_timeout=0, interval=0.5, **more))
        )
        self.service = Service(NAME, program, "run", "--settings", self.settings, "--run-folder", folder / "run")

    def hook(self, phase, text=""):
        path = self.folder / "hooks" / f"{phase}.d" / "10-app.cmd"
        path.write_text(f'@echo {phase} %AZURE_MAINTENANCE_TYPE%>>"{self.folder / "done"}"\r\n{text}\r\n')

    def start(self):
        self.service.start()
        until(lambda: self.published().get("looking") and self.is_running(), f"the first look: {self.log()}", 40)

    def stop(self):
        self.service.stop()
        until(lambda: not self.is_running(), "its end")

    def is_running(self):
        pid = self.published().get("pid")
        return bool(pid) and start_of(pid) == self.published()["start"]

    def published(self):
        return json.loads(content(self.state / "watcher.json") or "{}")

    def mark(self):
        return json.loads(content(self.state / "mark.json") or "{}")

    def log(self):
        return content(self.state / "log" / "azure-maintenance.log")

    def asked(self, command, *words):
        """What a command of people's says, and its exit code."""
        found, code = said(
            sys.executable, "-I", "-S", str(self.program), command, "--settings", str(self.settings), *words
        )
        return " ".join(found.split()), code

    def done(self):
        return content(self.folder / "done").split("\n")[:-1]

    def happened(self):
        return [json.loads(line)["happened"] for line in content(self.state / "history.jsonl").splitlines()]

    def end(self):
        self.service.remove()
        if self.published().get("pid"):
            until(lambda: not self.is_running(), "its end")
