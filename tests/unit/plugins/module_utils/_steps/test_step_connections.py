# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``connections``."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.step_type import StepError
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.types import TYPES
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
    step,
)

NONE, SEVEN = {"result": {"left": 0, "looks": 3}, "looked": 3.0}, {"result": {"left": 7, "looks": 3}, "looked": 3.0}


def test_its_words():
    does = "wait until port 443 has no established connection"
    assert completed("connections", port=443)[1] == ("of port 443", does, "")
    assert completed("connections", port=443, at_least=15)[1].does == f"{does}, for 15 s at least"
    assert completed("connections", port=443, listen_again=True)[1].undoes == "wait until port 443 listens again"


@pytest.mark.parametrize("port", [0, 65536])
def test_what_is_no_port(port):
    with pytest.raises(StepError, match="is not between 1 and 65535"):
        completed("connections", port=port)


def test_none_are_left():
    assert judged("connections", "gone", NONE, port=443) == (True, "", "")


def test_some_are_left_at_the_limit():
    found = judged("connections", "gone", SEVEN, port=443)
    assert found == (False, "port 443 still has established connections", "")
    found = judged("connections", "gone", SEVEN, port=443, at_limit="continue")
    assert found == (False, "", "went on although port 443 still had established connections")


def test_none_means_nothing_before_a_load_balancer_can_have_noticed():
    words = "there was time for 3 s only, not for at_least: 4 s"
    assert judged("connections", "gone", NONE, port=443, at_least=4) == (False, words, "")
    assert judged("connections", "gone", NONE, port=443, at_least=4, at_limit="continue") == (
        False,
        "",
        f"went on although {words}",
    )
    assert judged("connections", "gone", NONE, port=443, at_least=3).done
    assert "still has" in judged("connections", "gone", SEVEN, port=443, at_least=4).problem


def test_a_plan_of_a_version_without_at_least_is_gone_through():
    made = {name: value for name, value in step("connections", port=443).items() if name != "at_least"}
    assert TYPES["connections"].judges["gone"](made, "do", NONE).done


@pytest.mark.parametrize(
    "options, words",
    [
        ({"at_least": -1}, "at_least is -1; it is a number of seconds, at least 0"),
        ({"at_least": 30, "timeout": 30.0}, "at_least is 30 s and timeout 30 s, so it could never end in time"),
        ({"at_least": 60}, "at_least is 60 s and timeout 60 s"),  # the host's own timeout
    ],
)
def test_a_wait_that_could_not_end_in_time_is_refused(options, words):
    with pytest.raises(StepError, match=words):
        completed("connections", port=443, **options)


def test_a_windows_machine_that_counted_nothing_is_not_free_of_connections():
    with pytest.raises(KeyError):
        judged("connections", "gone", {"result": {}}, port=443)
