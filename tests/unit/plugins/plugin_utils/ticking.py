# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What machines answer in a tick, as small as it can be; host web1 is the VM vm1."""

from __future__ import annotations

STANDS = {"stands": "nothing", "unseen": "", "back": []}
"""Of an answer to a request to become prepared: no step of the machine can be looked at once more."""

LEASE = {"uptime": 10.0, "boot_id": "b", "until": 130.0}


def reboot(*resources, status="Scheduled", notice=600):
    """An event as scheduled_events_info returns it."""
    return {
        "id": "A",
        "type": "Reboot",
        "status": status,
        "source": "Platform",
        "resource_type": "VirtualMachine",
        "resources": list(resources),
        "raw_resources": list(resources),
        "not_before": "Mon, 19 Sep 2026 18:29:47 GMT" if notice is not None else "",
        "not_before_iso": None,
        "notice": notice,
        "description": "",
        "duration": -1,
        "affects_self": False,
    }


def look(*events, name="vm1"):
    """A look that brought a document."""
    return {
        "events": list(events),
        "incarnation": 3,
        "resource_name": name,
        "unusable_events": [],
        "failure": None,
        "msg": "",
        "began": 0.2,
        "age": 0.1,
    }


def answers(record, *events, mark_on=""):
    """What the machines of a tick's calls answer."""
    return {host: _answer(record, host, call, events, host == mark_on) for host, call in record.todo.calls.items()}


def _answer(record, host, call, events, marked):
    name = host.replace("web", "vm")
    hello = {"resource_name": name, "placement_group": "", "vm_id": "", "priority": "", "problem": ""}
    went = {"state": "preparing", "why": "", "ask": [], "elsewhere": None, "steps": [], **STANDS}
    found = {"hello": hello, "look": look(*events, name=name), "go": went}
    holder = {"kind": "run", "run": record.run.name, "job": "", "controller": "ctl"}
    mark = {"format": 1, "number": call["number"], "holder": holder, "since": "2026-01-01T00:00:00Z", "lease": LEASE}
    mark.update(renewed=mark["since"], endpoint="", vm_id="", boot_id="b", events=["A"], phase="preparing", steps=[])
    return {
        "lost": "",
        "answers": [found[request["do"]] for request in call["requests"]],
        "mark": mark if marked else None,
        "yes": [],
        "boot_id": "b",
        "uptime": 20.0,
        "took": 0.1,
        "number": call["number"],
        "fenced": "",
    }
