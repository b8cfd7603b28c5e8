# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a maintenance run, moved on by what happened."""

from __future__ import annotations

DOCUMENTATION = r"""
name: maintenance_record
short_description: Move the record of a maintenance run on by what happened
description:
  - Used by the role P(cloudops.azure_maintenance.maintain#role), whose task files carry out what RV(_value) says under C(todo).
  - The record is a plain dictionary; its content may change between releases. Read a run's result from the role's documented
    results instead.
author:
  - cloudops.azure_maintenance contributors
options:
  _input:
    description: The record so far, or for O(happened=begun) the list of machines.
    type: raw
    required: true
  happened:
    description: What happened.
    type: str
    required: true
    choices:
      begun: The run starts; the input is what every host answered about itself.
      looked: Some machines looked; O(results) are results of M(cloudops.azure_maintenance.scheduled_events_info) by host.
      prepared: Some machines were prepared; O(results) are results of the role P(cloudops.azure_maintenance.drain#role) by host.
      approved: Some machines approved; O(results) are results of M(cloudops.azure_maintenance.scheduled_events_approve) by host.
      recovered: Some machines were brought back, or their preparation was undone; O(results) are results of the role
        P(cloudops.azure_maintenance.drain#role) by host.
  results:
    description: What came of it, by host.
    type: raw
  at:
    description: The controller's monotonic clock in seconds, as P(cloudops.azure_maintenance.monotonic#lookup) gives it.
    type: float
  options:
    description: For O(happened=begun) the options of the run.
    type: dict
"""

EXAMPLES = r"""
- name: Take in what the sentinels saw
  ansible.builtin.set_fact:
    record: "{{ record | cloudops.azure_maintenance.maintenance_record('looked', results=looks, at=lookup('cloudops.azure_maintenance.monotonic')) }}"
  vars:
    looks: "{{ {inventory_hostname: look} }}"
"""

RETURN = r"""
_value:
  description: The new record; C(todo) says which host prepares, approves, watches, recovers next.
  type: dict
"""

from ..plugin_utils._filter import call


def maintenance_record(value, happened, results=None, at=0.0, options=None):
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils._maintain.happened import after

    return call(after, value, happened, results=results, at=at, options=options)


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"maintenance_record": maintenance_record}
