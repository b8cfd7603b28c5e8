# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What modules of Ansible's would say that are called again and again, asked of the PowerShell that stays: each module is a start of its own,
which takes 3 to 4 s.

Private to this collection.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from ...module_utils._clock import Clock
from .._drain.elsewhere import has_ended
from .._drain.way import STATUS, Order
from .machine import WindowsMachine

STAYS = 2.0
"""Seconds that a look waits for the end of a job, as a call does for the steps of a Linux machine."""

EVERY = 0.25
"""Seconds from one look at its file to the next."""

SERVICE = "ansible.windows.win_service_info"

_SCRIPT = "ansible.windows.win_powershell"
_REMOVE = """param([string]$Folder, [string]$Name)
[System.IO.File]::Delete([System.IO.Path]::Combine([System.Environment]::ExpandEnvironmentVariables($Folder), $Name))"""


def said_instead(order: Order, async_dir: str, machine: WindowsMachine) -> dict[str, Any] | None:
    """What the module would return; None where only the module can say it.

    :arg async_dir: where Ansible keeps what its modules return that go on in the background
    """
    if order.use == _SCRIPT:
        return _run(order.options["script"], order.options["parameters"], machine)
    if order.use == SERVICE:
        services = machine.services(order.options["name"])
        return {"changed": False, "failed": False, "exists": bool(services), "services": services}
    if order.use == STATUS and not set("~$") & set(async_dir):
        jid = order.options["jid"]
        if order.options.get("mode") == "cleanup":
            return _run(_REMOVE, {"Folder": async_dir, "Name": jid}, machine)
        path = f"{async_dir}\\{jid}"
        return _awaited(lambda: _status(jid, *machine.ask({"Do": "read", "Path": path})), machine.clock)
    return None


def _awaited(status: Callable[[], dict[str, Any] | None], clock: Clock) -> dict[str, Any] | None:
    until = clock.now() + STAYS
    while True:
        found = status()
        if found is None or has_ended(found) or clock.now() + EVERY > until:
            return found
        clock.sleep(EVERY)


def _run(text: str, parameters: Mapping[str, Any], machine: WindowsMachine) -> dict[str, Any]:
    """As win_powershell has it with error_action: stop."""
    (answer,) = machine.ask({"Do": "script", "Text": text, "Parameters": parameters})
    if "failure" in answer:
        return {"changed": False, "failed": True, "msg": str(answer.get("message"))}
    return {"changed": bool(answer.get("changed")), "failed": False, "result": answer.get("result")}


def _status(jid: str, answer: Mapping[str, Any]) -> dict[str, Any] | None:
    """What async_status makes of a job's file."""
    if "failure" in answer:  # such as one that is large
        return None
    if answer["body"] is None:
        return {"failed": True, "msg": "could not find job", "ansible_job_id": jid, "started": 1, "finished": 1}
    text = base64.b64decode(answer["body"]).decode("utf-8-sig", "replace")
    if not text.strip():
        return {"ansible_job_id": jid, "started": 1, "finished": 0}
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if "started" not in found:
        return {**found, "ansible_job_id": jid, "finished": 1}
    return {"finished": 0, **found}
