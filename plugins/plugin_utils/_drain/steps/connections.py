# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``connections`` of a Windows machine, by Ansible's modules.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..elsewhere import AtHand
from .scripts import script
from .way import Call, Order, Seen, Way


def _look(hand: AtHand, job: Any, call: Call) -> Seen:
    step = hand["step"]
    if hand["direction"] == "do":
        first_left = hand["left"] if job is None else job
        came = call(script("connections.ps1", Port=int(step["port"]), Exclude=",".join(step["exclude"])))
        return Seen({**came, "looked": first_left - hand["left"]}, ["gone"], first_left)
    options = {
        "port": step["port"],
        "host": step["listen_address"],
        "state": "started",
        "connect_timeout": 1,
        "timeout": 1,
    }
    return Seen(call(Order("ansible.windows.win_wait_for", options, failure_answers=True)), ["listens"])


WAY = Way(_look)
