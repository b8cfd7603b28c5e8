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


def its_time_is_over():
    """The alarm of the call rings now: when this is ready for it, however slow the machine is."""
    os.kill(int(os.environ["CALLS_WORKER"]), signal.SIGALRM)
    time.sleep(1000)


marker = sys.argv[1]
call = json.loads(sys.stdin.buffer.read().decode("utf-8"))
play = call["requests"][0].get("play", "") if call["requests"] else ""
answer = {
    "answers": [{"age": 0.5, "began": 1.0, "request": request} for request in call["requests"]],
    "mark": None,
    "yes": [],
    "boot_id": "b",
    "took": 0.001,
    "number": call["options"]["number"],
    "fenced": "",
    "ask": [],
    "elsewhere": None,
    "lost": "",
}

if play == "hang":  # with children in and outside of its process group, all of which hold its output
    inner = "import os, time; os.path.exists('x'); time.sleep(1000)"
    children = [
        subprocess.Popen([sys.executable, "-c", inner], start_new_session=new_session) for new_session in (True, False)
    ]
    with open(call["options"]["folder"], "w", encoding="ascii") as file:
        file.write(" ".join(str(pid) for pid in [os.getpid(), *(child.pid for child in children)]))
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    its_time_is_over()
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
if play == "slow to end":
    sys.stdout.flush()
    its_time_is_over()
