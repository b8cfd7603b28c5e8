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

import time
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean

from ..module_utils._errors import ScheduledEventsError
from ..module_utils._text import did_you_mean, listed
from ..plugin_utils._filter import call
from ..plugin_utils._maintain import record as run_record
from ..plugin_utils._maintain.machines import disagreements, identify
from ..plugin_utils._maintain.nesting import count_look

# Before ansible-core 2.19 a template makes strings of numbers and truth values.
_OPTION_TYPES = {
    "policy": list,
    "margin": float,
    "allow_unknown": boolean,
    "prepare_within": float,
    "event_timeout": float,
    "on_failure": str,
    "rounds": int,
    "wait_timeout": float,
    "slice": float,
}

_HAPPENED = {
    "looked": run_record.looked,
    "prepared": run_record.prepared,
    "approved": run_record.approved,
    "recovered": run_record.recovered,
}


def _begun(found, options, at):
    machines = identify(found)
    typed: Any = {name: convert(options[name]) for name, convert in _OPTION_TYPES.items()}
    looks = {item["host"]: item["look"] for item in found if item.get("look")}
    return run_record.begun(machines, typed, at, wall=time.time(), disagreements=disagreements(machines, looks))


def _after(value, happened, results=None, at=0.0, options=None):
    if happened == "begun":
        return _begun(value, options, float(at))
    if happened not in _HAPPENED:
        known = ["begun", *_HAPPENED]
        raise ScheduledEventsError(
            f"maintenance_record knows nothing that is called {happened!r}{did_you_mean(happened, known)}; it knows "
            f"{listed(known)}."
        )
    record = _HAPPENED[happened](value, results or {}, float(at))
    return count_look(record, value["todo"]["look"]) if happened == "looked" else record


def maintenance_record(value, happened, results=None, at=0.0, options=None):
    """See the documentation above."""
    return call(_after, value, happened, results=results, at=at, options=options)


class FilterModule:
    """What Ansible loads."""

    def filters(self):
        """The filter by its name."""
        return {"maintenance_record": maintenance_record}
