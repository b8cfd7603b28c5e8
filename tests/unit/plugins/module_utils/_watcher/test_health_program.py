# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The health endpoint as the installed program, with the sockets that systemd would give it."""

import socket
import subprocess
import sys

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.installed import build
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.test_health_server import (
    GET,
    listening,
    whole,
)

PROGRAM = """
import os, sys
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="2")
for number, given in enumerate(map(int, sys.argv[2:4])):
    os.dup2(given, 3 + number)
os.execv(sys.executable, [sys.executable, "-I", "-B", sys.argv[1], "health", *sys.argv[4:]])
"""


def test_its_ports_outlive_it(tmp_path):
    """The sockets are another process's, as systemd's are: who connects while it is not there is answered by the next one."""
    pyz = build(tmp_path / "watcher.pyz")
    with listening() as http, listening() as agent:
        numbers = [http.fileno(), agent.fileno()]
        command = [sys.executable, "-I", "-c", PROGRAM, pyz, *map(str, numbers), "--folder", str(tmp_path)]
        command += ["--http", f"127.0.0.1:{http.getsockname()[1]}"]
        command += ["--agent", f"127.0.0.1:{agent.getsockname()[1]}"]

        def asked(one, sends):
            with socket.create_connection(one.getsockname(), 30) as client:
                client.sendall(sends)
                process = subprocess.Popen(command, pass_fds=numbers)
                try:
                    return whole(client)
                finally:
                    process.kill()
                    process.wait()

        assert asked(http, GET).startswith(b"HTTP/1.1 200")
        (tmp_path / "mark.json").write_text("{}")
        assert asked(http, GET).startswith(b"HTTP/1.1 503")
        assert asked(agent, b"") == b"0%\n"
