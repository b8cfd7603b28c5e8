# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many machines' documents in, one plan out."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.event import event_from_dict
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._events.policy import (
    DEFAULT_POLICY,
    parse_policy,
)
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.machines import Machine, PlanError
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._maintain.plan import (
    budget_of,
    plan_events,
    plan_to_dict,
)
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._maintain.runs import event, look

RULES = parse_policy(DEFAULT_POLICY)


def machine(host, name=None, scope="web", is_linux=True, problem=""):
    return Machine(host, host.replace("web", "vm") if name is None else name, scope, is_linux, problem)


WEB = (machine("web1"), machine("web2"), machine("web10"))


def plan_one(machines, data, seen_by=None, **options):
    planned = plan_events(machines, {host: look(data) for host in seen_by or [machines[-1].host]}, RULES, **options)
    assert len(planned) == 1
    return planned[0]


class TestPlan:
    def test_the_whole_plan_of_an_event(self):
        planned = plan_one(WEB, event(resources=["VM1", "vm2"]), seen_by=["web10"])
        assert planned.verdict == "prepare_and_approve"
        assert (planned.affected, planned.unknown, planned.unreachable) == (("web1", "web2"), (), ())
        assert planned.approvers == ("web10", "web1")
        assert planned.watchers == ("web10",)
        assert (planned.notice, planned.budget, planned.hold) == (900, 840, "")

    def test_vm1_is_not_vm10(self):
        assert plan_one(WEB, event(resources=["vm1"])).affected == ("web1",)
        assert plan_one(WEB, event(resources=["vm10"])).affected == ("web10",)

    def test_one_event_in_undeclared_scopes_is_one_event(self):
        machines = (machine("web1", scope="web1"), machine("web2", scope="web2"))
        planned = plan_events(machines, {"web1": look(event("a")), "web2": look(event("A"))}, RULES)
        assert len(planned) == 1
        assert planned[0].affected == ("web1",)
        assert planned[0].approvers == ("web2", "web1")

    def test_started_wins_where_two_looks_differ(self):
        planned = plan_events(WEB, {"web1": look(event()), "web2": look(event(status="Started", not_before=""))}, RULES)
        assert [one.verdict for one in planned] == ["watch"]
        planned = plan_events(WEB, {"web1": look(event(status="Started", not_before="")), "web2": look(event())}, RULES)
        assert [one.verdict for one in planned] == ["watch"]

    def test_machines_that_are_none_of_ours(self):
        planned = plan_one(WEB, event(resources=["somebody"]))
        assert (planned.verdict, planned.unknown) == ("not_ours", ("somebody",))

    def test_an_unknown_machine_holds_the_approval_but_not_the_preparation(self):
        planned = plan_one(WEB, event(resources=["vm1", "other"]))
        assert planned.verdict == "prepare"
        assert "other" in planned.hold and planned.hold in planned.why

    def test_the_user_may_allow_unknown_machines(self):
        planned = plan_one(WEB, event(resources=["vm1", "other"]), allow_unknown=True)
        assert (planned.verdict, planned.hold, planned.unknown) == ("prepare_and_approve", "", ("other",))

    def test_an_unreachable_machine_holds_the_approval_even_then(self):
        machines = (machine("web1"), machine("web2", problem="Ansible does not reach it: no route"), machine("web3"))
        planned = plan_one(machines, event(resources=["vm1", "vm2"]), allow_unknown=True)
        assert (planned.verdict, planned.unreachable) == ("prepare", ("web2",))
        assert "web2" in planned.hold and "no route" in planned.hold

    def test_machines_without_a_name_are_mentioned(self):
        machines = (machine("web1"), machine("web2", name="", problem="no route"))
        assert "web2" in plan_one(machines, event(resources=["vm1", "vm2"]), seen_by=["web1"]).hold

    def test_a_resource_that_is_two_hosts(self):
        machines = (machine("web1", name="same", scope="a"), machine("web2", name="SAME", scope="b"))
        with pytest.raises(PlanError) as caught:
            plan_events(
                machines, {"web1": look(event(resources=["same"])), "web2": look(event(resources=["same"]))}, RULES
            )
        assert "Event A (Reboot)" in str(caught.value) and "web1 and as web2" in str(caught.value)

    def test_an_equal_name_elsewhere_is_not_meant(self):
        machines = (machine("web1", name="same", scope="a"), machine("web2", name="same", scope="b"))
        planned = plan_events(machines, {"web1": look(event(resources=["same"])), "web2": look()}, RULES)
        assert planned[0].affected == ("web1",)

    def test_approve_at_once_by_policy(self):
        assert plan_one(WEB, event(source="User")).verdict == "approve"

    def test_approve_at_once_is_held_too(self):
        assert plan_one(WEB, event(source="User", resources=["vm1", "other"])).verdict == "watch"

    @pytest.mark.parametrize(
        "changes, verdict",
        [
            ({"type": "Freeze", "duration": 5}, "approve"),
            ({"type": "Freeze", "duration": -1}, "prepare_and_approve"),
            ({"type": "SpotRebalanceRecommendation", "status": "Advisory"}, "notify"),
            ({"type": "Vacation"}, "prepare_and_approve"),
            ({"status": "Pondering"}, "notify"),
            ({"status": "Started", "not_before": ""}, "watch"),
            ({"notice": 0}, "watch"),
            ({"notice": None, "not_before": ""}, "prepare_and_approve"),
        ],
    )
    def test_verdicts(self, changes, verdict):
        assert plan_one(WEB, event(**changes)).verdict == verdict

    def test_what_will_not_be_approved_is_prepared_for_only_when_it_is_near(self):
        rules = parse_policy([{"name": "never", "do": "prepare"}])
        far, near = ({"web1": look(event(notice=notice))} for notice in (86400, 3000))
        assert plan_events(WEB, far, rules)[0].verdict == "later"
        assert plan_events(WEB, near, rules)[0].verdict == "prepare"
        assert plan_events(WEB, far, rules, prepare_within=90000)[0].verdict == "prepare"

    def test_terminate_is_approved_by_the_machine_it_deletes_alone(self):
        assert plan_one(WEB, event(type="Terminate", resources=["vm2"])).approvers == ("web2",)

    def test_approvers_when_all_machines_are_affected(self):
        assert plan_one(WEB, event(resources=["vm2", "vm1", "vm10"])).approvers == ("web2", "web1")

    def test_plan_to_dict_and_back(self):
        planned = plan_one(WEB, event(resources=["vm1"]))
        data = plan_to_dict(planned)
        assert event_from_dict(data) == planned.event
        assert data["affected"] == ["web1"] and data["verdict"] == "prepare_and_approve"


@pytest.mark.parametrize(
    "notice, margin, budget",
    [(900, 60, 840), (30, 60, 22.5), (100, 60, 75), (None, 60, 540), (0, 60, 1), (-5, 60, 1), (900, 0, 900)],
)
def test_budget(notice, margin, budget):
    assert budget_of(notice, margin) == budget


class TestWhatMayBeOurs:
    """Unknown machines may be allowed; a machine of the run is none, even where it could not be asked."""

    @pytest.mark.parametrize(
        "silent",
        [
            machine("web2", problem="no route", scope="web2"),  # of a scale set: its scope would have been asked
            machine("web2", name="", problem="no route", scope="web2"),  # and its name as well
            machine("web2", name="", problem="no route"),
            machine("web2", name=""),
        ],
    )
    def test_it_holds_the_approval_though_unknown_machines_are_allowed(self, silent):
        planned = plan_one(
            (machine("web1"), silent, machine("web3")), event(resources=["vm1", "vm2"]), allow_unknown=True
        )
        assert planned.hold and planned.verdict == "prepare" and "web2" in planned.hold

    def test_a_machine_of_another_declared_scope_is_another_one(self):
        other = machine("db2", name="vm2", problem="no route", scope="db")
        planned = plan_one(
            (machine("web1"), machine("web3"), other),
            event(resources=["vm1", "vm2"]),
            seen_by=["web3"],
            allow_unknown=True,
        )
        assert (planned.hold, planned.unknown) == ("", ("vm2",))
