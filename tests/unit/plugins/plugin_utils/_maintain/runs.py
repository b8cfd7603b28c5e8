# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs for the tests of the record: machines, what they are shown, and what became of their tasks."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import DEFAULT_POLICY
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.machines import Machine

NOT_BEFORE = "Thu, 01 Jan 1970 00:15:00 GMT"  # 900 s after the runs of these tests begin


def event(event_id="A", resources=("vm1",), status="Scheduled", notice=900, **more):
    data = {
        "id": event_id,
        "type": "Reboot",
        "status": status,
        "resource_type": "VirtualMachine",
        "resources": list(resources),
        "raw_resources": list(resources),
        "not_before": NOT_BEFORE if status == "Scheduled" else "",
        "notice": notice if status == "Scheduled" else None,
        "source": "Platform",
        "description": "",
        "duration": -1,
    }
    data.update(more)
    return data


def look(*events, **more):
    return dict({"events": list(events), "incarnation": 7}, **more)


def timed_out(*events):
    return look(*events, failed=False, failure={"kind": "timeout", "status": None, "url": "u"}, msg="nothing changed")


UNREACHABLE = {"unreachable": True, "msg": "no route to host"}
DENIED = {
    "failed": False,
    "failure": {"kind": "denied", "status": 403, "url": "u"},
    "msg": "403",
    "events": [],
    "incarnation": 7,
}


def machine(host, scope="web", **more):
    return Machine(
        host,
        host.replace("web", "vm").replace("lone", "solo"),
        scope,
        more.get("is_linux", True),
        more.get("problem", ""),
    )


def begin(*machines, **options):
    defaults = {
        "policy": DEFAULT_POLICY,
        "margin": 60.0,
        "allow_unknown": False,
        "prepare_within": 3600.0,
        "event_timeout": 3600.0,
        "on_failure": "revert",
        "rounds": 1,
        "wait_timeout": 1000.0,
        "slice": 30.0,
    }
    defaults.update(options)
    return run_record.begun(machines or (machine("web1"), machine("web2"), machine("web3")), defaults, at=0.0, wall=0.0)


def done(ok=True, **more):
    return dict(
        {
            "ok": ok,
            "seconds": 2.0,
            "message": "" if ok else "nginx did not stop",
            "reverted": not ok,
            "revert_errors": [],
        },
        **more,
    )


def approval(*ids, confirmed=True, **more):
    return dict(
        {
            "approved": list(ids),
            "already": [],
            "not_approved": [],
            "confirmed": list(ids) if confirmed else [],
            "failed": False,
        },
        **more,
    )


def problems(record):
    """The sentences that the run leaves for a person."""
    return list(record["problems"].values())


def todo(record, *names):
    return {name: record["todo"][name] for name in names}


def one_fails(**options):
    """Two machines of one event, of which the second could not be prepared."""
    record = run_record.looked(begin(**options), {"web3": look(event(resources=["vm1", "vm2"]))}, at=0)
    return run_record.prepared(record, {"web1": done(), "web2": done(ok=False)}, at=5)


def all_prepared(*machines, **event_keys):
    """An event of which every machine was prepared."""
    record = run_record.looked(
        begin(*machines), {(machines or [machine("web3")])[-1].host: look(event(**event_keys))}, at=0
    )
    return run_record.prepared(record, {host: done() for host in record["todo"]["prepare"]}, at=5)
