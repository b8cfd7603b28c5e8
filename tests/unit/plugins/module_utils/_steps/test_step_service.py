# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``service``."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._steps.services import SERVICE
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._steps.steps import completed, ours


def test_its_name_is_the_service_or_what_to_call_it():
    step, words = completed("service", name="nginx")
    assert (step["service"], step["name"], words.subject) == ("nginx", "", "nginx")
    step, words = completed("service", name="The web server", service="nginx")
    assert (step["service"], step["name"], words.subject) == ("nginx", "The web server", "nginx")
    assert completed("service", service="nginx")[0]["name"] == ""


def test_its_words():
    words = completed("service", name="nginx")[1]
    assert (words.does, words.undoes) == ("stop the service nginx", "start the service nginx")


def test_a_service_that_did_not_run_is_not_ours():
    assert ours("service", {"ran": False}, service="nginx") is None
    assert ours("service", {"ran": True}, service="nginx")["service"] == "nginx"


@pytest.mark.parametrize(
    "found, options, initial",
    [
        ({"state": "started", "start_mode": "auto"}, {}, {"ran": True, "start_mode": "auto"}),
        ({"state": "started", "start_mode": "delayed"}, {}, {"ran": True, "start_mode": "delayed"}),
        ({"state": "started", "start_mode": "manual"}, {}, {"ran": True}),
        ({"state": "started", "start_mode": "auto"}, {"stay_stopped": False}, {"ran": True}),
        ({"state": "stopped", "start_mode": "auto"}, {}, {"ran": False}),
    ],
)
def test_the_start_mode_on_windows_is_noted_where_it_is_to_be_changed(found, options, initial):
    step = completed("service", name="Shop", **options)[0]
    assert SERVICE.initial_state(step, {"services": [found]}) == initial
    if initial["ran"]:
        assert ours("service", initial, service="Shop", **options).get("start_mode") == initial.get("start_mode")
