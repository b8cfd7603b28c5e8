# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A machine with the watcher as it is installed, and with the sender of its reports: two processes and a folder."""

import json
import subprocess
import sys

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.watching import until


class Watched:
    """:arg program: the watcher's, as the role builds it
    :arg scope: "" where the inventory names none
    :arg url: where its reports go
    :arg settings: others than those of a watcher that only reports
    """

    def __init__(self, folder, program, name, scope, endpoint, url, secret, **settings):
        folder.mkdir(mode=0o755)
        self._hooks = folder / "hooks"
        for phase in ("prepare.d", "recover.d"):
            (self._hooks / phase).mkdir(parents=True)
        self.name = name
        self.secret = folder / "secret"
        self.give_secret(secret)
        self._state = folder / "state"
        self._settings = folder / "watcher.json"
        self._log = folder / "log"
        self._processes = []
        labels = {"inventory_hostname": name, **({"scope": scope, "capacity_group": scope} if scope else {})}
        whole = {"format": 1, "mode": "observe", "folder": str(self._state), "hooks_folder": str(self._hooks)}
        whole.update(endpoint=endpoint, boot_timeout=0, labels=labels)
        whole["reports"] = [{"url": url, "secret_file": str(self.secret)}]
        self._settings.write_text(json.dumps({**whole, **settings}), encoding="utf-8")
        self._settings.chmod(0o600)
        self._start(program, "watch", "--run-folder", str(folder / "run"))
        self._start(program, "send")

    def wait_until_it_polls(self):
        until(lambda: self._published().get("looking"))

    def _start(self, program, *words):
        command = [sys.executable, "-I", "-B", program, *words, "--settings", str(self._settings)]
        with self._log.open("ab") as log:
            self._processes.append(subprocess.Popen(command, stdout=log, stderr=log))

    def give_secret(self, secret):
        """Also while it runs."""
        self.secret.write_text(secret + "\n", encoding="ascii")
        self.secret.chmod(0o600)

    def prepare_hook(self, script):
        path = self._hooks / "prepare.d" / "10-leave"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)

    def reported(self, event):
        """What was reported of the event, in order."""
        path = self._state / "history.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines]
        return [one["happened"] for one in found if (one["event"] or {}).get("id") == event]

    def logged(self, words):
        return words in self._log.read_text(encoding="utf-8")

    def _published(self):
        try:
            return json.loads((self._state / "watcher.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def end(self):
        for process in self._processes:
            process.kill()
            process.wait()
