# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: drain_report
author:
  - cloudops.azure_maintenance contributors (@cloudops)
short_description: Say what came of one step of role drain
description:
  - Turns the result of a step's last task into one entry of C(drain_result.steps). Role C(drain) uses it.
positional: _input, step
options:
  _input:
    description: The result that the task registered, or RV(ignore:ansible_failed_result).
    type: dict
    required: true
  step:
    description: The step, as P(cloudops.azure_maintenance.drain_steps#filter) returns it.
    type: dict
    required: true
  host:
    description: The host's inventory name.
    type: str
    required: true
  direction:
    description: Whether the step was done or undone.
    type: str
    choices: [do, undo]
    required: true
  ok:
    description: Whether the tasks of the step came to their end.
    type: bool
    required: true
  seconds:
    description: How long the step took.
    type: float
    required: true
  limit:
    description: The seconds that the step had.
    type: float
    required: true
  budget:
    description: The seconds that the whole run had.
    type: float
    required: true
  budget_bound:
    description: Whether the rest of the budget was less than the step's own time.
    type: bool
    required: true
  note:
    description: What to say of a step that went well.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Say what came of the step
  ansible.builtin.debug:
    msg: >-
      {{ ansible_failed_result
         | cloudops.azure_maintenance.drain_report(step, host=inventory_hostname, direction='do', ok=false, seconds=2.5,
                                                   limit=60, budget=300, budget_bound=false) }}
"""

RETURN = r"""
_value:
  description: The report, with C(name), C(type), C(ok), C(changed), C(seconds) and C(message).
  type: dict
"""

from ansible.utils.unsafe_proxy import wrap_var

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._drain.record import make_report


def drain_report(result, step, host, direction, ok, seconds, limit, budget, budget_bound, note=""):
    """One entry of ``drain_result.steps``; a machine's words in it are marked as such."""
    run = {
        "host": host,
        "direction": direction,
        "ok": ok,
        "seconds": seconds,
        "limit": limit,
        "budget": budget,
        "budget_bound": budget_bound,
        "note": note,
    }
    return wrap_var(make_report(result, step, run))


class FilterModule:
    """The filter, as Ansible finds it."""

    def filters(self):
        return {"drain_report": drain_report}
