#!/usr/bin/python
# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stands in for any module: notes how it was called and answers what the test has laid out. WANT_JSON

$DRAIN_TEST_DIR/answers.json: {"MODULE": [answer, ...]}, one used up at each call; without one, {"changed": true} and what proves it.
"""

import json
import os
import sys

folder = os.environ["DRAIN_TEST_DIR"]
with open(sys.argv[1]) as file:
    arguments = json.load(file)
module = arguments.get("_ansible_module_name", "?").rsplit(".", 1)[-1]
own = {key: value for key, value in arguments.items() if not key.startswith("_ansible_")}
if "script" in own:
    own["script"] = [line for line in own["script"].splitlines() if line and not line.startswith("#")][0]
with open(os.path.join(folder, "calls.jsonl"), "a") as file:
    file.write(json.dumps({"module": module, "args": own}) + "\n")
answers = {}
path = os.path.join(folder, "answers.json")
if os.path.exists(path):
    with open(path) as file:
        answers = json.load(file)
proof = {"win_service": {"state": "as it was to be"}, "win_command": {"rc": 0}, "win_wait_for": {"elapsed": 0.1}}
answer = answers[module].pop(0) if answers.get(module) else dict(proof.get(module, {}), changed=True)
with open(path, "w") as file:
    json.dump(answers, file)
print(json.dumps(answer))
