# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A callback of Ansible that writes down when a run began its first task, for which hosts, and how it ended: a JSON line each."""

from __future__ import annotations

import json
import os
import time

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: noted_runs
type: aggregate
short_description: Writes down when runs begin and end
description: A JSON line each, into the file that the variable AZM_RUNS of the environment names.
"""


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "noted_runs"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self):
        super().__init__()
        self._hosts = None
        self._began = False

    def v2_playbook_on_play_start(self, play):
        if self._hosts is None:
            self._hosts = sorted(host.name for host in play.get_variable_manager()._inventory.get_hosts(play.hosts))

    def v2_playbook_on_task_start(self, task, is_conditional):
        if not self._began:
            self._began = True
            self._note("began")

    def v2_playbook_on_stats(self, stats):
        failed = any(stats.summarize(host)["failures"] for host in stats.processed)
        self._note("failed" if failed else "ended")

    def _note(self, what):
        line = json.dumps({"run": os.getpid(), "what": what, "hosts": self._hosts or [], "at": time.monotonic()})
        with open(os.environ["AZM_RUNS"], "a", encoding="utf-8") as file:
            file.write(line + "\n")
