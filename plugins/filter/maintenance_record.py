# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of a maintenance run, begun and moved on."""

from __future__ import annotations

DOCUMENTATION = r"""
name: maintenance_record
short_description: Begin the record of a maintenance run, or move it on by one tick
description:
  - Used by the role P(cloudops.azure_maintenance.maintain#role), whose task files carry out what RV(_value) says under C(todo).
  - The record is a plain dictionary; its content may change between releases. Read a run's result from the role's documented
    C(maintain_result) instead.
author:
  - cloudops.azure_maintenance contributors
positional: _input, happened
options:
  _input:
    description: The record so far; for O(happened=begun) what the inventory says of every host.
    type: raw
    required: true
  happened:
    description: What happened.
    type: str
    required: true
    choices:
      begun: The run starts.
      ticked: The machines were called. The filter returns when the next tick is due.
  hostvars:
    description: For O(happened=ticked) the variable C(hostvars); the answers of the machines that were called are taken out of it.
    type: dict
  present:
    description: For O(happened=ticked) the hosts that are still in the play.
    type: list
    elements: str
  notify:
    description: For O(happened=ticked), who is notified, as C(maintain_notify) of the role says.
    type: list
    elements: dict
  check:
    description: For O(happened=begun), whether the run only shows what it would do.
    type: bool
    default: false
  job:
    description: For O(happened=begun), the number of the job in AWX that the run is part of.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Take in what the machines answered
  ansible.builtin.set_fact:
    record: "{{ record | cloudops.azure_maintenance.maintenance_record('ticked', hostvars=hostvars, present=ansible_play_batch) }}"
"""

RETURN = r"""
_value:
  description: The new record; C(todo) says which host is called with what next.
  type: dict
"""

from collections.abc import Collection, Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._filter import call, plain


def maintenance_record(
    value: Any,
    happened: str,
    hostvars: Mapping[str, Any] | None = None,
    present: Collection[str] = (),
    check: bool = False,
    job: str = "",
    notify: Any = None,
) -> Any:
    """See the documentation above."""
    # Not at the top: for one filter Ansible loads all those of a collection, in every worker, and compiles what they import.
    from ..plugin_utils import _ticking

    if happened == "begun":
        return call(_ticking.begun, value, check, job)
    if happened == "ticked":
        # Not all the variables of all hosts, but the answers of those that were called
        answers = _ticking.answers(plain(value), hostvars or {}, present)
        return call(_ticking.ticked, value, answers, lambda: notify)
    raise AnsibleFilterError(
        f"maintenance_record knows nothing that is called {happened!r}; it knows begun and ticked."
    )


class FilterModule:
    """What Ansible loads."""

    def filters(self) -> dict[str, Any]:
        """The filter by its name."""
        return {"maintenance_record": maintenance_record}
