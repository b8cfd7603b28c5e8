# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose turn it is, by the document that all machines of a scope read."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.messages import sentence
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.document import Document, UnusableEvent
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.engine.decision import (
    keys_of_others,
    not_its_turn,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._watcher.stories import event

OWN = event({"id": "E5", "in": 900, "on": ["VM1"]})


def why(*others, quiet=120.0, unusable=(), others_left=True):
    document = Document(1, (OWN, *(event(dict({"on": ["vm2"]}, **other)) for other in others)), tuple(unusable))
    found = not_its_turn(OWN, document, "vm1", quiet, 120.0, others_left)
    return sentence(found) if found else ""


def test_alone_it_is_its_turn():
    assert why() == ""


def test_of_others_one_that_started_comes_before_all():
    assert why({"id": "E9", "status": "Started"}) == "Reboot E9 of vm2 is under way"


def test_the_earlier_not_before_comes_first_and_of_these_the_earliest_is_named():
    assert why({"id": "E9", "in": 899}, {"id": "E8", "in": 100}) == "Reboot E8 of vm2 comes first"
    assert why({"id": "E1", "in": 901}) == ""


@pytest.mark.parametrize("other, turn", [("E6", True), ("e6", True), ("E4", False), ("e4", False)])
def test_of_one_not_before_the_smaller_id_comes_first(other, turn):
    assert (why({"id": other, "in": 900}) == "") is turn


def test_an_event_without_a_time_comes_last():
    assert why({"id": "E1"}) == ""


def test_advice_and_unknown_statuses_hold_up_nobody():
    assert why({"id": "E1", "type": "SpotRebalanceRecommendation", "status": "Advisory"}) == ""
    assert why({"id": "E1", "in": 1, "status": "Pondering"}) == ""


def test_what_can_t_be_read_may_be_under_way():
    broken = UnusableEvent(2, "its Resources are an empty list", {})
    assert "can't be read" in why(unusable=[broken])


def test_after_another_s_has_left_a_while_passes():
    assert why(quiet=119.9).startswith("waiting 120 s after another machine's last event (")
    assert why(quiet=5.0, others_left=False) == (
        "waiting 120 s from the first poll on, as another machine's event may have ended just before (5 s elapsed)"
    )


def test_an_event_that_lists_others_too_is_others():
    both = event({"id": "E1", "in": 1, "on": ["vm1", "vm2"]})
    assert keys_of_others(Document(1, (OWN, both)), "VM1") == {"E1"}
    assert keys_of_others(Document(1, (OWN,), (UnusableEvent(1, "", {}),)), "vm1") == {""}
