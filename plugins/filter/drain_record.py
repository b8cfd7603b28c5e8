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
      - For O(happened=asked) and O(happened=orders) the answer of the machine; for the others the step at hand.
    type: dict
    required: true
  happened:
    description: What happened.
    type: str
    required: true
    choices:
      begun: The role runs by itself; O(plan) is what P(cloudops.azure_maintenance.drain_steps#filter) returned.
      ticked: The machine was called, and O(result) is its answer. The filter returns when the next call is due.
      asked: The machine has a step of O(plan) under way that is a file of the user's own tasks.
      saw: The user's own task file of the step came to its end.
      failed: A task of that file failed with O(result).
      cut_off: Nobody knows what became of the step.
      orders: Nothing yet. The filter returns all that others have to do for the machine, as rounds of one task.
      waits: The step has not ended, for the reason O(about).
  plan:
    description: The plan of the host.
    type: dict
  result:
    description: What a task returned.
    type: dict
  done:
    description: For O(happened=ticked) what came of the user's own task files.
    type: dict
  rounds:
    description: For O(happened=ticked) the results of the task whose rounds were V(orders).
    type: list
    elements: dict
    default: []
  about:
    description:
      - For O(happened=waits) the reason.
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
    rounds: Any = (),
    about: Any = (),
) -> Any:
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._drain.happened import after

    known = {"plan": plan, "result": result, "done": done, "rounds": rounds, "about": about}
    return call(after, value, happened, known)


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Any]:
        """The filter by its name."""
        return {"drain_record": drain_record}
