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
import winreg

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows import services
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine.windows.platform import KEY, start_of
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine import bundle
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.emulated import (
    World,
    address,
)
from ansible_collections.cloudops.azure_maintenance.tests.wine.hooking import content, kill, until

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
        self.metadata, self._control = found["metadata"][0], address(found["control"])
        self.endpoint = self.endpoint_of(name)
        self._name = name

    def event(self, **keys):
        return super().event(resources=[self._name], **keys)

    def fault(self, kind, **keys):
        return super().fault(kind, vm=[self._name], **keys)


class Machine:
    """A machine with the watcher as its service.

    :arg more: of its settings
    """

    def __init__(self, folder, program, name, **more):
        self.folder, self.program, self.name = folder, program, name
        self.awaited = []  # files that hooks wait for
        self.state = folder / "state"
        for phase in ("prepare", "recover", "notify"):
            (folder / "hooks" / f"{phase}.d").mkdir(parents=True)
        self.world = Emulated(name)
        self.settings = folder / "watcher.json"
        self.write(**more)
        self.service = Service(NAME, program, "run", "--settings", self.settings, "--run-folder", folder / "run")

    def write(self, **keys):
        """Its settings."""
        whole = {"format": 1, "folder": str(self.state), "hooks_folder": str(self.folder / "hooks"), "cooldown": 0}
        whole.update(endpoint=self.world.endpoint, boot_timeout=0, interval=0.5)
        self.settings.write_text(json.dumps(dict(whole, **keys)))

    def hook(self, phase, text=""):
        path = self.folder / "hooks" / f"{phase}.d" / "10-app.cmd"
        path.write_text(f'@echo {phase} %AZURE_MAINTENANCE_TYPE%>>"{self.folder / "done"}"\r\n{text}\r\n')
        return path

    def waiting_hook(self, phase):
        """A hook that lasts until the file that this returns is made."""
        script, go_on = self.folder / f"{phase}.py", self.folder / f"go on {phase}"
        script.write_text(f"import os, time\nwhile not os.path.exists({str(go_on)!r}): time.sleep(0.05)")
        self.hook(phase, f'@"{sys.executable}" "{script}"')
        self.awaited.append(go_on)
        return go_on

    def start(self):
        self.service.start()
        until(lambda: self.published().get("looking") and self.is_running(), lambda: f"the first look: {self.log()}")

    def stop(self):
        self.service.stop()
        until(lambda: not self.is_running(), "its end")

    def kill(self):
        """End its process, and nothing else."""
        kill(self.published()["pid"])
        until(lambda: not self.is_running(), "its end")

    def cut_power(self):
        """Everything that runs on it ends at once, and what is started then runs in another start of Windows, which drops this key."""
        self.kill()
        for path in (self.state / "jobs").glob("*/started"):
            kept = json.loads(content(path))
            if start_of(kept["pid"]) == kept["start"]:
                kill(kept["pid"])  # its job object ends with it
        winreg.DeleteKey(winreg.HKEY_LOCAL_MACHINE, KEY)

    def does(self, what):
        return self.published().get("doing") == what

    def is_running(self):
        found = self.published()
        return bool(found) and start_of(found["pid"]) == found["start"]

    def published(self):
        try:
            return json.loads(content(self.state / "watcher.json"))
        except ValueError:  # there is none, or a test has damaged it
            return {}

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
        for path in self.awaited:
            path.write_text("")
        self.service.remove()
        if self.published().get("pid"):
            until(lambda: not self.is_running(), "its end")
