# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: monotonic
author:
  - cloudops.azure_maintenance contributors (@cloudops)
short_description: The controller's monotonic clock
description:
  - Returns the seconds of a clock that never goes back and that nobody sets, for deadlines and durations in playbooks.
    On Linux it goes on while the controller is suspended.
  - Only differences mean something, and only on one controller since it was last started. For the time of day use
    P(ansible.builtin.pipe#lookup) or the C(now()) function.
options:
  _terms:
    description: None; the clock takes no terms.
    type: list
    elements: str
seealso:
  - ref: ansible_collections.cloudops.azure_maintenance.drain_role
    description: Role C(drain) keeps its budget with this clock.
"""

EXAMPLES = r"""
- name: Note when the work has to be done
  ansible.builtin.set_fact:
    deadline: "{{ lookup('cloudops.azure_maintenance.monotonic') + 300 }}"

- name: Show the seconds that are left
  ansible.builtin.debug:
    msg: "{{ (deadline | float) - lookup('cloudops.azure_maintenance.monotonic') }}"
"""

RETURN = r"""
_raw:
  description: The clock's seconds.
  type: list
  elements: float
"""

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase

from ..module_utils._clock import steady


class LookupModule(LookupBase):
    """The clock as a lookup."""

    def run(self, terms, variables=None, **kwargs):
        if terms:
            raise AnsibleError("The monotonic clock takes no terms.")
        return [steady()]
