# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What role drain knows of one host, moved on."""

from __future__ import annotations

DOCUMENTATION = r"""
name: drain_record
short_description: Move on what role drain knows of one host
description:
  - Used by the role P(cloudops.azure_maintenance.drain#role), whose task files carry out what RV(_value) says.
  - All of it are plain dictionaries, whose content may change between releases. Read a run's result from the role's documented
    results instead.
author:
  - cloudops.azure_maintenance contributors (@cloudops)
version_added: 0.2.0
positional: _input, happened
options:
  _input:
    description:
      - For O(happened=begun) the options of the run, for O(happened=ticked) the record so far.
      - For the others the answer of the machine.
    type: dict
    required: true
  happened:
    description: What happened.
    type: str
    required: true
    choices:
      begun: The role runs by itself; O(plan) is what P(cloudops.azure_maintenance.drain_steps#filter) returned.
      ticked: The machine was called, and O(result) is its answer. The filter returns when the next call is due.
      orders: Nothing yet. The filter returns all that others have to do for the machine, as rounds of one task.
      own: Nothing yet. The filter returns the user's own task file that is gone through now, as the only round of a task, or none.
      own_failed: A task of that file failed with O(result).
  plan:
    description: The plan of the host.
    type: dict
  result:
    description: What a task returned.
    type: dict
  failure:
    description: For O(happened=ticked) what was returned for V(own_failed) at last.
    type: dict
  rounds:
    description: For O(happened=ticked) the results of the task whose rounds were V(orders).
    type: list
    elements: dict
    default: []
  jobs:
    description: For O(happened=orders) and O(happened=own) what this run has gone about for the machine.
    type: dict
    default: {}
  allowed:
    description: For O(happened=own) whether there is the time for such a file.
    type: bool
    default: true
  secret:
    description: For O(happened=own_failed) the task's C(no_log).
    type: raw
    default: false
  ended:
    description: For O(happened=own) when the tasks before ended, for each machine, by the controller's monotonic clock.
    type: list
    elements: float
    default: []
"""

EXAMPLES = r"""
- name: Take in what the machine answered
  ansible.builtin.set_fact:
    record: "{{ record | cloudops.azure_maintenance.drain_record('ticked', result=answer) }}"
"""

RETURN = r"""
_value:
  description: The new record, rounds of a task, or what is to be known of a failure.
  type: raw
"""

from collections.abc import Mapping
from typing import Any

from ..plugin_utils._filter import call


def drain_record(
    value: Any,
    happened: str,
    plan: Mapping[str, Any] | None = None,
    result: Mapping[str, Any] | None = None,
    failure: Mapping[str, Any] | None = None,
    rounds: Any = (),
    jobs: Mapping[str, Any] | None = None,
    allowed: Any = True,
    secret: Any = False,
    ended: Any = (),
) -> Any:
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._drain.happened import after

    known = {"plan": plan, "result": result, "failure": failure, "rounds": rounds, "jobs": jobs or {}}
    return call(after, value, happened, {**known, "allowed": allowed, "secret": secret, "ended": ended})


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Any]:
        """The filter by its name."""
        return {"drain_record": drain_record}
