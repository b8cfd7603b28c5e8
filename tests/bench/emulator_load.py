# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How many requests a second the emulator answers on one core, and how much memory it holds.

    python3 tests/bench/emulator_load.py [--vms 10000] [--connections 50] [--seconds 10] [--python PYTHON]

Starts an emulator of its own (pinned to the first core, the client to the others, where the system can pin), asks over
kept-alive connections, each for the documents of VMs in turn, and prints one line of JSON. Standard library only.
"""

import argparse
import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EMULATOR = Path(__file__).resolve().parents[2] / "roles/emulator/files/imds_emulator"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid):
    """User and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rss_megabytes(pid):
    """Resident memory of a process."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def scenario(vms, scope_size):
    """So many VMs in scopes of so many, one event in each hundredth scope."""
    listed = [{"name": f"vm{number}", "scope": f"scope{number // scope_size}"} for number in range(vms)]
    hit = range(0, vms, 100 * scope_size)
    events = [{"type": "Reboot", "resources": [f"vm{number}"], "notice": 86400} for number in hit]
    return {"settings": {"rate_limit": 0}, "vms": listed, "events": events}


class Reader(asyncio.Protocol):
    """One client: the next request as soon as the last one is answered."""

    def __init__(self, requests, counts):
        self.requests = requests
        self.counts = counts
        self.at = 0
        self.buffer = b""
        self.needed = None
        self.transport = None
        self.stopping = False
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport):
        self.transport = transport
        self.ask()

    def ask(self):
        self.transport.write(self.requests[self.at])
        self.at = (self.at + 1) % len(self.requests)

    def data_received(self, data):
        self.buffer += data
        if self.needed is None:
            head, found, _rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            if not head.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(head.decode())
            length = int(head.split(b"Content-Length: ")[1].split(b"\r\n")[0])
            self.needed = len(head) + 4 + length
        if len(self.buffer) >= self.needed:
            self.buffer, self.needed = b"", None
            self.counts["answers"] += 1
            if self.stopping:
                self.transport.close()
            else:
                self.ask()

    def connection_lost(self, exc):
        self.done.set_result(None)
        if not self.stopping:
            raise RuntimeError(f"the emulator closed a connection: {exc}")


def request(vm):
    """What a client that polls sends."""
    return (
        f"GET /vm/vm{vm}/metadata/scheduledevents?api-version=2020-07-01 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        "Accept: */*\r\nAccept-Encoding: gzip, deflate\r\nConnection: keep-alive\r\nUser-Agent: load\r\nMetadata: "
        "true\r\n\r\n"
    ).encode()


async def load(port, pid, options):
    """Ask, and measure between two moments in which all connections are at work."""
    loop = asyncio.get_running_loop()
    counts = {"answers": 0}
    clients = []
    for number in range(options.connections):
        requests = [request(vm) for vm in range(number, options.vms, options.connections)] or [request(0)]
        clients.append(
            (await loop.create_connection(lambda requests=requests: Reader(requests, counts), "127.0.0.1", port))[1]
        )
    await asyncio.sleep(1)
    began, cpu, answers = time.monotonic(), cpu_seconds(pid), counts["answers"]
    await asyncio.sleep(options.seconds)
    elapsed, cpu, answers = time.monotonic() - began, cpu_seconds(pid) - cpu, counts["answers"] - answers
    for client in clients:
        client.stopping = True
    await asyncio.wait([client.done for client in clients], timeout=10)
    return {
        "requests": answers,
        "seconds": round(elapsed, 2),
        "requests_per_second": round(answers / elapsed),
        "server_cpu_seconds": round(cpu, 2),
        "requests_per_cpu_second": round(answers / cpu),
    }


def pin(cores):
    """Keep this process, and those it starts, on some cores."""
    if hasattr(os, "sched_setaffinity") and cores:
        os.sched_setaffinity(0, cores)


def wait_for(path, process):
    """The addresses that the emulator writes when it answers."""
    for _attempt in range(600):
        if path.exists():
            return json.loads(path.read_text())
        if process.poll() is not None:
            sys.exit("the emulator did not start")
        time.sleep(0.1)
    sys.exit("the emulator did not start within a minute")


def main():
    """Start, ask, print, stop."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vms", type=int, default=10000)
    parser.add_argument("--scope-size", type=int, default=1, help="VMs in one scope")
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--python", default=sys.executable, help="the Python that runs the emulator")
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    with tempfile.TemporaryDirectory() as folder:
        described, addresses = Path(folder, "scenario.json"), Path(folder, "addresses.json")
        described.write_text(json.dumps(scenario(options.vms, options.scope_size)))
        pin(cores[:1])
        process = subprocess.Popen(
            [
                options.python,
                str(EMULATOR),
                "serve",
                "--scenario",
                str(described),
                "--listen",
                "127.0.0.1:0",
                "--control",
                "none",
                "--addresses",
                str(addresses),
            ],
            stdout=subprocess.DEVNULL,
        )
        try:
            port = int(wait_for(addresses, process)["metadata"][0].rpartition(":")[2])
            pin(cores[1:])
            before = rss_megabytes(process.pid)
            measured = asyncio.run(load(port, process.pid, options))
            measured.update(
                vms=options.vms,
                scope_size=options.scope_size,
                connections=options.connections,
                rss_mb_at_start=round(before, 1),
                rss_mb=round(rss_megabytes(process.pid), 1),
            )
            print(json.dumps(measured))
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(10)


if __name__ == "__main__":
    main()
