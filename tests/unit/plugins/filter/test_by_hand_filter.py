# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter of a person's playbooks: what templates hand over is taken as it is meant."""

from __future__ import annotations

import time

import pytest
from ansible.errors import AnsibleFilterError

from ansible_collections.cloudops.azure_maintenance.plugins.filter.maintenance_by_hand import maintenance_by_hand
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import (
    answer,
    event,
    mark,
)

EXPIRED = {"mark": mark("A-1"), "uptime": 999.0}


def asked(*events, **changes):
    return {"is_linux": "True", "resource_name": "", "answer": answer(*events, **changes)}


def test_what_is_said_on_a_command_line_is_text():
    answers = {"web1": asked(event("A-1", "vm1"), **EXPIRED), "web2": {}}
    for force, wanted in (("false", "refuse"), ("true", "recover"), (True, "recover"), ("no", "refuse")):
        overrides = {"force": force, "take": 7, "unmarked": "False"}
        found = maintenance_by_hand(answers, "recover", given=overrides)
        assert (found["web1"]["verdict"], found["web2"]["verdict"]) == (wanted, "lost")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "America/Los_Angeles"])
def test_the_age_of_a_mark_does_not_depend_on_the_controllers_time_zone(zone, monkeypatch):
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 600))
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        lines = maintenance_by_hand({"web1": asked(mark=dict(mark("A-1"), since=since))}, "status")
    finally:
        monkeypatch.undo()
        time.tzset()
    assert "(10 min ago)" in "\n".join(lines)


def test_a_part_that_there_is_none_of_is_refused():
    with pytest.raises(AnsibleFilterError, match="did you mean 'heard'"):
        maintenance_by_hand({}, "hears")
