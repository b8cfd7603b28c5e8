# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One plan for the documents of many machines."""

from __future__ import annotations

DOCUMENTATION = r"""
name: maintenance_plan
short_description: Plan what to do about the events that many machines see
description:
  - Takes what M(cloudops.azure_maintenance.scheduled_events_info) returned on many machines, and says for every event
    which inventory hosts it affects, what the policy decides, whether it may be approved, by which machine, and how many
    seconds there are to prepare.
  - Nothing is looked up and nothing is changed. The role P(cloudops.azure_maintenance.maintain#role) works by the same plan;
    use this filter for runbooks of your own.
author:
  - cloudops.azure_maintenance contributors
options:
  _input:
    description: One entry per host of the inventory that the run answers for.
    type: list
    elements: dict
    required: true
    suboptions:
      host:
        description: The name in the inventory.
        type: str
        required: true
      look:
        description: The registered result of a M(cloudops.azure_maintenance.scheduled_events_info) task, also of one that failed.
        type: dict
        required: true
      scope:
        description:
          - The scope that the machine shares with others. Without it, a machine of a scale set shares that of its placement
            group, where the look was taken with O(cloudops.azure_maintenance.scheduled_events_info#module:placement_group=true);
            any other is a scope of its own.
        type: str
      resource_name:
        description: The VM's name in Azure, for a machine that could not be asked.
        type: str
      is_linux:
        description: Whether the machine runs Linux; such machines are preferred for approving.
        type: bool
        default: true
  policy:
    description:
      - The ordered list of rules; the first that matches decides. The last one must match everything.
      - By default a restart, a redeployment or a freeze that a user asked for and freezes shorter than 9 seconds are approved at
        once, advice is only shown, and everything else is approved after preparation.
    type: list
    elements: dict
  margin:
    description: Seconds kept between the end of the preparation and the start of the event; at most a quarter of the notice.
    type: float
    default: 60
  allow_unknown:
    description: Whether an event may be approved that also affects machines which are not in the list.
    type: bool
    default: false
  prepare_before:
    description: Seconds; an event that will not be approved and is further away is left for later.
    type: float
    default: 300
"""

EXAMPLES = r"""
- name: Ask every machine
  cloudops.azure_maintenance.scheduled_events_info:
    placement_group: true
  register: look

- name: Keep it with the name of the host
  ansible.builtin.set_fact:
    machine: "{{ {'host': inventory_hostname, 'look': look} }}"

- name: Show what would be done
  ansible.builtin.debug:
    msg: "{{ ansible_play_hosts | map('extract', hostvars, 'machine') | cloudops.azure_maintenance.maintenance_plan(margin=120) }}"
  run_once: true
"""

RETURN = r"""
_value:
  description: One entry per event.
  type: list
  elements: dict
  contains:
    id:
      description: The event's id.
      type: str
    type:
      description: The event's type.
      type: str
    status:
      description: The event's status.
      type: str
    verdict:
      description:
        - What is to be done, V(approve) at once, V(prepare_and_approve), V(prepare), V(watch) an event that has started,
          V(later) (also for one that waits for the C(hours) of its rule), V(notify), V(ignore), or V(not_ours) when none of its
          machines is in the list.
      type: str
    why:
      description: The reason, for a person.
      type: str
    hold:
      description: What stands against an approval; empty when nothing does.
      type: str
    affected:
      description: The inventory hosts that the event affects.
      type: list
      elements: str
    unknown:
      description: Machines of the event that are not in the list.
      type: list
      elements: str
    unreachable:
      description: Hosts that the event affects and that could not be asked.
      type: list
      elements: str
    approvers:
      description: Who approves, and who takes over when the first one can't.
      type: list
      elements: str
    budget:
      description: Seconds for the preparation.
      type: float
"""

import time

from ..plugin_utils._ansible import call


def maintenance_plan(found, policy=None, margin=60.0, allow_unknown=False, prepare_before=300.0):
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._fleet.plan_filter import plan

    return call(
        plan,
        found,
        policy=policy,
        margin=margin,
        allow_unknown=allow_unknown,
        prepare_before=prepare_before,
        wall=time.time(),
    )


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"maintenance_plan": maintenance_plan}
