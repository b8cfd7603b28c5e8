# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Step ``failover_cluster``, by Ansible's modules.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..elsewhere import AtHand
from .scripts import script
from .way import Call, Seen, Way

ASKED = "asked"
"""The job: the cluster is asked once to suspend or resume the node."""


def _look(hand: AtHand, job: Any, call: Call) -> Seen:
    step = hand["step"]
    order = script(
        "cluster_node.ps1",
        Action="suspend" if hand["direction"] == "do" else "resume",
        Node=step.get("node", ""),
        Cluster=step.get("cluster", ""),
        ForceDrain=step["force_drain"],
        FailBack=step["fail_back"],
        Begins=job is None,
    )
    came = call(order)
    asked = (came.get("result") or {}).get("asked")
    return Seen(came, ["followed"], ASKED if asked else job)


WAY = Way(_look)
