# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each fault that the guide lists for the watcher has tests, they are there, and the guide names their lanes; the same for Windows."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from ansible_collections.cloudops.azure_maintenance.tests.unit.faults_on_windows import ON_WINDOWS, WINE, WORDS
from ansible_collections.cloudops.azure_maintenance.tests.wine import run

TESTS = pathlib.Path(__file__).resolve().parents[1]
PAGE = TESTS.parent / "docs" / "docsite" / "rst" / "watcher_faults.rst"
LANES = ("unit", "simulation", "fleet")

# By a fault's name on the page: tests, by file and function; stories of vectors, by name; what befalls a simulated life, by words
# of a file. Files whose folder begins with an underscore are in tests/unit/plugins/module_utils.
FAULTS = {
    "It answers with status 404, 410, 429, 500 or 503": [
        "_watcher/test_watcher_faults.py::test_wrong_answers_in_the_middle_of_an_outage",
        "_watcher/test_watcher_faults.py::test_a_service_that_answers_nothing_but_errors_at_first",
        "_watcher/test_watcher_real.py::test_a_fault_takes_back_no_event_and_ends",
        "_watcher/test_looking.py::test_what_may_not_be_asked_every_second_is_left_alone_for_longer",
        "vectors/watcher.json::blind: told after a while, gone on by what was seen last, told when it sees again",
        'simulation/watcher/life.py::"blind"',
    ],
    "The connection is reset, the answer is empty or cut": [
        "_watcher/test_watcher_faults.py::test_wrong_answers_in_the_middle_of_an_outage",
        "_watcher/test_watcher_real.py::test_a_fault_takes_back_no_event_and_ends",
        "_watcher/test_looking.py::test_an_empty_answer_after_a_start_in_the_middle_of_an_outage",
        "vectors/watcher.json::empty answers are no documents",
    ],
    "An answer never comes": [
        "_watcher/test_watcher_faults.py::test_wrong_answers_in_the_middle_of_an_outage",
        "_watcher/test_watcher_real.py::test_an_answer_that_hangs_stops_neither_loop_nor_looks",
        "_watcher/test_watcher_program.py::test_while_a_look_hangs_it_still_ends_in_time",
    ],
    "A web page, a redirect, or somebody else's JSON comes": [
        "_watcher/test_watcher_faults.py::test_wrong_answers_in_the_middle_of_an_outage",
        "_watcher/test_watcher_real.py::test_a_fault_takes_back_no_event_and_ends",
        "_imds/test_transports_real.py::test_a_real_redirect_is_not_followed",
    ],
    "There are control characters in an answer": [
        "_watcher/test_watcher_faults.py::test_wrong_answers_in_the_middle_of_an_outage",
        "_watcher/test_watcher_real.py::test_control_characters_hide_nothing",
        "_watcher/test_report.py::test_nothing_in_it_plays_tricks_on_a_terminal",
    ],
    "Proxy variables are set in the unit": [
        "_watcher/test_watcher_faults.py::test_proxies_in_its_environment",
        "_watcher/test_watcher_real.py::test_proxies_are_not_used",
    ],
    "After a boot the first answer takes two minutes": [
        "_watcher/test_watcher_faults.py::test_rebooted_by_its_event_and_the_first_answer_takes_longer_than_any_other",
        "vectors/watcher.json::the first answer may take two minutes",
        "vectors/watcher.json::rebooted by its very event, and the first answer takes its time: nothing is done again meanwhile",
        "simulation/watcher/life.py::machine.first_answers",
    ],
    "The document's number begins anew": [
        "_watcher/test_watcher_approvals.py::test_the_document_s_number_begins_anew",
        "simulation/watcher/azure.py::self.incarnation = 1 if",
    ],
    "An approval is lost, or its answer": [
        "_watcher/test_watcher_approvals.py::test_an_approval_that_goes_wrong",
        "_watcher/test_watcher_real.py::test_a_post_that_is_lost_is_sent_again_until_the_document_confirms_it",
        "vectors/watcher.json::an approval that was lost is sent again, and none after it has started",
        "simulation/watcher/life.py::machine.post_faults",
    ],
    "An approval is answered with status 500 once": [
        "_watcher/test_watcher_approvals.py::test_an_approval_that_goes_wrong",
        "_watcher/test_watcher_real.py::test_a_post_that_fails_once",
        "vectors/watcher.json::an approval that was refused once is tried again soon",
        'simulation/watcher/life.py::"refused"',
    ],
    "Somebody else approves the event": [
        "_watcher/test_watcher_approvals.py::test_somebody_else_approves_it",
        "vectors/watcher.json::another approves it before this watcher does",
        'simulation/watcher/life.py::fate["approved_by_other"]',
    ],
    "The event is cancelled before, in the middle of, or after the preparation": [
        "_watcher/test_watcher_faults.py::test_cancelled_before_it_was_prepared_for_and_in_the_middle_of_it",
        "_watcher/test_watcher_program.py::test_an_outage_from_its_announcement_to_its_end",
        "vectors/watcher.json::cancelled before anything was begun",
        "vectors/watcher.json::cancelled while it is prepared for: nothing more is begun, then all is undone",
        'simulation/watcher/life.py::fate["cancelled_after"]',
    ],
    "A Preempt comes while the machine is being put back": [
        "_watcher/test_watcher_faults.py::test_a_preempt_in_the_middle_of_a_recovery",
        "_machine/test_turning_round.py::test_one_that_can_not_be_ended_holds_it_up_for_a_few_seconds",
        "_machine/test_hooks_killed.py::test_the_program_is_killed_anywhere_where_another_outage_takes_the_place_of_a_recovery",
        "vectors/watcher.json::a Preempt that shows while the machine is being recovered does not wait for the recovery's end",
        "vectors/watcher.json::nor does anything that has to be prepared for by now; until then it waits",
        "simulation/watcher/planted.py::waits",
    ],
    "An entry of the document can't be read: it has no id, no machines, or a damaged one": [
        "_watcher/test_watcher_outage.py::test_what_can_not_be_read_is_said_with_what_follows_from_it",
        "_watcher/test_commands.py::test_status_of_entries_that_can_not_be_read",
        "vectors/watcher.json::its event has left, and an entry without an id may be it: not recovered, which is said, until that has left, too",
        "simulation/watcher/life.py::self.scope.strays",
        "simulation/watcher/planted.py::lost-id",
    ],
    "Five machines of a set get one event each at once": [
        "_watcher/test_watcher_approvals.py::test_five_machines_with_one_event_each_at_once",
        "vectors/watcher.json::five machines with one event each at once, this one the third: it starts by itself, prepared in time",
        "simulation/watcher/life.py::self.all_at_once",
    ],
    "The event restarts the machine, and the watcher with it": [
        "_watcher/test_watcher_faults.py::test_rebooted_by_its_event_and_the_first_answer_takes_longer_than_any_other",
        "vectors/watcher.json::rebooted by its very event: recovered once that is over, after the boot's jobs",
        'simulation/watcher/life.py::fate["down"]',
        "fleet/test_watcher_role.py::test_through_its_own_reboot",
    ],
    "Something else restarts the machine while it is prepared": [
        "_watcher/test_watcher_faults.py::test_rebooted_by_nobodys_event",
        "vectors/watcher.json::back after a stranger's reboot: steps again, when the boot's jobs are over, and not approved before",
        "simulation/watcher/planted.py::_is_undone",
    ],
    "Power is cut in the middle of a prepare hook": [
        "_watcher/test_watcher_faults.py::test_a_power_cut_in_the_middle_of_a_prepare_hook",
        "_machine/test_hooks_killed.py::test_the_power_is_cut_on_the_way_there",
        "simulation/watcher/machine.py::self.dies_with_power",
        "fleet/test_watcher_hooks.py::test_a_power_cut_in_a_prepare_hook_has_failed_it",
    ],
    "Power is cut in the middle of a recover hook": [
        "_watcher/test_watcher_faults.py::test_a_power_cut_in_the_middle_of_a_recover_hook",
        "_machine/test_hooks_killed.py::test_the_power_is_cut_on_the_way_back",
        "vectors/watcher.json::a power cut in the middle of the recovery: gone on with, and nothing said twice",
        "simulation/watcher/machine.py::self.dies_with_power",
        "fleet/test_watcher_hooks.py::test_a_recover_hook_is_begun_once_more_after_a_power_cut_and_not_a_third_time",
    ],
    "The system goes down in order": [
        "_watcher/test_watcher_system.py::test_it_goes_down",
        "_watcher/test_loop.py::test_while_it_ends_nothing_is_begun",
        "vectors/watcher.json::while the system goes down nothing is started, approved or failed",
        "simulation/watcher/planted.py::going-down",
        "fleet/test_watcher_hooks.py::test_while_the_system_goes_down_nothing_is_begun_and_nothing_failed",
        "fleet/test_watcher_hooks.py::test_a_recover_hook_that_the_system_ends_when_it_goes_down_is_begun_once_more",
    ],
    "``kill -9`` at any moment": [
        "_machine/test_hooks_killed.py::test_the_program_is_killed_anywhere_on_the_way_there",
        "_machine/test_hooks_killed.py::test_the_program_is_killed_at_any_instant",
        "_watcher/test_watcher_program.py::test_one_that_is_killed_is_gone_on_with",
        "_watcher/test_watcher_faults.py::test_killed_at_each_place_of_a_reports_way_it_loses_none_and_reports_none_twice",
        "simulation/watcher/life.py::machine.kill",
        "fleet/test_watchers.py::test_a_watcher_that_is_killed_again_and_again",
        "fleet/test_watcher_hooks.py::test_whoever_began_it_is_killed",
    ],
    "It is upgraded or downgraded in the middle of an event": [
        "_watcher/test_watcher_faults.py::test_upgraded_and_downgraded_in_the_middle_of_hooks",
        "_watcher/test_watcher_faults.py::test_a_mark_that_can_not_be_read",
        "fleet/test_watcher_role.py::test_a_machine_that_is_out_of_service_keeps_its_watcher",
        "fleet/test_watcher_role.py::test_another_version_takes_over_and_runs_no_hook",
    ],
    "The machine is cloned while it is out of service": [
        "_watcher/test_watcher_faults.py::test_a_clone_of_a_machine_that_is_out_of_service",
        "vectors/watcher.json::a copy of the machine: mark and hold are put aside, and it goes its own way",
        "simulation/watcher/planted.py::copy",
    ],
    "The endpoint is changed while the machine is out of service": [
        "vectors/watcher.json::its own mark, made for another metadata service, is left as it is until that is gone by again",
    ],
    "The clock is set by an hour, ahead or back": [
        "_watcher/test_watcher_approvals.py::test_the_clock_on_the_wall_is_set",
        "vectors/watcher.json::the clock on the wall is put forward by an hour: told; nothing is done by it",
        "vectors/watcher.json::the clock on the wall is put back by an hour, and answers tell no date: by the clock as it is now",
        "simulation/watcher/life.py::-3600.0, 3600.0",
    ],
    "A hook fails, or is killed": [
        "_machine/test_hook_runner.py::test_a_failure_has_its_exit_code_and_its_last_words",
        "vectors/watcher.json::a preparation that failed is undone when there is time for it, and the event stays unapproved",
        "vectors/watcher.json::a recovery that leaves something is told, and tried again; what shows then begins another outage",
        "simulation/watcher/life.py::(seconds, 1)",
        "fleet/test_watcher_hooks.py::test_what_keeps_it_is_killed_and_systemd_ends_the_rest",
    ],
    "A recover hook can't be run: its rights are wrong, or it is gone": [
        "_watcher/test_watcher_faults.py::test_what_others_may_write_is_not_run",
        "_watcher/test_telling.py::test_a_recover_hook_that_is_not_run_is_a_step_all_the_same",
        "_machine/test_outage_hooks.py::test_one_that_was_refused_is_tried_again_by_itself",
        "vectors/watcher.json::a recover hook would not be run: not approved before it is put right, though the machine was prepared without it",
        "simulation/watcher/machine.py::take_rights",
        "fleet/test_watchers.py::test_a_recover_hook_that_somebody_has_taken_the_rights_from",
    ],
    "A hook hangs, or ignores SIGTERM": [
        "_machine/test_hook_runner.py::test_one_that_hangs_and_one_that_ignores_the_request_to_end",
        "simulation/watcher/life.py::it hangs",
        "fleet/test_watcher_hooks.py::test_at_its_limit_all_of_it_is_ended",
    ],
    "A hook leaves a daemon running": [
        "_machine/test_hook_runner.py::test_one_that_leaves_a_daemon_is_done_and_the_daemon_lives",
        "fleet/test_watcher_hooks.py::test_what_a_hook_leaves_running_is_let_be_and_asked_to_end_with_its_unit",
    ],
    "A hook asks for another try": [
        "_machine/test_hook_runner.py::test_one_that_asks_for_another_try_and_then_is_done",
        "_machine/test_hook_runner.py::test_it_gets_another_try_after_5_10_20_and_at_most_60_seconds",
        "simulation/watcher/life.py::(seconds, 75)",
    ],
    "A hook prints 10 MB": ["_machine/test_hook_runner.py::test_one_that_prints_10_mb"],
    "The disk is full": [
        "_watcher/test_watcher_faults.py::test_a_full_disk",
        "_watcher/test_watcher_faults.py::test_on_a_full_disk_a_person_can_recover_the_machine",
        "_watcher/test_reserve.py::test_on_a_disk_that_is_really_full",
        "vectors/watcher.json::what can't be written is not started, and nothing is approved; it is said, and gone on with",
        "simulation/watcher/planted.py::full",
    ],
    "The state is damaged": [
        "_watcher/test_watcher_faults.py::test_a_mark_that_can_not_be_read",
        "_watcher/test_watcher_faults.py::test_all_else_that_it_keeps_is_damaged",
        "_watcher/test_watcher_faults.py::test_what_came_of_a_hook_is_damaged",
        "_watcher/test_watcher_orders.py::test_a_hold_that_can_not_be_read_is_one_all_the_same",
        "vectors/watcher.json::a mark that can't be read stops all acting, and is said",
        "simulation/watcher/machine.py::damage_mark",
    ],
    "Others than root may write a hook, or a folder above it": [
        "_watcher/test_watcher_faults.py::test_what_others_may_write_is_not_run",
        "_watcher/test_hooks.py::test_a_folder_that_others_can_write_makes_all_in_it_refused",
        "_machine/test_hook_runner.py::test_one_that_others_can_write",
    ],
    "Others than root may write the settings": [
        "_watcher/test_settings.py::test_a_file_that_others_may_write_is_not_followed",
        "_watcher/test_settings.py::test_the_last_good_ones_stay_in_force",
    ],
}


def lane(where):
    """Whose test it is."""
    first = where.split("/")[0]
    return first if first in LANES else "unit"


def is_there(where):
    """Whether the test, the story or the words are still in that file."""
    file, _separator, name = where.partition("::")
    path = TESTS / ("unit/plugins/module_utils" if file.startswith("_") else "") / file
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    if file.startswith("vectors/"):
        return name in [case["name"] for case in json.loads(text)["cases"]]
    return (f"def {name}(" if path.name.startswith("test_") else name) in text


def rows():
    """Of the page's faults: by fault its lanes, and how it was tried on Windows. Where it says nothing, it is as most are."""
    faults = PAGE.read_text(encoding="utf-8").partition("   :depth: 1\n")[2]
    found = re.findall(r"^(\S.*)\n(?:   [^*].*\n)+(?:   \*(.+) \| (.+)\*\n)?", faults, re.M)
    return {fault: (lanes or "unit, simulation", windows or WINE) for fault, lanes, windows in found}


@pytest.mark.parametrize("fault", list(FAULTS))
def test_its_tests_are_there(fault):
    assert [where for where in FAULTS[fault] if not is_there(where)] == []


def test_the_guide_says_how_each_was_tried():
    lanes = {fault: {lane(where) for where in tests} for fault, tests in FAULTS.items()}
    wanted = {fault: ", ".join(one for one in LANES if one in lanes[fault]) for fault in FAULTS}
    assert {fault: found for fault, (found, _windows) in rows().items()} == wanted


def test_each_has_its_word_for_windows():
    assert {fault: words for fault, (_lanes, words) in rows().items()} == {
        fault: words for fault, (words, _tests) in ON_WINDOWS.items()
    }
    assert [words for words, _tests in ON_WINDOWS.values() if not words.startswith(WORDS)] == []


@pytest.mark.parametrize("fault", list(ON_WINDOWS))
def test_what_is_said_to_be_tried_on_windows_is(fault):
    words, tests = ON_WINDOWS[fault]
    assert [where for where in tests if not is_there(where)] == []
    assert bool(tests) is not words.startswith("not run")
    if words.startswith(WINE):
        assert [where for where in tests if not runs_under_wine(where)] == []


def runs_under_wine(where):
    """Whether lane wine collects that test."""
    if where.startswith("wine/test_"):
        return True
    named = any(where.startswith((f"{name}/", f"{name}::")) for name in run.FILES)
    return named and not any(where.startswith(start) for start in run.LEFT_OUT)


def test_what_is_gone_is_missed():
    assert not is_there("_watcher/test_gone.py::test_it") and not is_there("_watcher/test_loop.py::test_gone")
    assert runs_under_wine("_core/test_x.py::test_it") and not runs_under_wine("_machine/test_trust.py::test_it")
    assert not runs_under_wine("_watcher/test_history.py::test_a_link_is_not_followed")
    assert not is_there("vectors/watcher.json::x") and not is_there("simulation/watcher/life.py::not a word of it")
