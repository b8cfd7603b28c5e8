# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter that users call for a plan: what templates hand over is taken as it is meant."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_plan import maintenance_plan
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils import ticking


def found(host, *events, scope="web"):
    return {
        "host": host,
        "scope": scope,
        "resource_name": "",
        "is_linux": "True",
        "look": ticking.look(*events, name=host.replace("web", "vm")),
    }


def test_a_plan():
    (planned,) = maintenance_plan([found("web1", ticking.reboot("vm1")), found("web2", ticking.reboot("vm1"))])
    assert planned["verdict"] == "prepare_and_approve" and planned["approvers"] == ["web2", "web1"]
    assert (
        planned["affected"] == ["web1"]
        and planned["budget"] == pytest.approx(540, abs=1)
        and planned["seen_by"] == ["web1", "web2"]
    )


@pytest.mark.parametrize(
    "event, options, verdict",
    [
        (ticking.reboot("vm1", status="Started", notice=None), {}, "watch"),
        (ticking.reboot("vm9"), {}, "not_ours"),
        (ticking.reboot("vm1", "vm9", notice=290), {}, "prepare"),
        (ticking.reboot("vm1", "vm9", notice=7200), {}, "later"),
        (ticking.reboot("vm1"), {"policy": [{"name": "All", "do": "ignore"}]}, "ignore"),
        (ticking.reboot("vm1", "vm9"), {"policy": [{"name": "All", "do": "approve"}]}, "watch"),
        (ticking.reboot("vm1"), {"policy": [{"name": "All", "do": "hold"}]}, "hold"),
    ],
)
def test_what_is_planned(event, options, verdict):
    (planned,) = maintenance_plan([found("web1", event), found("web2", event)], **options)
    assert planned["verdict"] == verdict
    assert ("vm9" in planned["hold"]) is (
        verdict in ("prepare", "later") or options.get("policy", [{}])[0].get("do") == "approve"
    )


def test_a_machine_that_could_not_be_asked_is_named_in_the_plan():
    lost = dict(found("web2"), look={"unreachable": True, "msg": "refused"}, resource_name="vm2")
    (planned,) = maintenance_plan([found("web1", ticking.reboot("vm2")), lost])
    assert planned["unreachable"] == ["web2"]
