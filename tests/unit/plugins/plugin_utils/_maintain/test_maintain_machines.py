# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who the machines of a run are, who shares a scope, and who looks on behalf of all."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.machines import (
    Machine,
    PlanError,
    disagreements,
    identify,
    scopes,
    sentinels,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import event, look


def found(host, scope="", name=None, is_linux=True, **look_keys):
    result = dict(
        {"events": [], "incarnation": 1, "resource_name": host.replace("web", "vm") if name is None else name},
        **look_keys,
    )
    return {"host": host, "scope": scope, "resource_name": "", "is_linux": is_linux, "look": result}


def machine(host, name=None, scope="web", is_linux=True, problem=""):
    return Machine(host, host.replace("web", "vm") if name is None else name, scope, is_linux, problem)


WEB = (machine("web1"), machine("web2"), machine("web10"))


class TestIdentify:
    def test_scope_is_what_the_inventory_says_then_the_placement_group_then_the_machine(self):
        machines = identify(
            [
                found("web1", scope="declared", placement_group="pg-7"),
                found("web2", placement_group="pg-7"),
                found("web3"),
            ]
        )
        assert [one.scope for one in machines] == ["declared", "placement group pg-7", "web3"]

    def test_two_hosts_of_one_scope_that_are_one_vm(self):
        with pytest.raises(PlanError) as caught:
            identify([found("web1", scope="s", name="VM-A"), found("alias", scope="s", name="vm-a")])
        assert "web1 and alias" in str(caught.value) and "azure_maintenance_resource_name" in str(caught.value)

    def test_one_name_in_two_scopes_is_two_vms(self):
        assert len(identify([found("web1", name="vm"), found("web2", name="vm")])) == 2

    @pytest.mark.parametrize(
        "result, problem",
        [
            ({"unreachable": True, "msg": "ssh: no route\nmore"}, "Ansible does not reach it: ssh: no route"),
            ({"failed": True, "msg": "403"}, "403"),
            ({"failed": True}, "it could not be asked"),
            ({"failed": False, "failure": {"kind": "denied"}, "msg": "not allowed"}, "not allowed"),
            ({}, "it was not asked"),
            # the document came, and then the placement group did not
            ({"events": [], "incarnation": 3, "failure": {"kind": "timeout"}, "msg": "no group"}, "no group"),
        ],
    )
    def test_why_a_machine_could_not_be_asked(self, result, problem):
        one = identify([{"host": "web1", "scope": "", "resource_name": "declared-name", "look": result}])[0]
        assert (one.problem, one.reachable, one.resource_name) == (problem, False, "declared-name")

    @pytest.mark.parametrize("said, is_linux", [(True, True), (False, False), ("True", True), ("False", False)])
    def test_the_system_may_be_said_by_an_old_template(self, said, is_linux):
        assert identify([found("web1", is_linux=said)])[0].is_linux is is_linux

    def test_names_and_scopes_that_were_written_as_numbers(self):
        item = dict(found("web1", scope=7), resource_name=12, look={"unreachable": True, "msg": "down"})
        assert identify([item])[0][1:3] == ("12", "7")


class TestSentinels:
    def test_one_of_every_scope_linux_first(self):
        machines = (machine("win1", is_linux=False), machine("web1"), machine("lone", scope="lone", is_linux=False))
        assert sentinels(machines) == {"web": "web1", "lone": "lone"}

    def test_lost_and_unreachable_ones_are_passed_over(self):
        machines = (machine("web1", problem="down"), machine("web2"), machine("web3"))
        assert sentinels(machines) == {"web": "web2"}
        assert sentinels(machines, lost=["web2"]) == {"web": "web3"}
        assert sentinels(machines, lost=["web2", "web3"]) == {}

    def test_scopes_keep_inventory_order(self):
        assert {name: [one.host for one in members] for name, members in scopes(WEB).items()} == {
            "web": ["web1", "web2", "web10"]
        }


class TestDisagreements:
    def test_two_documents_in_one_scope(self):
        sentences = disagreements(WEB, {"web1": look(event("A")), "web2": look(), "web10": look(event("a"))})
        assert len(sentences) == 1
        assert "'web'" in sentences[0] and "web1 sees A" in sentences[0] and "web2 sees no event" in sentences[0]

    def test_a_machine_that_could_not_look_disagrees_with_nobody(self):
        assert not disagreements(WEB, {"web1": look(event("A")), "web2": {"failed": True, "msg": "x"}})
        assert not disagreements(WEB, {"web1": look(event("A")), "web2": look(incarnation=None)})

    def test_status_alone_is_no_disagreement(self):
        assert not disagreements(WEB, {"web1": look(event(status="Started")), "web2": look(event())})
