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
      - For O(happened=asked) and O(happened=orders) the answer of the machine; for O(happened=before), O(happened=order) and
        O(happened=looks) a step of O(plan); for the others the step at hand.
    type: dict
    required: true
  happened:
    description: What happened.
    type: str
    required: true
    choices:
      begun: The role runs by itself; O(plan) is what P(cloudops.azure_maintenance.drain_steps#filter) returned.
      ticked: The machine was called, and O(result) is its answer. The filter returns when the next call is due.
      asked: The machine has a step of O(plan) under way that others do.
      before: A task has asked what is the case before the step, and came back with O(result).
      saw: A task of the step came back with O(result).
      failed: A task of the step failed with O(result).
      orders: Nothing yet. The filter returns all that others have to do for the machine, where that is one task.
      order: Nothing yet. The same of one step, in the direction O(about), or V(before) it.
      looks: Nothing yet. What has to be asked about what comes of that, to be handed on as O(about).
      waits: The step has not ended, for the reason O(about).
  plan:
    description: The plan of the host.
    type: dict
  result:
    description: What a task returned.
    type: dict
  done:
    description: For O(happened=ticked) what others did for the machine.
    type: dict
  about:
    description:
      - What is asked about O(result), in words of the step's type; for O(happened=waits) the reason.
      - For O(happened=asked) the attempts that this run has made so far.
    type: list
    elements: str
    default: []
"""

EXAMPLES = r"""
- name: Take in what the machine answered
  ansible.builtin.set_fact:
    record: "{{ record | cloudops.azure_maintenance.drain_record('ticked', result=answer) }}"
"""

RETURN = r"""
_value:
  description: The new record; for O(happened=asked) the step at hand, for what comes after it what came of the step so far.
  type: dict
"""

from collections.abc import Mapping
from typing import Any

from ..plugin_utils._filter import call


def drain_record(
    value: Any,
    happened: str,
    plan: Mapping[str, Any] | None = None,
    result: Mapping[str, Any] | None = None,
    done: Mapping[str, Any] | None = None,
    about: Any = (),
) -> Any:
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._drain.happened import after

    return call(after, value, happened, {"plan": plan, "result": result, "done": done, "about": about})


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Any]:
        """The filter by its name."""
        return {"drain_record": drain_record}
