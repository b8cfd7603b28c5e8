# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the playbook recover does about a machine, and what it refuses."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.inspection import Asked
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.recover_plan import Overrides, verdicts
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.asked_machines import (
    DENIED,
    ELSEWHERE,
    LOST,
    UNREADABLE,
    answer,
    copied,
    event,
    machine,
    mark,
    step,
    watcher,
)

PAST = {"uptime": 500.0}  # when a mark has expired
NOTHING = Overrides()
OTHERS = event("B-2", "vm9")


def verdict(*events, overrides=NOTHING, others=(), **changes):
    said = answer(*events, **changes)
    return verdicts([machine("web1", said), *others], overrides)["web1"]


class TestByItsMark:
    def test_what_a_run_that_is_over_did_is_taken_back(self):
        steps = [
            step("service nginx"),
            step("command flush", "failed"),
            step("connections 80", unwords=""),
            step("http app", "waiting"),
            step("command x", "taken_back"),
        ]
        found = verdict(OTHERS, mark=mark("A-1", steps=steps), **PAST)
        assert found.verdict == "recover"
        assert found.words == (
            "is recovered from what run r7 (job 12) on ctl1 did: undo command flush, undo service nginx"
        )
        assert (found.take, found.forced, found.unmarked, found.drop) == ("r7", False, False, False)

    def test_a_machine_without_a_mark_is_left_alone(self):
        found = verdict()
        assert found.verdict == "leave" and "recover_unmarked=true undoes all steps" in found.words

    def test_that_of_the_vm_of_which_it_is_a_copy_is_put_aside_and_nothing_is_undone(self):
        said = copied(answer(mark=mark("A-1", steps=[step("service nginx")])))
        found = verdicts([machine("web1", said)], NOTHING)["web1"]
        assert (found.verdict, found.aside) == ("leave", True)
        assert "the mark of VM vm-a, of which it is a copy" in found.words
        found = verdicts([machine("web1", said)], Overrides(unmarked=True))["web1"]
        assert (found.verdict, found.unmarked, found.aside, found.drop) == ("recover", True, True, False)

    def test_unless_version_0_1_0_left_it(self):
        found = verdict(overrides=Overrides(unmarked=True))
        assert (found.verdict, found.unmarked, found.drop, found.take) == ("recover", True, False, "")

    def test_one_that_could_not_be_asked_is_lost(self):
        found = verdicts([machine("web1", LOST)], Overrides(force=True, unmarked=True))["web1"]
        assert (found.verdict, found.words) == ("lost", "could not be asked: No route to host. Nothing was done.")


class TestWhoHoldsIt:
    def test_a_run_that_lives_keeps_it(self):
        found = verdict(mark=mark("A-1"), overrides=Overrides(force=True, take="other"))
        assert found.verdict == "refuse"
        assert "owned by run r7 (job 12) on ctl1, since 2026-01-01T00:00:00Z, last renewed 40 s ago" in (found.words)
        assert "-e recover_take=r7" in found.words

    def test_unless_it_is_named(self):
        found = verdict(mark=mark("A-1"), overrides=Overrides(take="r7"))
        assert (found.verdict, found.take, found.forced) == ("recover", "r7", True)

    def test_one_that_goes_by_another_metadata_service_keeps_it(self):
        found = verdict(mark={**mark("A-1"), **ELSEWHERE}, **PAST)
        assert found.verdict == "refuse"
        assert "a metadata service other than Azure's" in found.words and "-e recover_take=r7" in found.words
        assert verdict(mark={**mark("A-1"), **ELSEWHERE}, overrides=Overrides(take="r7")).verdict == "recover"

    def test_a_reboot_ends_a_lease(self):
        assert verdict(mark=mark("A-1"), boot_id="b2", uptime=1.0).verdict == "recover"

    def test_what_role_drain_did_for_no_event_is_its_own_even_when_it_has_expired(self):
        found = verdict(mark=mark(kind="drain"), **PAST)
        assert found.verdict == "refuse" and "entry point recover of role drain" in found.words
        assert verdict(mark=mark(kind="drain"), overrides=Overrides(take="r7"), **PAST).verdict == "recover"

    @pytest.mark.parametrize("phase, wanted", [("recovering", "recover"), ("half", "recover"), ("prepared", "refuse")])
    def test_a_recovery_of_a_machine_without_a_mark_goes_on_where_it_was_cut_off(self, phase, wanted):
        assert verdict(mark=mark(kind="drain", phase=phase), **PAST).verdict == wanted

    def test_a_recovery_that_failed_can_be_tried_again_at_once(self):
        assert verdict(mark=mark("A-1", kind="drain", phase="half")).verdict == "recover"
        assert verdict(mark=mark("A-1", kind="run", phase="half")).verdict == "refuse"
        assert verdict(mark=mark("A-1", kind="drain", phase="recovering")).verdict == "refuse"


class TestItsMaintenanceIsNotOver:
    @pytest.mark.parametrize("status", ["Scheduled", "Started"])
    def test_the_event_of_its_mark_is_still_there(self, status):
        found = verdict(event("A-1", status=status), mark=mark("a-1"), **PAST)
        assert found.verdict == "refuse"
        assert f"taken out of service for Reboot A-1 ({status}, in 300 s), which is still there" in found.words
        assert "Nothing was done." in found.words and "recover_force=true" in found.words

    def test_it_is_there_when_another_machine_is_shown_it(self):
        others = [machine("web2", answer(event("A-1"), name="vm2"))]
        assert verdict(mark=mark("A-1"), others=others, **PAST).verdict == "refuse"

    def test_another_event_is_started_on_it(self):
        found = verdict(event("C-3", "VM1", status="Started"), mark=mark("A-1"), **PAST)
        assert found.verdict == "refuse" and "is affected by Reboot C-3 (Started" in found.words

    @pytest.mark.parametrize("own, other", [("Scheduled", "Started"), ("Started", "Scheduled")])
    def test_by_whoever_s_document_it_has_started(self, own, other):
        others = [machine("web2", answer(event("C-3", "vm1", status=other), name="vm2"))]
        assert verdict(event("C-3", "vm1", status=own), mark=mark("A-1"), others=others, **PAST).verdict == "refuse"

    def test_one_that_is_only_to_come_does_not_stop_it(self):
        assert verdict(event("C-3", "vm1"), mark=mark("A-1"), **PAST).verdict == "recover"

    def test_one_that_is_started_elsewhere_does_not(self):
        shown = event("C-3", "vm9", status="Started")
        assert verdict(shown, mark=mark("A-1"), **PAST).verdict == "recover"
        # but it may be this machine's where nobody knows its name
        assert verdict(shown, name="", mark=mark("A-1"), **PAST).verdict == "refuse"

    def test_nor_one_that_the_inventory_has_twice(self):
        said = answer(event("C-3", "vm1", status="Started"), mark=mark("A-1"), **PAST)
        found = verdicts([machine("web1", said), machine("again", said)], NOTHING)
        assert [one.verdict for one in found.values()] == ["refuse", "refuse"]

    def test_a_machine_without_a_mark_is_looked_at_as_well(self):
        shown = event("C-3", "vm1", status="Started")
        assert verdict(shown, overrides=Overrides(unmarked=True)).verdict == "refuse"

    def test_nobody_knows_while_it_can_not_look(self):
        found = verdict(mark=mark("A-1"), **PAST, **DENIED)
        assert found.verdict == "refuse" and "could not poll whether its maintenance is over: HTTP 403." in found.words

    @pytest.mark.parametrize("age, wanted", [(10.0, "recover"), (10.5, "refuse")])
    def test_nor_by_a_document_that_came_long_before_the_answer(self, age, wanted):
        found = verdict(mark=mark("A-1"), age=age, **PAST)
        assert found.verdict == wanted
        assert (
            wanted == "recover" or "could not poll whether its maintenance is over: Its last document is" in found.words
        )

    @pytest.mark.parametrize("id, wanted", [("", "refuse"), ("A-1", "refuse"), ("B-2", "recover")])
    def test_nor_while_its_event_may_be_an_entry_that_can_not_be_read(self, id, wanted):
        unusable = [{"position": 1, "id": id, "reason": "no resources"}]
        assert verdict(mark=mark("A-1"), unusable=unusable, **PAST).verdict == wanted

    @pytest.mark.parametrize("changes", [{}, DENIED, {"unusable": [{"position": 1, "id": "", "reason": "x"}]}])
    def test_forced_it_is_brought_back_all_the_same(self, changes):
        shown = [event("A-1", status="Started")] if not changes else []
        assert (
            verdict(*shown, mark=mark("A-1"), overrides=Overrides(force=True), **PAST, **changes).verdict == "recover"
        )


class TestAsARunDecides:
    """What keeps a machine out of service is one answer: it was another one of the playbook's own."""

    @pytest.mark.parametrize("status, wanted", [("Scheduled", "recover"), ("Started", "refuse")])
    def test_a_recovery_that_has_begun_ends_though_its_event_shows_again(self, status, wanted):
        found = verdict(event("A-1", status=status), mark=mark("A-1", phase="recovering"), **PAST)
        assert found.verdict == wanted

    @pytest.mark.parametrize("notice, wanted", [(30, "recover"), (None, "recover"), (-1, "refuse")])
    def test_an_event_for_which_it_could_not_be_prepared_any_more_keeps_it_out(self, notice, wanted):
        found = verdict(event("C-3", "vm1", notice=notice), mark=mark("A-1"), **PAST)
        assert found.verdict == wanted
        assert wanted == "recover" or "is affected by Reboot C-3 (Scheduled, at any moment): recover" in found.words

    def test_an_event_despite_which_a_person_has_recovered_it_keeps_it_out_no_more(self):
        said = answer(event("A-1"), mark=mark("A-1", phase="half"), **PAST)
        assert verdicts([machine("web1", said)], NOTHING)["web1"].verdict == "refuse"
        assert verdicts([machine("web1", {**said, "put_back": ["A-1"]})], NOTHING)["web1"].verdict == "recover"


class TestAMarkThatCanNotBeRead:
    @pytest.mark.parametrize(
        "overrides", [Overrides(), Overrides(force=True), Overrides(unmarked=True), Overrides(take="r7")]
    )
    def test_nobody_can_tell_what_was_done(self, overrides):
        found = verdict(mark=UNREADABLE, overrides=overrides)
        assert found.verdict == "refuse"
        assert "it is no JSON." in found.words and "-e recover_force=true -e recover_unmarked=true" in found.words

    def test_both_together_take_back_all_steps(self):
        found = verdict(mark=UNREADABLE, overrides=Overrides(force=True, unmarked=True))
        assert (found.verdict, found.unmarked, found.drop) == ("recover", True, True)


class TestOfItsWatcher:
    MARK = mark("A-1", kind="watcher", run="watcher")

    @pytest.mark.parametrize(
        "alive, words", [(True, "which recovers it itself"), (False, "which is down: start it there")]
    )
    def test_its_mark_is_taken_back_by_nobody_else(self, alive, words):
        found = verdicts([machine("web1", dict(answer(mark=self.MARK, **PAST), watcher=watcher(alive)))], NOTHING)[
            "web1"
        ]
        assert found.verdict == "refuse"
        assert words in found.words and "azure-maintenance recover" in found.words

    @pytest.mark.parametrize(
        "is_linux, command",
        [(True, "systemctl start azure-maintenance"), (False, "net start azure-maintenance")],
        ids=["Linux", "Windows"],
    )
    def test_it_is_started_as_its_system_does(self, is_linux, command):
        down = Asked("web1", is_linux, "vm1", dict(answer(mark=self.MARK, **PAST), watcher=watcher(False)))
        assert f"is down: start it there ({command})" in verdicts([down], NOTHING)["web1"].words

    def test_nor_where_it_was_removed(self):
        assert "which is down" in verdict(mark=self.MARK, **PAST).words

    def test_unless_a_person_says_so(self):
        found = verdict(mark=self.MARK, overrides=Overrides(take="watcher"), **PAST)
        assert (found.verdict, found.take, found.forced) == ("recover", "watcher", True)
