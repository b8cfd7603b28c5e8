# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``failover_cluster``."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.services import FAILOVER_CLUSTER
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
    ours,
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


@pytest.mark.parametrize("drain", ["NotInitiated", "InProgress", "Completed"])
def test_a_node_that_an_administrator_had_paused_is_drained_and_not_resumed(drain):
    seen = {"node": "N1", "state": "Paused", "drain": drain, "done": drain == "Completed", "problem": ""}
    initial = FAILOVER_CLUSTER.initial_state({}, {"result": seen})
    assert initial == {"paused": True}
    found = ours("failover_cluster", initial, system="windows")
    assert found["type"] == "failover_cluster" and found["undoes"] == ""


@pytest.mark.parametrize("state", ["Up", "Down"])
def test_any_other_node_is_ours(state):
    initial = FAILOVER_CLUSTER.initial_state({}, {"result": {"node": "N1", "state": state, "problem": ""}})
    assert (
        initial == {"paused": False} and ours("failover_cluster", initial, system="windows", node="N1")["node"] == "N1"
    )


def test_a_node_whose_state_is_not_known():
    seen = {"node": "N1", "state": "", "drain": "", "done": False, "problem": "The cluster service is not running"}
    with pytest.raises(StepError, match="the state of node N1 is not known. The cluster service is not running"):
        FAILOVER_CLUSTER.initial_state({}, {"result": seen})
