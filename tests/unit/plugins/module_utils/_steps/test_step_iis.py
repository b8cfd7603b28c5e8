# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``iis``."""

from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
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


def test_requests_are_waited_for():
    assert judge("requests", {"result": {"left": 0}}) == (True, "", "")
    assert judge("requests", {"result": {"left": 2}}).problem == "2 requests are still running"
    found = judge("requests", {"result": {"left": 2}}, at_limit="continue")
    assert found == (False, "", "went on although 2 requests were still running")
