# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of a person's playbooks share: events as they are shown, marks, answers of machines."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked


def event(id="A-1", *resources, type="Reboot", status="Scheduled", notice=300, affects_self=True, not_before="soon"):
    names = list(resources or ("vm1", "vm2"))
    return {
        "id": id,
        "type": type,
        "status": status,
        "resource_type": "VirtualMachine",
        "resources": names,
        "raw_resources": names,
        "not_before": not_before,
        "notice": notice,
        "affects_self": affects_self,
        "source": "Platform",
        "description": "",
        "duration": None,
    }


def step(key, state="done", note="", unwords=None):
    return {
        "key": key,
        "words": f"do {key}",
        "unwords": f"undo {key}" if unwords is None else unwords,
        "state": state,
        "seconds": 0.0,
        "note": note,
    }


def mark(*ids, phase="prepared", kind="run", run="r7", steps=(), number=17):
    """Since midnight, renewed when the machine had been up for 100 s, for 120 s."""
    return {
        "number": number,
        "holder": {"kind": kind, "run": run, "job": "12", "controller": "ctl1"},
        "since": "2026-01-01T00:00:00Z",
        "renewed": "2026-01-01T00:01:00Z",
        "lease": {"uptime": 100.0, "boot_id": "b1", "until": 220.0},
        "boot_id": "b1",
        "events": list(ids),
        "phase": phase,
        "steps": list(steps),
    }


def watcher(alive=True, **more):
    """What a machine's own watcher says of itself."""
    return {"alive": alive, "mode": "manage", "version": "1", "endpoint": "", "lacks": [], "prepares": True, **more}


UNREADABLE = {"unreadable": "/m/mark.json can't be understood: it is no JSON"}


def answer(*events, mark=None, uptime=140.0, boot_id="b1", yes=(), name="vm1", unusable=(), **look):
    said = {"events": list(events), "incarnation": 3, "failure": None, "msg": "", "unusable_events": list(unusable)}
    return {
        "lost": "",
        "answers": [{"resource_name": name, "problem": ""}, {**said, **look}],
        "mark": mark,
        "boot_id": boot_id,
        "uptime": uptime,
        "yes": list(yes),
    }


DENIED = {"events": [], "incarnation": None, "failure": {"kind": "denied"}, "msg": "HTTP 403."}
LOST = {"lost": "no route to host", "answers": None, "mark": None, "yes": None, "boot_id": None, "uptime": None}


ELSEWHERE = {"endpoint": "http://10.0.0.11:8780/vm/web1"}


def copied(said):
    """The same answer, of a VM that is a copy of the one on which its mark was made."""
    hello, *others = said["answers"]
    return {**said, "answers": [{**hello, "vm_id": "VM-B"}, *others], "mark": {**said["mark"], "vm_id": "vm-a"}}


def machine(host="web1", said=None, **changes):
    return Asked(host, True, "", said if said is not None else answer(**changes))
