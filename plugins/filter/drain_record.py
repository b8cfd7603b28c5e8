# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a run of role drain, moved on."""

from __future__ import annotations

DOCUMENTATION = r"""
name: drain_record
short_description: Move the record of a run of role drain on
description:
  - Used by the role P(cloudops.azure_maintenance.drain#role), whose task files carry out what RV(_value) says under C(todo).
  - The record is a plain dictionary; its content may change between releases. Read a run's result from the role's documented
    results instead.
author:
  - cloudops.azure_maintenance contributors (@cloudops)
version_added: 0.2.0
positional: _input, happened
options:
  _input:
    description: The record so far; for O(happened=begun) the options of the run.
    type: dict
    required: true
  happened:
    description: What happened.
    type: str
    required: true
    choices:
      begun: The run has started.
      planned: The steps are known; O(plan) is what P(cloudops.azure_maintenance.drain_steps#filter) returned.
      stopped: Steps can't be run, for a reason that O(result) tells.
      started: The next step begins.
      saw: A task of the step came back with O(result), and the step goes by that.
      did: The step came to its end, O(result) is that of the task that counts.
      failed: A task of the step failed with O(result).
      reverting: The preparation failed, and undoing it begins.
      waited: Nothing, but that time went by.
      ended: The run is over.
  at:
    description: The controller's monotonic clock in seconds, as P(cloudops.azure_maintenance.monotonic#lookup) gives it.
    type: float
    required: true
  plan:
    description: The plan of the host.
    type: dict
  step:
    description: The step at hand, as the plan has it.
    type: dict
  result:
    description: What a task returned.
    type: dict
  about:
    description: What is asked about O(result), in a word of the step's type. Without it the machine only has to be still there.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Note that the next step begins
  ansible.builtin.set_fact:
    record: "{{ record | cloudops.azure_maintenance.drain_record('started', at=lookup('cloudops.azure_maintenance.monotonic')) }}"
"""

RETURN = r"""
_value:
  description: The new record; C(todo) says what comes next, C(result) what came of the run.
  type: dict
"""

from collections.abc import Mapping
from typing import Any

from ..plugin_utils._filter import call


def drain_record(
    value: Any,
    happened: str,
    at: float,
    plan: Mapping[str, Any] | None = None,
    step: Mapping[str, Any] | None = None,
    result: Mapping[str, Any] | None = None,
    about: str = "",
) -> Any:
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._drain.happened import after

    return call(after, value, happened, at, {"plan": plan, "step": step, "result": result, "about": about})


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Any]:
        """The filter by its name."""
        return {"drain_record": drain_record}
