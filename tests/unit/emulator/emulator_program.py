# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulator as a process of its own."""

import os
import signal
import subprocess
import sys

from emulator_harness import FILES

PROGRAM = str(FILES / "imds_emulator")
PATH = "/vm/web1/metadata/scheduledevents?api-version=2020-07-01"
VM = ("--vm", "web1,scope=web", "--vm", "web2,scope=web,address=10.0.0.2,address=10.0.0.3,location=x")


class Running:
    """The program as a process of its own."""

    def __init__(self, folder, *words, **how):
        self.addresses = folder / "addresses.json"
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", **how.get("environment", {}))
        command = [
            sys.executable,
            how.get("program", PROGRAM),
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--control",
            "127.0.0.1:0",
            "--addresses",
            str(self.addresses),
        ] + list(words)
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, preexec_fn=how.get("preexec_fn")
        )
        self.lines = [self.process.stdout.readline().decode() for _each in range(3)]
        self.metadata, self.control = (
            line.split(" on ")[1].strip() if " on " in line else "" for line in self.lines[:2]
        )
        if self.control:
            assert self.lines[2] == f"export AZURE_EMULATOR_CONTROL={self.control}\n"

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err


def cli(running, *words):
    """A command against it; what it prints."""
    command = [sys.executable, PROGRAM] + list(words)
    environment = dict(os.environ, AZURE_EMULATOR_CONTROL=running.control)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out.decode()
