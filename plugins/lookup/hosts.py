# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: hosts
author:
  - cloudops.azure_maintenance contributors (@cloudops)
short_description: A pattern of hosts that must match some
description:
  - Returns the pattern as it is, and fails where no host of the inventory matches it, or none that C(--limit) leaves. For C(hosts) of a
    play, that is otherwise left out with a status of 0.
  - The playbooks of this collection use it for the variable C(azure_maintenance_hosts).
options:
  _terms:
    description: The pattern.
    type: list
    elements: raw
    required: true
"""

EXAMPLES = r"""
- name: Fails where the inventory has no group web
  hosts: "{{ lookup('cloudops.azure_maintenance.hosts', 'web') }}"
  tasks: []
"""

RETURN = r"""
_raw:
  description: The pattern.
  type: list
  elements: raw
"""

from ansible import context
from ansible.errors import AnsibleLookupError
from ansible.inventory.manager import InventoryManager
from ansible.plugins.lookup import LookupBase

from ..module_utils._text import did_you_mean, shown


class LookupModule(LookupBase):
    """The pattern as a lookup."""

    def run(self, terms, variables=None, **kwargs):
        if not context.CLIARGS.get("syntax"):  # a check of the syntax goes by no inventory
            for pattern in terms:
                self._check(pattern, (variables or {}).get("groups") or {}, (variables or {}).get("ansible_limit"))
        return terms

    def _check(self, pattern, groups, limit):
        inventory = InventoryManager(
            self._loader, parse=False
        )  # Ansible's own, so that a pattern means what it means there
        for group, hosts in groups.items():
            inventory.add_group(group)
            for host in hosts:
                inventory.add_host(host, group=group)
        if not pattern or not inventory.list_hosts(pattern):  # nothing at all would mean all hosts
            raise AnsibleLookupError(
                f"azure_maintenance_hosts is {shown(pattern)}, and no host of the inventory matches that"
                f"{did_you_mean(pattern, [*groups, *groups.get('all', ())])}. Correct it, or name the inventory with -i. Nothing "
                "was done."
            )
        inventory.subset(limit)
        if not inventory.list_hosts(pattern):
            raise AnsibleLookupError(
                f"azure_maintenance_hosts is {shown(pattern)} and --limit is {shown(limit)}, and no host of the inventory matches "
                "both. Correct one of them. Nothing was done."
            )
