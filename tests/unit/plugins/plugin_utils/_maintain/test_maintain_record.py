# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole run by its record, from the first look to the end."""

from __future__ import annotations

import copy

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain import record as run_record
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.timeline import timeline
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import (
    approval,
    begin,
    done,
    event,
    look,
    problems,
    todo,
)


class TestAWholeReboot:
    """Two of three machines of one scope, from the first look to the end."""

    def test_step_by_step(self):
        record = begin()
        assert todo(record, "look", "participants", "act") == {"look": ["web1"], "participants": ["web1"], "act": False}
        assert record["todo"]["look_seconds"] == 180

        record = run_record.looked(record, {"web1": look(event(resources=["vm1", "vm2"]))}, at=10)
        assert record["todo"]["prepare"] == {
            "web1": {"deadline": 850, "ids": ["A"]},
            "web2": {"deadline": 850, "ids": ["A"]},
        }
        assert todo(record, "approve", "look", "participants") == {
            "approve": {},
            "look": ["web3"],
            "participants": ["web1", "web2", "web3"],
        }

        record = run_record.prepared(record, {"web1": done(), "web2": done()}, at=20)
        assert record["todo"]["prepare"] == {}
        assert record["todo"]["approve"] == {
            "web3": {"ids": ["A"], "prepared_resources": ["vm1", "vm2"], "allow_unknown": [], "wait": True}
        }

        record = run_record.approved(record, {"web3": approval("A")}, at=21)
        assert todo(record, "approve", "recover", "watch", "self_watch") == {
            "approve": {},
            "recover": [],
            "watch": ["web3"],
            "self_watch": [],
        }

        record = run_record.looked(record, {"web3": look(event(resources=["vm1", "vm2"], status="Started"))}, at=22)
        assert todo(record, "act", "recover") == {"act": False, "recover": []}

        record = run_record.looked(record, {"web3": look()}, at=300)
        assert todo(record, "recover", "revert") == {"recover": ["web1", "web2"], "revert": []}
        assert not record["finished"]

        record = run_record.recovered(record, {"web1": done(rebooted=True), "web2": done(rebooted=True)}, at=310)
        assert record["finished"] and record["rounds_done"] == 1 and problems(record) == []
        entry = record["events"]["A"]
        assert (entry["shown"], entry["started"], entry["gone"], entry["outcome"]) == (10, 22, 300, "completed")
        assert {host: result["ok"] for host, result in entry["recovered"].items()} == {"web1": True, "web2": True}

    def test_an_old_template_makes_nothing_of_not_known(self):
        record = run_record.looked(begin(), {"web1": look(event(status="Started"))}, at=0)
        record = run_record.looked(record, {"web2": look()}, at=60)
        record = run_record.recovered(record, {"web1": done(rebooted="")}, at=70)
        assert record["events"]["A"]["recovered"]["web1"]["rebooted"] is None
        assert any("recovered  web1" in line for line in timeline(record))

    def test_records_are_not_changed_in_place(self):
        record = begin()
        before = copy.deepcopy(record)
        run_record.looked(record, {"web1": look(event())}, at=1)
        assert record == before
