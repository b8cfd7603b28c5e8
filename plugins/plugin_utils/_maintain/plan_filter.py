# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan for the documents of many machines, as the filter ``maintenance_plan`` gives it to users.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._events.policy import DEFAULT_POLICY, parse_policy
from .machines import disagreements, identify
from .plan import plan_events, plan_to_dict


def plan(
    found: Sequence[Mapping[str, Any]],
    policy: Sequence[Mapping[str, Any]] | None = None,
    margin: float = 60.0,
    allow_unknown: bool = False,
    prepare_within: float = 3600.0,
) -> list[Any]:
    """What to do about every event; the arguments are those of the filter.

    :raises ScheduledEventsError: machines of one scope were shown different events, or the policy is wrong
    """
    machines = identify(found)
    looks = {item["host"]: item["look"] for item in found}
    differing = disagreements(machines, looks)
    if differing:
        raise ScheduledEventsError(" ".join(differing))
    rules = parse_policy(DEFAULT_POLICY if policy is None else policy)
    planned = plan_events(
        machines, looks, rules, margin=margin, allow_unknown=allow_unknown, prepare_within=prepare_within
    )
    return [plan_to_dict(event) for event in planned]
