# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""In place of the machine program: it plays what the first request asks for."""

import json
import os
import signal
import subprocess
import sys
import time

marker = sys.argv[1]
call = json.loads(sys.stdin.buffer.read().decode("utf-8"))
play = call["requests"][0].get("play", "") if call["requests"] else ""
ages = {"began": 1.0, "since": 1.0, "asked": 1.0, "age": 0.5}
nothing = {"events": [], "unusable_events": [], "incarnation": 1, "resource_name": None, "failure": None}
answers = {
    "look": {**nothing, **ages, "msg": f"played: {play}"},
    "hello": {"resource_name": "vm1", "placement_group": "", "vm_id": "", "priority": "", "problem": ""},
}
answer = {
    "answers": [answers[request["do"]] for request in call["requests"]],
    "mark": None,
    "put_back": [],
    "yes": [],
    "hold": None,
    "watcher": None,
    "boot_id": "b",
    "uptime": 7.0,
    "took": 0.001,
    "number": call["options"]["number"],
    "fenced": "",
    "ask": [],
    "elsewhere": None,
    "lost": "",
}

if play == "hang":  # with a child, which holds its output
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(call["options"]["folder"] + ".new", "w", encoding="ascii") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename(file.name, call["options"]["folder"])
    time.sleep(1000)
if play == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
if play == "broken":
    raise RuntimeError("it is broken")
if play == "silent":
    sys.exit(3)
if play == "noise":
    sys.stdout.write("Welcome to {web1}\n[1]: azure_maintenance 0 {}\nno line end")
    sys.stderr.write("warning: something\n")
print("\n" + marker + json.dumps(answer))
if play == "noise":
    sys.stdout.write('{"more": 1}\nGood bye')
