# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a machine is prepared for an event, by its mark."""

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import (
    OURS,
    WATCHER,
    is_prepared_for,
    mark_view,
)

MARK = {"phase": "prepared", "events": ["a-1", "B-2"], "boot_id": "boot-1"}


def prepared(owner=OURS, key="A-1", boot_id="boot-1", age=0.0, start=0.0, left_out=False, **changes):
    return is_prepared_for(mark_view(dict(MARK, **changes), owner), key, boot_id, age, start, left_out)


def test_by_this_run_or_by_its_own_watcher():
    assert prepared() and prepared(owner=WATCHER)
    assert not any(prepared(owner=other) for other in ("nobody", "run", "left", "drain", "foreign", "copied"))


@pytest.mark.parametrize("phase", ["preparing", "recovering", "half"])
def test_only_when_the_mark_says_so(phase):
    assert not prepared(phase=phase)


def test_for_an_event_of_the_mark():
    assert prepared(key="B-2") and not prepared(key="C-3")


@pytest.mark.parametrize("mark", [None, {"unreadable": "it is no JSON"}])
def test_no_mark_or_one_that_can_not_be_read(mark):
    assert not is_prepared_for(mark_view(mark, OURS), "A-1", "", 0.0)


def test_under_the_start_of_the_machine_under_which_its_steps_were_done():
    assert not prepared(boot_id="boot-2"), "whatever made it start has started its services"
    assert prepared(boot_id="boot-2", again="boot-2")
    assert not prepared(boot_id="boot-1", again="boot-2")


def test_with_no_step_left_out():
    assert not prepared(left_out=True)


@pytest.mark.parametrize(
    "age, start, wanted",
    [
        (10.0, 0.0, True),
        (10.1, 0.0, False),
        (None, 0.0, False),
        (23.0, 13.0, True),  # where each call has to start a PowerShell
        (23.1, 13.0, False),
        (40.0, 60.0, True),
        (40.1, 60.0, False),
    ],
)
def test_by_an_answer_that_is_young_enough(age, start, wanted):
    assert prepared(age=age, start=start) is wanted
