# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the demo takes from maintain's output, and the next step that it names."""

from __future__ import annotations

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGUN = """
PLAY [Live through planned maintenance] ***
2026-11-22T14:15:40Z  note       web1 waits for nobody
"""
WAITS = "2026-11-22T14:15:44Z  waits      nothing is under way; web1 polls for new events, until 2026-11-22T14:25:11Z"
ENDED = """
2026-11-22T14:16:35Z  started    44.7 s after it was shown (Reboot ACB8)

TASK [cloudops.azure_maintenance.maintain : Finish | Show what happened] ***
Freeze 50D9 (Platform) affects web4 (web4)
  2026-11-22T14:15:45Z  shown      895 s notice
Reboot ACB8 (Platform) affects web2 (web2)
  2026-11-22T14:15:45Z  shown      895 s notice
  2026-11-22T14:17:33Z  recovered  web2 in 36.0 s
Redeploy B919 (Platform) affects web3 (web3)
  2026-11-22T14:15:45Z  shown      897 s notice

PLAY RECAP ***
"""


@pytest.fixture(name="printed")
def _printed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "demo"))
    import printed

    return printed


def test_events_are_announced_once_maintain_says_that_it_waits(printed):
    """Each machine has asked more than once by then, and some have not been shown the document yet."""
    assert printed.waiting(BEGUN) == printed.waiting(BEGUN + WAITS) == ""
    assert printed.waiting(BEGUN + WAITS + "\n") == WAITS


def test_the_timeline_of_one_event(printed):
    assert printed.timeline(BEGUN + WAITS + ENDED, "Reboot").splitlines() == [
        "Reboot ACB8 (Platform) affects web2 (web2)",
        "  2026-11-22T14:15:45Z  shown      895 s notice",
        "  2026-11-22T14:17:33Z  recovered  web2 in 36.0 s",
    ]
    assert printed.timeline(BEGUN + WAITS + ENDED, "Redeploy").count("\n") == 1
    assert printed.timeline(BEGUN + WAITS + "\n", "Reboot") == ""


def test_the_next_step_is_there():
    last = (ROOT / "tests" / "demo" / "run").read_text(encoding="utf-8").partition('heading("Next step: ')[2]
    playbook, page = re.search(r"ansible-playbook cloudops\.azure_maintenance\.(\w+).*?\n.*?(docs/\S+)", last).groups()
    assert (ROOT / "playbooks" / (playbook + ".yml")).is_file() and (ROOT / page).is_file()
