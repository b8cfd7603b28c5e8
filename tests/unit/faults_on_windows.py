# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How each fault of the guide's table was tried on Windows: the words behind each on the page, and the tests that its words stand for.

What Wine only pretends to have counts for nothing: access lists, texts of the event log, notices of a shutdown, restarts by the service
manager, PowerShell.
"""

from __future__ import annotations

WINE, DECISION, STAND_IN = "Wine", "Wine, decision", "stand-in"
WORDS = (WINE, DECISION, STAND_IN, "not run")
"""What a cell begins with."""

FAULTS_THERE = "wine/test_windows_faults.py::"
POLLS = FAULTS_THERE + "test_approvals_and_polls_that_go_wrong"
CUTS = FAULTS_THERE + "test_the_power_is_cut_again_and_again"
CANCELLED = FAULTS_THERE + "test_cancelled_before_in_the_middle_and_after_and_a_recover_hook_that_is_gone"
DAMAGED = FAULTS_THERE + "test_what_it_keeps_is_damaged_and_the_machine_is_cloned"
HOOKS = "wine/test_windows_hooks.py::"
TRUST = "wine/test_windows_trust.py::"
STORIES = "_watcher/test_engine.py::test_a_life"  # of vectors/watcher.json, all of them

ANOTHER_START = "Wine, killed"

ON_WINDOWS = {
    "It answers with status 404, 410, 429, 500 or 503": (WINE, [POLLS]),
    "The connection is reset, the answer is empty or cut": (WINE, [POLLS]),
    "An answer never comes": (WINE, [POLLS]),
    "A web page, a redirect, or somebody else's JSON comes": (WINE, [POLLS]),
    "There are control characters in an answer": (WINE, [POLLS]),
    "Proxy variables are set in the unit": (
        "Wine, but no proxy of WinHTTP or of a user's settings",
        ["_imds/test_transports_real.py::test_a_real_proxy_is_not_contacted"],
    ),
    "After a boot the first answer takes two minutes": ("Wine: 11 s; two minutes by decision", [CUTS, STORIES]),
    "The document's number begins anew": (WINE, [POLLS]),
    "An approval is lost, or its answer": (WINE, [POLLS]),
    "An approval is answered with status 500 once": (WINE, [POLLS]),
    "Somebody else approves the event": (WINE, [CUTS]),
    "The event is cancelled before, in the middle of, or after the preparation": (WINE, [CANCELLED]),
    "A Preempt comes while the machine is being put back": (
        WINE,
        [FAULTS_THERE + "test_a_preempt_in_the_middle_of_a_recovery"],
    ),
    "An entry of the document can't be read: it has no id, no machines, or a damaged one": (WINE, [POLLS]),
    "Five machines of a set get one event each at once": (DECISION, [STORIES]),
    "The event restarts the machine, and the watcher with it": (ANOTHER_START, [CUTS]),
    "Something else restarts the machine while it is prepared": (ANOTHER_START, [CUTS]),
    "Power is cut in the middle of a prepare hook": (ANOTHER_START, [CUTS]),
    "Power is cut in the middle of a recover hook": (ANOTHER_START, [CUTS]),
    "The system goes down in order": (
        "stand-in: the service ends at once, hooks when Windows ends them",
        ["wine/test_windows_service.py::test_the_system_goes_down", STORIES],
    ),
    "``kill -9`` at any moment": (
        "Wine: started again by the test",
        ["wine/test_windows_service.py::test_killed_in_the_middle_and_started_again"],
    ),
    "It is upgraded or downgraded in the middle of an event": (
        "Wine, by hand",
        [FAULTS_THERE + "test_upgraded_and_downgraded_in_the_middle_of_hooks"],
    ),
    "The machine is cloned while it is out of service": (WINE, [DAMAGED]),
    "The endpoint is changed while the machine is out of service": (DECISION, [STORIES]),
    "The clock is set by an hour, ahead or back": (DECISION, [STORIES]),
    "A hook fails, or is killed": (
        WINE,
        [HOOKS + "test_one_that_fails", HOOKS + "test_a_keeper_that_is_killed_takes_all_of_it_along"],
    ),
    "A recover hook can't be run: its rights are wrong, or it is gone": (
        "Wine: it is gone; wrong rights by a stand-in",
        [CANCELLED, TRUST + "test_a_hook_that_users_may_write_is_not_run"],
    ),
    "A hook hangs, or ignores SIGTERM": (
        "Wine: it is ended at once",
        [HOOKS + "test_at_the_limit_all_of_it_ends"],
    ),
    "A hook leaves a daemon running": (
        "Wine: nothing ends it later",
        [HOOKS + "test_a_pipe_that_is_held_open_keeps_nothing_from_ending"],
    ),
    "A hook asks for another try": (WINE, [HOOKS + "test_one_that_asks_for_another_try"]),
    "A hook prints 10 MB": ("Wine: 3 MB", [HOOKS + "test_of_all_that_it_prints_the_end_is_kept"]),
    "The disk is full": (
        "Wine, decision; no disk was really full",
        [STORIES, "wine/test_windows_files.py::test_a_disk_without_that_much_room"],
    ),
    "The state is damaged": (WINE, [DAMAGED]),
    "Others than root may write a hook, or a folder above it": (
        STAND_IN,
        [
            TRUST + "test_a_hook_that_users_may_write_is_not_run",
            TRUST + "test_nor_one_whose_folder_they_may",
            "_machine/test_access_list.py::test_who_may_write_there",
        ],
    ),
    "Others than root may write the settings": (
        STAND_IN,
        [TRUST + "test_settings_that_they_may_write_are_not_followed"],
    ),
}
