# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``connections``."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.checks import StepError
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import (
    completed,
    judged,
)

GAVE_UP = {"failed": False, "msg": "Timeout when waiting for 0.0.0.0:443 to drain"}


def test_its_words():
    does = "wait until port 443 has no established connection"
    assert completed("connections", port=443)[1] == ("of port 443", does, "")
    assert completed("connections", port=443, listen_again=True)[1].undoes == "wait until port 443 listens again"


@pytest.mark.parametrize("port", [0, 65536])
def test_what_is_no_port(port):
    with pytest.raises(StepError, match="is not between 1 and 65535"):
        completed("connections", port=port)


@pytest.mark.parametrize(
    "result", [{"results": [{"elapsed": 1}, {"elapsed": 2, "msg": ""}]}, {"result": {"left": 0, "looks": 3}}]
)
def test_none_are_left(result):
    assert judged("connections", "gone", result, port=443) == (True, "", "")


@pytest.mark.parametrize("result", [{"results": [{"elapsed": 1}, GAVE_UP]}, {"result": {"left": 7, "looks": 3}}])
def test_some_are_left_at_the_limit(result):
    found = judged("connections", "gone", result, port=443)
    assert found == (False, "port 443 still has established connections", "")
    found = judged("connections", "gone", result, port=443, at_limit="continue")
    assert found == (False, "", "went on although port 443 still had established connections")


def test_a_windows_machine_that_counted_nothing_is_not_free_of_connections():
    with pytest.raises(KeyError):
        judged("connections", "gone", {"result": {}}, port=443)
