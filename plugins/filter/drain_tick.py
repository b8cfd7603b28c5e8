# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a tick has to know besides the machine's answer: what others do, and the user's own task files."""

from __future__ import annotations

DOCUMENTATION = r"""
name: drain_tick
short_description: What others than a machine have to do in a tick (private)
description:
  - Private to this collection. The roles P(cloudops.azure_maintenance.maintain#role) and P(cloudops.azure_maintenance.drain#role) use it
    in their ticks; its options and results change from one version to the next without notice.
author:
  - cloudops.azure_maintenance contributors (@cloudops)
version_added: 0.2.0
positional: _input, part
options:
  _input:
    description: The answer of the machine.
    type: raw
    required: true
  part:
    description: What is wanted.
    type: str
    required: true
    choices:
      orders: What others do for the machine, as the rounds of one task.
      own: The user's own task file that is gone through now, as the only round of a task, or none.
      own_failed: What is noted where a task of that file failed with O(result).
      ticks: Which file of ticks these hosts need; the input is a list of all their steps.
      unfinished: The result of a role that has not come to its end; the input is V(prepare) or V(recover).
  plan:
    description: The plan of the host.
    type: dict
  result:
    description: For V(own_failed) what the task returned.
    type: dict
  jobs:
    description: For V(orders) and V(own) what this run has started for the machine, by attempt.
    type: dict
    default: {}
  allowed:
    description: For V(own) whether there is the time for such a file.
    type: bool
    default: true
  secret:
    description: For V(own_failed) the task's C(no_log).
    type: raw
    default: false
  ended:
    description: For V(own) when the tasks before ended, for each machine, by the controller's monotonic clock.
    type: list
    elements: float
    default: []
"""

EXAMPLES = r"""
- name: Not for playbooks
  ansible.builtin.debug:
    msg: "{{ answer | cloudops.azure_maintenance.drain_tick('orders', plan=plan) }}"
"""

RETURN = r"""
_value:
  description: Rounds of a task for V(orders) and V(own), a name for V(ticks), a dictionary for the others.
  type: raw
"""

from collections.abc import Mapping
from typing import Any

from ..plugin_utils._ansible import call


def drain_tick(
    value: Any,
    part: str,
    plan: Mapping[str, Any] | None = None,
    result: Mapping[str, Any] | None = None,
    jobs: Mapping[str, Any] | None = None,
    allowed: Any = True,
    secret: Any = False,
    ended: Any = (),
) -> Any:
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._drain.tick_parts import tick_part

    known = {
        "plan": plan or {},
        "result": result,
        "jobs": jobs or {},
        "allowed": allowed,
        "secret": secret,
        "ended": ended,
    }
    return call(tick_part, value, part, known)


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Any]:
        """The filter by its name."""
        return {"drain_tick": drain_tick}
