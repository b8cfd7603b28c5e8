# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``iis``."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import TYPES
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
    ours,
)

NAMES = {"sites": ["Shop"], "app_pools": ["ShopPool"]}


def judge(about, result, **more):
    return judged("iis", about, result, **dict(NAMES, **more))


def test_its_words():
    what = "sites Shop and application pools ShopPool"
    assert completed("iis", "windows", **NAMES)[1] == (
        what,
        "stop " + what + " once running requests have ended",
        "start " + what,
    )
    assert completed("iis", "windows", app_pools=["A", "B"])[1].subject == "application pools A, B"


def test_a_slip_in_a_name():
    assert judge("sites", {"site": [{"name": "Shop"}, {"name": "Other"}]}) == (True, "", "")
    assert judge("sites", {"site": [{"name": "shop"}]}).problem == "IIS has no site named Shop; it has shop"
    assert judge("app_pools", {"app_pools": [{"name": "ShopPool"}]}) == (True, "", "")
    found = judge("app_pools", {"app_pools": [{"name": "A"}, {"name": "B"}]})
    assert found.problem == "IIS has no application pool named ShopPool; it has A, B"
    assert judge("sites", {"site": None}).problem == "IIS has no site named Shop; it has none"


SHOWN = {
    "site": [{"name": "Shop", "state": "Started"}, {"name": "Idle", "state": "Stopped"}],
    "app_pools": [{"name": "ShopPool", "attributes": {"state": "Started"}}, {"name": "Odd"}],
}


def case(**names):
    made, _words = completed("iis", "windows", **dict({"sites": [], "app_pools": []}, **names))
    return TYPES["iis"].initial_state(made, SHOWN)


@pytest.mark.parametrize(
    "names, problem",
    [
        ({"sites": ["Shp"]}, "IIS has no site named Shp; it has Shop, Idle"),
        ({"sites": ["Shop"], "app_pools": ["Pool"]}, "IIS has no application pool named Pool; it has ShopPool, Odd"),
    ],
)
def test_a_slip_in_a_name_is_found_before_anything_is_begun(names, problem):
    with pytest.raises(StepError, match=problem):
        case(**names)


def test_what_does_not_run_is_not_ours():
    names = {"sites": ["Shop", "Idle"], "app_pools": ["ShopPool", "Odd"]}
    before = case(**names)
    assert before == {"sites": ["Shop"], "app_pools": ["ShopPool", "Odd"]}  # of which one says nothing of itself
    step = ours("iis", before, **names)
    assert (step["sites"], step["app_pools"]) == (["Shop"], ["ShopPool", "Odd"])
    assert ours("iis", case(sites=["Idle"]), sites=["Idle"]) is None


def test_requests_are_waited_for():
    assert judge("requests", {"result": {"left": 0}}) == (True, "", "")
    assert judge("requests", {"result": {"left": 2}}).problem == "2 requests are still running"
    found = judge("requests", {"result": {"left": 2}}, at_limit="continue")
    assert found == (False, "", "went on although 2 requests were still running")
