# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``failover_cluster``."""

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
)


def test_its_words():
    assert completed("failover_cluster", "windows", node="N1", fail_back="policy")[1] == (
        "node N1",
        "suspend the node N1 and drain its roles",
        "resume the node N1, fail-back: policy",
    )
    assert completed("failover_cluster", "windows")[1].subject == "node of this machine"


def test_a_node_that_followed():
    seen = {"node": "N1", "state": "Paused", "drain": "Completed", "done": True, "problem": ""}
    assert judged("failover_cluster", "followed", {"result": seen}) == (True, "", "")


def test_a_node_that_did_not_follow():
    seen = {"node": "N1", "state": "Paused", "drain": "Failed", "done": False, "problem": ""}
    found = judged("failover_cluster", "followed", {"result": seen})
    assert found.problem == "node N1 is Paused, its drain is Failed."
    seen = {"node": "N1", "state": "", "drain": None, "done": False, "problem": "The cluster service is not running"}
    found = judged("failover_cluster", "followed", {"result": seen})
    assert found.problem == "node N1 is unknown, its drain is unknown. The cluster service is not running"
