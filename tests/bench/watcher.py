# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher costs, how soon it begins a hook, and that it does not grow.

    python tests/bench/watcher.py [--only idle|hooks|life] [--minutes 10] [--events 200] [--at-once 4] [--looks 86400] [--python PYTHON]

It is the program as the role builds it, as a process, against an emulator over loopback. Where systemd does not run, hooks are children of
the watcher, and it has OpenSSL loaded for them: it takes some 5 MB more then.

Under Wine, after lane wine has made its Windows Python and its prefix (WINEPREFIX=build/wine/prefix WINEDEBUG=-all):

    python tests/bench/watcher.py --wine /usr/lib/wine/wine64 --python build/wine/python/python.exe --only idle

The watcher is a process in a console there, and no service. What Wine's server uses on its behalf is counted apart.
(hooks does not come to an end there, with one watcher on an idle machine neither: the file of its hook was not seen within 30 s.)
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local_fleet import HERE, Fleet

BUILDER = HERE.parents[1] / "roles" / "watcher" / "files" / "build_zipapp.py"
TICK = os.sysconf("SC_CLK_TCK")
NOTICE = 250  # seconds: less than prepare_before, so that it is prepared for at once


class Watcher:
    """The watcher of one VM of a fleet."""

    def __init__(self, python, folder, fleet, vm="vm0", **settings):
        self.folder, self.fleet, self.vm = Path(folder), fleet, vm
        self.hooks, self.state = self.folder / "hooks", self.folder / "state"
        (self.hooks / "prepare.d").mkdir(parents=True)
        self.begun = self.folder / "begun"
        self.write_hook()
        program, file = self.folder / "watcher.pyz", self.folder / "watcher.json"
        subprocess.run([sys.executable, str(BUILDER), str(program), *self.built_for], check=True)
        endpoint, path = f"{fleet.urls['metadata'][0]}/vm/{vm}", self.path
        whole = dict(format=1, endpoint=endpoint, folder=path(self.state), hooks_folder=path(self.hooks), **settings)
        file.write_text(json.dumps(whole))
        file.chmod(0o600)
        files = ["--settings", path(file), "--run-folder", path(self.folder / "run")]
        command = [*self.before, str(python), "-I", "-B", path(program), "run", *files]
        self.process = self.started(command)

    built_for, before = (), ()

    def write_hook(self):
        hook = self.hooks / "prepare.d" / "10-note"
        hook.write_text(f"#!/bin/sh\n: > {self.begun}\n")
        hook.chmod(0o755)

    def started(self, command):
        return subprocess.Popen(command, stderr=(self.folder / "log").open("w"))

    @staticmethod
    def path(path):
        """As the watcher's system has it."""
        return str(path)

    def __enter__(self):
        self.until(lambda: self.published().get("looking") and self.published().get("name"), 120)
        return self

    def __exit__(self, *exc_info):
        self.process.terminate()
        self.process.wait(10)

    def published(self):
        try:
            return json.loads((self.state / "watcher.json").read_text())
        except (OSError, ValueError):
            return {}

    def until(self, condition, seconds):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise SystemExit(f"the watcher did not get there: {(self.folder / 'log').read_text()}")
            time.sleep(0.002)

    def announce(self):
        """An event of its machine, until its hook has begun: its id, and how long that took."""
        self.begun.unlink(missing_ok=True)
        shown = time.time()
        event = self.fleet.ask("/events", {"type": "Reboot", "resources": [self.vm], "notice": NOTICE})["id"]
        self.until(self.begun.exists, 30)
        return event, self.begun.stat().st_mtime - shown

    def take_back(self, event):
        self.fleet.ask(f"/events/{event}/cancel", {})
        self.until(lambda: not (self.state / "mark.json").exists(), 60)


class UnderWine(Watcher):
    """The same on a Windows Python under Wine. A stream that is a file of Unix would end it."""

    built_for = ("--windows",)

    def write_hook(self):
        text = f'@type nul > "{self.path(self.begun)}"\r\n'
        (self.hooks / "prepare.d" / "10-note.cmd").write_text(text)

    def started(self, command):
        (self.folder / "log").write_text("see the folder of its state")
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    @staticmethod
    def path(path):
        return "Z:" + str(path).replace("/", "\\")

    def __exit__(self, *exc_info):
        self.process.kill()
        self.process.wait()


def wine_server():
    """The process of Wine's server, where there is one."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().startswith("wineserver") and _is_of_prefix(process):
                return process
        except OSError:  # it has ended, or is another user's
            pass
    return None


def _is_of_prefix(process):
    return f"WINEPREFIX={os.environ['WINEPREFIX']}".encode() in (process / "environ").read_bytes().split(b"\0")


def cpu(process):
    """Seconds that a process has used in all its threads, to the nanosecond."""
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def cpu_with_children(process):
    """The same with those of its children that have ended, as the kernel counts them: by ticks."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / TICK


def memory(process):
    """kB that it has in memory."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0])


def handles(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def size(folder):
    """Files of a folder, and their bytes."""
    found = [path for path in Path(folder).rglob("*") if path.is_file()]
    return len(found), sum(path.stat().st_size for path in found)


def idle(options, folder):
    """One look a second, nothing to do; beside it what a shell would do."""
    with Fleet(folder, 1, 1) as fleet, options.kind(options.python, f"{folder}/w", fleet) as watcher:
        server = wine_server() if options.wine else None
        url = f"{fleet.urls['metadata'][0]}/vm/vm0/metadata/scheduledevents?api-version=2020-07-01"
        shell = f"while :; do curl -s -H Metadata:true '{url}' >/dev/null; sleep 1; done"
        loop = subprocess.Popen(["sh", "-c", shell])
        time.sleep(10)
        seconds = options.minutes * 60
        before, most = (cpu(watcher.process), cpu_with_children(loop)), 0
        of_server = _ticks(server) if server else 0.0
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            time.sleep(min(5.0, seconds))
            most = max(most, memory(watcher.process))
        spent = time.monotonic() - began
        used = (cpu(watcher.process) - before[0], cpu_with_children(loop) - before[1])
        of_server = _ticks(server) - of_server if server else 0.0
        loop.terminate()
        loop.wait()
    for who, how_much in zip(("watcher", "curl and sleep in a shell"), used, strict=True):
        print(f"idle, {spent / 60:.0f} min, {who}: {how_much / spent:.3%} of a core")
    looks = watcher.published().get("looks", 0)
    print(f"idle, each look of the watcher: {1000 * used[0] / spent:.2f} ms of CPU at one a second ({looks} looks)")
    if server:
        print(f"idle, Wine's server, for all that runs under it: {of_server / spent:.3%} of a core")
    print(f"idle, memory of the watcher: {most / 1024:.1f} MB at most, {version_of(watcher)}")


def version_of(watcher):
    command = [*watcher.before, watcher.process.args[len(watcher.before)], "-V"]
    return f"Python {subprocess.check_output(command, text=True, stdin=subprocess.DEVNULL).split()[1]}"


def _ticks(process):
    """Seconds of CPU that a process of /proc has used."""
    return sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:13])) / TICK


def hooks(options, folder):
    """From an event's announcement to its first hook; some watchers at once, as each waits most of the time."""
    at_once = options.at_once
    with Fleet(folder, at_once, at_once) as fleet, ThreadPoolExecutor(at_once) as pool:

        def some(number):
            with options.kind(options.python, f"{folder}/w{number}", fleet, f"vm{number}") as watcher:
                return [delay(watcher, event) for event in range(options.events // at_once)]

        took = [seconds for several in pool.map(some, range(at_once)) for seconds in several]
    took.sort()
    at = {percent: took[min(len(took) - 1, len(took) * percent // 100)] for percent in (50, 99)}
    print(
        f"event shown -> first hook begun, {len(took)} events: p50 {at[50]:.2f} s, p99 {at[99]:.2f} s, "
        f"at most {took[-1]:.2f} s, mean {statistics.mean(took):.2f} s"
    )


def delay(watcher, number):
    """Seconds from an event's announcement to its hook; at any moment between two looks."""
    time.sleep(number % 10 / 10)
    event, seconds = watcher.announce()
    watcher.take_back(event)
    return seconds


def life(options, folder):
    """As many looks as a day has, with events between them, at an interval for tests."""
    with Fleet(folder, 1, 1) as fleet, options.kind(options.python, f"{folder}/w", fleet, interval=0.005) as watcher:
        process, seen = watcher.process, []
        for number in range(options.events):
            event, _seconds = watcher.announce()
            watcher.take_back(event)
            wanted = options.looks * (number + 1) // options.events
            watcher.until(lambda wanted=wanted: watcher.published().get("looks", 0) >= wanted, 3600)
            seen.append((memory(process), handles(process), *size(watcher.state)))
            if number % max(1, options.events // 10) == 0:
                print(f"  {number + 1} events, {wanted} looks: {seen[-1][0]} kB, {seen[-1][1]} handles, {seen[-1][2:]}")
    tenth = max(1, len(seen) // 10)
    growth = [seen[-1][part] - seen[tenth - 1][part] for part in range(4)]
    print(
        f"{options.looks} looks and {options.events} events, after the first tenth of them: memory {growth[0]:+} kB, "
        f"handles {growth[1]:+}, files of its state {growth[2]:+}, their bytes {growth[3]:+} (history grows to its limit)"
    )


CASES = {"idle": idle, "hooks": hooks, "life": life}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=list(CASES))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--events", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4, help="watchers at a time, for hooks (%(default)s)")
    parser.add_argument("--looks", type=int, default=86400)
    parser.add_argument("--python", default=sys.executable, help="that the watcher runs on (%(default)s)")
    parser.add_argument("--wine", default="", help="the Wine that --python, a Windows one, runs under")
    options = parser.parse_args()
    options.kind, where = Watcher, None
    if options.wine:
        os.environ["WINEPREFIX"] = str(Path(os.environ["WINEPREFIX"]).resolve())
        UnderWine.before = (options.wine,)
        options.kind, where = UnderWine, f"{os.environ['WINEPREFIX']}/drive_c"  # what all may write is not trusted
    for name, case in CASES.items():
        if options.only in (None, name):
            with tempfile.TemporaryDirectory(dir=where) as folder:
                case(options, folder)


if __name__ == "__main__":
    main()
