# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demo takes from maintain's output."""

from __future__ import annotations

import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGUN = """
PLAY [Live through planned maintenance] ***
2026-11-22T14:15:40Z  note       web1 waits for nobody
"""
WAITS = "2026-11-22T14:15:44Z  waits      nothing is under way; web1 look for new events, until 2026-11-22T14:25:11Z"


@pytest.fixture(name="printed")
def _printed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "demo"))
    import printed

    return printed


def test_events_are_announced_once_maintain_says_that_it_waits(printed):
    """Each machine has asked more than once by then, and some have not been shown the document yet."""
    assert printed.waiting(BEGUN) == printed.waiting(BEGUN + WAITS) == ""
    assert printed.waiting(BEGUN + WAITS + "\n") == WAITS
