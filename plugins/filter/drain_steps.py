# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: drain_steps
author:
  - cloudops.azure_maintenance contributors (@cloudops)
short_description: Check the steps of role drain and put them in order for one host
description:
  - Takes the user's C(drain_steps) and returns what preparing and recovering one host means, every option checked and
    every default filled in. It asks no machine and changes nothing.
  - Role C(drain) uses it; a playbook may use it to check steps early.
positional: _input
options:
  _input:
    description: The steps, as role C(drain) takes them.
    type: list
    elements: dict
    required: true
  host:
    description: The inventory name of the host that the plan is for.
    type: str
    required: true
  system:
    description: The system of that host.
    type: str
    choices: [linux, windows]
    required: true
  groups:
    description: The variable C(groups).
    type: dict
    required: true
  hostvars:
    description: The variable C(hostvars), for the systems of machines that steps are delegated to.
    type: dict
    default: {}
  search:
    description: Folders of the controller in which relative task files are looked for; the first that has it wins.
    type: list
    elements: str
    default: []
  timeout:
    description: Seconds for a step that names no C(timeout).
    type: float
    default: 60
  verify:
    description: Task files that are run after the last inverse.
    type: list
    elements: str
    default: []
seealso:
  - ref: ansible_collections.cloudops.azure_maintenance.drain_role
    description: The role that runs the plan.
"""

EXAMPLES = r"""
- name: Show what preparing this host would do
  ansible.builtin.debug:
    msg: "{{ plan.errors or (plan.prepare | map(attribute='does') | list) }}"
  vars:
    plan: >-
      {{ [{'type': 'service', 'name': 'nginx'}]
         | cloudops.azure_maintenance.drain_steps(host=inventory_hostname, system='linux', groups=groups) }}
"""

RETURN = r"""
_value:
  description: The plan.
  type: dict
  contains:
    steps:
      description:
        - All steps of this host, in order, each with its C(key), which names it as long as it stays the same, and with C(elsewhere),
          whether another than the machine itself does it. The verifications come before them.
      type: list
      elements: dict
    prepare:
      description: The steps that do something on this host, in order.
      type: list
      elements: dict
    recover:
      description: The steps that undo something on this host, last one first, then the verifications.
      type: list
      elements: dict
    errors:
      description: What is wrong with the steps, a sentence each. With errors the other lists are empty.
      type: list
      elements: str
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._ansible import call, is_windows


def drain_steps(
    steps: Any,
    host: str,
    system: str,
    groups: Mapping[str, Sequence[str]],
    hostvars: Mapping[str, Any] | None = None,
    search: Sequence[str] = (),
    timeout: float = 60,
    verify: Sequence[str] = (),
) -> Any:
    """The plan of one host."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..module_utils._steps.step_type import SYSTEMS, Host
    from ..plugin_utils._drain.plan import make_plan
    from ..plugin_utils._drain.task_files import task_file

    if system not in SYSTEMS:
        raise AnsibleFilterError(f"drain_steps: system is {system!r}; it is one of {', '.join(SYSTEMS)}")

    def system_of_delegate(name: str) -> str:
        variables = (hostvars or {}).get(name)
        return "windows" if isinstance(variables, Mapping) and is_windows(variables) else "linux"

    about = Host(str(host), system, groups, system_of_delegate, functools.partial(task_file, search), float(timeout))
    # Not `about`, which holds the variables of all hosts: they are only to be looked at where a step needs it.
    return call(lambda steps, verify: make_plan(steps, about, verify), steps, verify)


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Any]:
        """The filter by its name."""
        return {"drain_steps": drain_steps}
