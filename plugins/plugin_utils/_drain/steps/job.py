# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A module that goes on in the background: it is begun once, and looked at until it has ended. Pure.

Private to this collection.
"""

from __future__ import annotations

from typing import Any

from ..elsewhere import AtHand
from .way import Call, Order, Seen

STATUS = "ansible.builtin.async_status"


def followed(hand: AtHand, job: Any, call: Call, order: Order) -> Seen:
    """Begin it unless there is a job, and see how far that is."""
    if job is None:
        began = call(order)
        job = began.get("ansible_job_id")
        if "went_wrong" in began or job is None:
            return Seen(began)
    return Seen(call(Order(STATUS, {"jid": job}, ok_codes=hand["step"].get("ok_codes", [0]))), job=job)
