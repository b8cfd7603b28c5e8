# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._machine import job_runner, jobs, supervisor
from ansible_collections.cloudops.azure_maintenance.tests.unit.plugins.module_utils._machine.doing import (
    LONG,
    JobClock,
    StandingClock,
)


@pytest.fixture(autouse=True)
def begun_at_once(monkeypatch):
    """A job that was begun is there: on a busy machine, too, where the next call would see that it is, and begin it anew."""
    monkeypatch.setattr(jobs, "LONGEST_BEGINNING", LONG)


@pytest.fixture
def only_by_its_own_limit(monkeypatch):
    """The job watches its limit itself. Its keeper would end it a second later, which is soon on a machine that is busy."""
    monkeypatch.setattr(supervisor, "Clock", StandingClock)


@pytest.fixture
def rests(tmp_path, monkeypatch):
    """The file of the job's rests, which take no time."""
    monkeypatch.setattr(job_runner, "Clock", lambda: JobClock(tmp_path / "rests"))
    return tmp_path / "rests"
