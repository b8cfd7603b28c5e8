# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What status and doctor say of a receiver that refuses reports."""

import types

import pytest

from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.commands import check_settings, status
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.last_try import (
    LastTry,
    what_to_do,
)
from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._watcher.reports.report_queue import Waiting

REFUSED = LastTry(
    "2026-01-01T00:00:00Z", "HTTP 401 Unauthorized", 401, "2026-01-01T01:00:00Z", 2, "b7 (ended): too old"
)
QUEUED = [Waiting("000000000001.json", 1, 4096, False, 1000.0)]


def view(last, there=()):
    one = status.DestinationView("https://eda.example/...", len(there), there[0].since if there else None, last)
    return types.SimpleNamespace(waits=[one], wall=1010.0)


def test_status_says_what_was_refused_and_what_to_do():
    lines = status._reports(view(REFUSED, QUEUED))
    assert any("last refused with HTTP 401 (2026-01-01T01:00:00Z). Was the secret rotated?" in line for line in lines)
    assert any("2 GIVEN UP so far, the last one b7 (ended): too old" in line for line in lines)


def test_status_does_not_advise_where_reports_are_taken_again():
    lines = status._reports(view(REFUSED._replace(words="HTTP 200 OK")))
    assert any(line.endswith("last refused with HTTP 401 (2026-01-01T01:00:00Z)") for line in lines)


def test_doctor_fails_while_reports_are_refused():
    (found,) = check_settings.waiting(view(REFUSED, QUEUED))
    assert found.words == (
        "https://eda.example/...: refused with HTTP 401, last at 2026-01-01T01:00:00Z; 1 wait, each for at most a day; "
        "2 given up so far"
    )
    assert found.advice.startswith("Was the secret rotated?")
    assert check_settings.waiting(view(REFUSED._replace(words="HTTP 200 OK"))) == []


@pytest.mark.parametrize(
    "code, words",
    [(401, "secret"), (403, "secret"), (400, "url"), (404, "url"), (410, "url"), (407, "proxy"), (422, "log")],
)
def test_the_advice_goes_by_the_answer(code, words):
    assert words in what_to_do(code)
