# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-rulebook as a process of its own, with the rulebooks of this collection, and the runs that it starts."""

import collections
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("AZM_EDA") or sys.prefix) / "bin"
# What Java does for a process that is to last, compiling and collecting side by side, costs more than a test lasts to gain by it.
FOR_A_SHORT_LIFE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SECRET = "s3cret-0f-nobody"

Run = collections.namedtuple("Run", "hosts began ended failed")
Run.__doc__ = "Of the playbook maintain. Times are monotonic; one that goes on, or was killed, has not ended (None)."


def free_port(host="127.0.0.1"):
    with socket.socket() as found:
        found.bind((host, 0))
        return found.getsockname()[1]


class Rulebook:
    """:arg name: of the rulebook, or the path of another one
    :arg inventory: a folder
    :arg host: the address where it is reported to
    """

    def __init__(self, folder, name, inventory, *words, host="127.0.0.1", **environment):
        folder.mkdir()
        self.host, self.port = host, free_port(host)
        self.url = f"http://{host}:{self.port}/azure"
        self.process = None
        self.log = folder / "log"
        self._folder = folder
        self._runs = folder / "runs.jsonl"
        variables = folder / "variables.yml"
        given = {"report_secret": SECRET, "report_host": host, "report_port": self.port}
        variables.write_text(json.dumps(given), encoding="utf-8")
        found = str(name) if os.path.isabs(name) else f"cloudops.azure_maintenance.{name}"
        self._command = [program("ansible-rulebook"), "--rulebook", found]
        self._command += ["--inventory", str(inventory), "--vars", str(variables), "--verbose", *words]
        more = {"AZM_RUNS": str(self._runs), "JAVA_TOOL_OPTIONS": FOR_A_SHORT_LIFE, **environment}
        self.environment = environment_of(folder, **more)

    def start(self):
        """It answers when this returns."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=self._folder, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        until(self._answers)
        return self

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text(encoding="utf-8", errors="replace")[-5000:]
        with contextlib.suppress(OSError):
            socket.create_connection((self.host, self.port)).close()
            return True
        return False

    def stop(self):
        """As systemd does it."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        finally:
            self.process.kill()

    def end(self):
        """It, and what it has started and goes on in a session of its own: systemd would end that, too."""
        self.stop()
        mark = f"AZM_RUNS={self._runs}".encode()
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (folder / "environ").read_bytes().split(b"\0"):
                    os.kill(int(folder.name), signal.SIGKILL)

    def logged(self, words):
        return words in self.log.read_text(encoding="utf-8", errors="replace")

    def runs(self, *hosts):
        """Those for exactly these hosts, in the order in which they began; without hosts all."""
        found = {}
        lines = self._runs.read_text(encoding="utf-8").splitlines() if self._runs.exists() else []
        for line in map(json.loads, lines):
            if line["what"] == "began":
                found[line["run"]] = Run(line["hosts"], line["at"], None, None)
            else:
                found[line["run"]] = found[line["run"]]._replace(ended=line["at"], failed=line["what"] == "failed")
        return [run for run in found.values() if not hosts or run.hosts == sorted(hosts)]


def program(name):
    """One of the environment that runs the tests, or of that in AZM_EDA, where another one does."""
    return str(BIN / name)


def environment_of(folder, **more):
    """For Ansible, with all that it keeps in this folder."""
    found = dict(os.environ, PATH=str(BIN) + os.pathsep + os.environ["PATH"])
    found.update(
        ANSIBLE_CONFIG=str(HERE.parent / "integration" / "integration.cfg"),
        HOME=str(folder),
        TMPDIR=str(folder),
        ANSIBLE_HOME=str(folder / "ansible"),
        ANSIBLE_REMOTE_TMP=str(folder / "remote"),
        ANSIBLE_ASYNC_DIR=str(folder / "async"),
        ANSIBLE_LOCALHOST_WARNING="0",
        ANSIBLE_NOCOLOR="1",
        ANSIBLE_CALLBACK_PLUGINS=str(HERE / "callback"),
        ANSIBLE_CALLBACKS_ENABLED="noted_runs",
        PYTHONDONTWRITEBYTECODE="1",
    )
    return dict(found, **more)
