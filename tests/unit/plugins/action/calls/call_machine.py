# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The action machine with a stand-in for the machine program; what it returns is left in a file of the host's name."""

from __future__ import annotations

import hashlib
import io
import json
import os
import pathlib
import time
import zipfile

from ansible_collections.cloudops.azure_maintenance.plugins.action import internal
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._lines import lines
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._machine.bundle import Program
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._tasks import machine_call

HERE = pathlib.Path(__file__).parent


def stand_in():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("__main__.py"), (HERE / "stand_in.py").read_text(encoding="utf-8"))
    return Program(hashlib.sha256(buffer.getvalue()).hexdigest() + ".pyz", buffer.getvalue())


machine_call.program = stand_in


class _Ahead:
    """The time of a call is over as soon as it hangs, however slow the machine is."""

    sleep = time.sleep

    @staticmethod
    def monotonic():
        hangs = pathlib.Path(os.environ["CALLS_FOLDER"], "hanging").exists()
        return time.monotonic() + (1000 if hangs else 0)


class ActionModule(internal.ActionModule):
    def run(self, tmp=None, task_vars=None):
        if task_vars["inventory_hostname"] == "hangs":
            lines.time = _Ahead
        found = super().run(tmp, task_vars)
        pathlib.Path(os.environ["CALLS_FOLDER"], task_vars["inventory_hostname"] + ".json").write_text(
            json.dumps(found, default=str)
        )
        return found
