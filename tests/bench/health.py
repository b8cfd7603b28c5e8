# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher's health endpoint costs: requests a second on one core, and its memory.

    python tests/bench/health.py [--requests 20000] [--python PYTHON]

It is the program as the role builds it, as a process pinned to one core; who asks has the others. A connection each, as probes have.
"""

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from watcher import BUILDER, cpu

CLIENTS = 2
REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
SCRAPE = REQUEST.replace(b"/ ", b"/metrics ", 1)
METRICS = b"azure_maintenance_of_no_machine 0\n" * 200  # as many bytes as a watcher's


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def ask(port, times, request=REQUEST):
    for _time in range(times):
        with socket.create_connection(("127.0.0.1", port), 5) as connection:
            connection.sendall(request)
            content = b""
            while part := connection.recv(4096):
                content += part
        if not content.startswith(b"HTTP/1.1 200"):
            raise SystemExit(f"it answered {content!r}")


def wait_until_it_answers(process, port):
    deadline = time.monotonic() + 10
    while True:
        try:
            return ask(port, 1)
        except OSError:
            if time.monotonic() > deadline or process.poll() is not None:
                raise


def memory(process):
    """kB that it has for itself, with its share of what others have, too; and all that it has in memory."""
    lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
    found = {line.split(":")[0]: int(line.split()[1]) for line in lines[1:]}
    return found["Pss"], found["Rss"]


def served(process, port, request, number):
    before, began = cpu(process), time.monotonic()
    with ThreadPoolExecutor(CLIENTS) as pool:
        list(pool.map(ask, [port] * CLIENTS, [number // CLIENTS] * CLIENTS, [request] * CLIENTS))
    took, used = time.monotonic() - began, cpu(process) - before
    return f"{number / took:.0f} requests a second, {number / used:.0f} for each second of CPU"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--requests", type=int, default=20000, help="(default %(default)s)")
    parser.add_argument("--python", default=sys.executable, help="that runs it")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program, port = Path(folder) / "watcher.pyz", free_port()
        subprocess.run([sys.executable, str(BUILDER), str(program)], check=True)
        command = [
            options.python,
            "-I",
            "-B",
            str(program),
            "health",
            "--http",
            f"127.0.0.1:{port}",
            "--folder",
            folder,
            "--run-folder",
            folder,
        ]
        (Path(folder) / "metrics.prom").write_bytes(METRICS)
        with subprocess.Popen(command) as process:
            os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
            wait_until_it_answers(process, port)
            for what, request in (("health", REQUEST), ("metrics", SCRAPE)):
                print(f"{what}: {served(process, port, request, options.requests)}")
            pss, rss = memory(process)
            process.terminate()
    print(f"health: {pss / 1024:.1f} MB PSS, {rss / 1024:.1f} MB RSS")


if __name__ == "__main__":
    main()
