# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Marks that were made for another metadata service: a rehearsal's counts for nobody else, and a rehearsal touches no other."""

from __future__ import annotations

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core.mark_view import is_made_for
from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._fleet.status import status_lines
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet import asked_machines
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.plugin_utils._fleet.runs import (
    Machine,
    Run,
    event,
    mark,
)

AZURE = "http://169.254.169.254"
EMULATOR = "http://10.0.0.11:8780/vm/web1"
ALIVE, EXPIRED = 100000.0, 10.0


def run_against(service, bears, until, *ids, phase="prepared", **options):
    """A run of three machines, the first of which has a mark that another run made for some service."""
    run = Run(*(Machine(f"web{number}", endpoint=service) for number in (1, 2, 3)), **options)
    run["web1"].mark = dict(mark("r0", ids, phase=phase, until=until), endpoint=bears)
    return run


@pytest.mark.parametrize("phase", ["preparing", "prepared", "recovering", "half"])
@pytest.mark.parametrize("until", [ALIVE, EXPIRED])
@pytest.mark.parametrize("service, bears", [(AZURE, EMULATOR), ("", EMULATOR), (EMULATOR, AZURE), (EMULATOR, "")])
def test_a_mark_made_for_another_service_is_neither_taken_over_nor_brought_back(service, bears, until, phase):
    run = run_against(service, bears, until, "R", phase=phase, wait_timeout=100.0)
    run.to_end()
    assert run.goes("web1") == []
    assert run["web1"].mark["holder"]["run"] == "r0"


@pytest.mark.parametrize("until", [ALIVE, EXPIRED])
def test_it_does_not_count_as_prepared_whatever_it_says(until):
    run = run_against(AZURE, EMULATOR, until, "A")
    run.show(event("A", ["vm1", "vm2"]))
    run.tick(30)
    assert run.approvals() == [] and run.goes("web1") == []
    assert run.prepared("web2")
    why = [problem for problem in run.problems if "was not approved" in problem]
    assert why and "web1, which is marked by run r0 on ctl1" in why[0]


def test_it_counts_as_out_of_service():
    run = run_against(AZURE, EMULATOR, ALIVE, "R", max_unavailable="1")
    run.show(event("A", ["vm2"], not_before=2000.0))
    run.tick(5)
    assert run.goes("web2") == []
    assert "web1 is marked by run r0" in run.event("A").turn.words
    run["web1"].mark = None
    run.until(lambda: run.sent("A"))


def test_a_rehearsal_that_is_under_way_is_no_problem_of_others():
    run = run_against(AZURE, EMULATOR, ALIVE, "R", wait_timeout=30.0)
    run.to_end()
    assert run.problems == []
    assert run.at < 60, "it is not waited for"


def test_what_an_interrupted_rehearsal_left_is_named_with_the_way_out():
    run = run_against(AZURE, EMULATOR, EXPIRED, "R", wait_timeout=60.0)
    run.to_end()
    (problem,) = run.problems
    assert (
        "made for a metadata service other than Azure's, as in a rehearsal (http://10.0.0.11:8780/vm/web1)" in problem
    )
    assert "rehearse_state=absent" in problem


@pytest.mark.parametrize("rebooted", [False, True])
def test_what_an_interrupted_rehearsal_left_is_recovered_an_hour_later_by_the_next_real_run(rebooted):
    run = run_against(AZURE, EMULATOR, EXPIRED, "R", wait_timeout=5000.0)
    if rebooted:
        run["web1"].boot = "boot-2"
    run.until(lambda: run.at > 3500.0)
    assert run.goes("web1") == [] and "rehearse_state=absent" in str(run.problems)
    run.to_end()
    assert set(run.goes("web1")) == {"recovered"}
    assert run.marked() == [] and run.problems == []


@pytest.mark.parametrize(
    "service, bears, kind", [(EMULATOR, AZURE, "run"), (EMULATOR, EMULATOR + "2", "run"), (AZURE, EMULATOR, "watcher")]
)
def test_no_other_mark_is_taken_for_a_rehearsals(service, bears, kind):
    run = run_against(service, bears, EXPIRED, "R", wait_timeout=5000.0)
    run["web1"].mark["holder"]["kind"] = kind
    run.to_end()
    assert run.goes("web1") == [] and run.marked() == ["web1"]


def test_a_rehearsal_says_whose_the_real_mark_is():
    run = run_against(EMULATOR, AZURE, ALIVE, "R")
    run.show(event("A", ["vm1"]))
    run.tick(5)
    assert any(
        "marked by run r0 on ctl1, since 1970-01-01T00:00:00Z, made for Azure's own metadata service" in problem
        for problem in run.problems
    )


def test_a_run_that_is_begun_again_goes_on_with_marks_of_its_own_service():
    run = run_against(EMULATOR, EMULATOR + "/", EXPIRED, "R", wait_timeout=0.0)
    run.to_end()
    assert run.marked() == [] and run.problems == []


def test_a_mark_that_names_no_service_is_azure_s():
    assert is_made_for({"endpoint": ""}, AZURE) and is_made_for({}, "")
    assert not is_made_for({}, EMULATOR)
    assert is_made_for({"endpoint": "HTTP://169.254.169.254/"}, AZURE)


def test_status_names_the_service_where_it_is_not_azure_s():
    def lines(endpoint):
        bears = dict(asked_machines.mark("A-1"), endpoint=endpoint)
        return "\n".join(status_lines([asked_machines.machine(mark=bears)], 1767226200.0))

    assert "made for a metadata service other than Azure's, as in a rehearsal (http://10.0.0.11:8780/vm/web1)" in lines(
        EMULATOR
    )
    assert "made for" not in lines(AZURE) + lines("")
