# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each machine goes by its own policy; the strictest decides about the approval."""

from __future__ import annotations

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import Event
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import (
    DEFAULT_POLICY,
    parse_policy,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.event_terms import decided


def event(type="Reboot", status="Scheduled", source="Platform", duration=-1):
    return Event("A", type, status, "VirtualMachine", ("app1", "db1"), ("app1", "db1"), "", None, "", source, duration)


def policy(do, name="All"):
    return parse_policy([{"name": name, "do": do}])


def test_a_database_that_is_only_prepared_keeps_its_event_from_being_approved():
    rules = {
        "app1": policy("prepare_and_approve"),
        "db1": policy("prepare", "Databases"),
        "db2": policy("prepare", "Databases"),
    }
    found = decided(event(), 900, rules)
    assert found.actions == {"app1": "prepare_and_approve", "db1": "prepare", "db2": "prepare"}
    assert (found.action, found.rule) == ("prepare", "Databases")
    assert found.words == (
        "prepare, do not approve [policy: Databases; rule 1 matches every event]; strictest: db1, db2; "
        "app1: prepare, then approve"
    )


def test_who_wants_nothing_done_is_stricter_than_who_wants_to_be_asked():
    found = decided(event(), 900, {"app1": policy("hold"), "db1": policy("ignore"), "db2": policy("approve")})
    assert found.action == "ignore"
    assert found.actions["app1"] == "hold"


def test_machines_that_agree_are_not_listed():
    found = decided(event(), 900, {"app1": policy("hold"), "db1": policy("hold")})
    assert found.words == "prepare, then wait for a confirmation [policy: All; rule 1 matches every event]"


def test_the_policy_is_asked_with_the_notice():
    rules = parse_policy([{"when": {"notice_below": 60}, "do": "notify"}, {"do": "prepare"}])
    assert decided(event(), 59, {"app1": rules}).action == "notify"
    assert decided(event(), 61, {"app1": rules}).action == "prepare"


def test_a_machine_that_somebody_deletes_is_prepared_first_by_default():
    rules = {"app1": parse_policy(DEFAULT_POLICY)}
    assert decided(event("Terminate", source="User"), 900, rules).action == "prepare_and_approve"
    assert decided(event("Reboot", source="User"), 900, rules).action == "approve"
