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
  - Returns the pattern, and fails where no host of the inventory matches it, or none that C(--limit) leaves. For C(hosts) of a
    play, that is otherwise left out with a status of 0.
  - The playbooks of this collection use it for the variable C(azure_maintenance_hosts).
  - A pattern is names, groups and patterns of Ansible, as a text or a list of texts. It is never a template, and never the name of a file. Anything
    else is refused, and so is a text with C({{), C({%) or C({#) in it.
options:
  _terms:
    description:
      - The pattern.
      - Ansible evaluates what is written here before the lookup runs. Use O(variable) for a variable whose value comes from elsewhere, such as from
        extra variables that an event sets.
    type: list
    elements: raw
    required: false
  variable:
    description:
      - The name of a variable that holds the pattern. Its value is read as it is, and no template in it is evaluated.
      - C(hosts) of a play are known before its hosts are, so variables of the inventory do not count. Extra variables and the variables of the play do.
    type: str
  default:
    description: The pattern where there is no such variable.
    type: raw
    default: all
  required:
    description: Fails where there is neither the variable nor C(--limit).
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Fails where the inventory has no group web
  hosts: "{{ lookup('cloudops.azure_maintenance.hosts', 'web') }}"
  tasks: []

- name: Takes the hosts from an extra variable, in which no template is evaluated
  hosts: "{{ lookup('cloudops.azure_maintenance.hosts', variable='wanted_hosts') }}"
  tasks: []
"""

RETURN = r"""
_raw:
  description: The pattern, in which Ansible evaluates nothing. That of a list is one text.
  type: list
  elements: raw
"""

from ansible import context
from ansible.errors import AnsibleLookupError
from ansible.inventory.manager import InventoryManager, split_host_pattern
from ansible.plugins.lookup import LookupBase
from ansible.utils.unsafe_proxy import wrap_var

from ..module_utils._text import did_you_mean, listed, shown

OPTIONS = ("variable", "default", "required")
TEMPLATES = ("{{", "{%", "{#")
HEADER = "#jinja2:"  # a text that begins so may have a template between any other marks
WRITE = "Write names, groups or patterns of hosts, such as web or web1,web2. Nothing was done."
ABSENT = object()


class LookupModule(LookupBase):
    """The pattern as a lookup."""

    def run(self, terms, variables=None, **kwargs):
        unknown = [name for name in kwargs if name not in OPTIONS]
        if unknown or bool(terms) == ("variable" in kwargs):
            raise AnsibleLookupError(
                f"lookup cloudops.azure_maintenance.hosts takes either a pattern or variable, with {listed(OPTIONS[1:])}"
                f"{f', and not {listed(unknown)}' if unknown else ''}. Nothing was done."
            )
        limit = context.CLIARGS.get("subset")  # variable ansible_limit may be anybody's where there is no --limit
        name, patterns = "The pattern of hosts", [list(term) if isinstance(term, list) else term for term in terms]
        if "variable" in kwargs:
            name = kwargs["variable"]
            found = _as_it_is(variables or {}, name)
            if found is ABSENT and kwargs.get("required") and not limit and not context.CLIARGS.get("syntax"):
                raise AnsibleLookupError(
                    f"Say which machines, as in -e {name}=web1,web2 or --limit web1,web2; variables of the inventory do not count. "
                    "Nothing was changed."
                )
            patterns = [kwargs.get("default", "all") if found is ABSENT else found]
        for pattern in patterns:
            _refuse(name, pattern)
            if not context.CLIARGS.get("syntax"):  # a check of the syntax goes by no inventory
                self._match(name, pattern, (variables or {}).get("groups") or {}, limit)
        # A play's hosts are evaluated twice, and ansible.cfg may allow results of lookups to be templates.
        return wrap_var([",".join(split_host_pattern(one)) if isinstance(one, list) else one for one in patterns])

    def _match(self, name, pattern, groups, limit):
        inventory = InventoryManager(
            self._loader, parse=False
        )  # Ansible's own, so that a pattern means what it means there
        for group, hosts in groups.items():
            inventory.add_group(group)
            for host in hosts:
                inventory.add_host(host, group=group)
        if not pattern or not inventory.list_hosts(pattern):  # nothing at all would mean all hosts
            raise AnsibleLookupError(
                f"{name} is {shown(pattern)}, and no host of the inventory matches that"
                f"{did_you_mean(pattern, [*groups, *groups.get('all', ())])}. Correct it, or name the inventory with -i. Nothing "
                "was done."
            )
        inventory.subset(limit)
        if not inventory.list_hosts(pattern):
            raise AnsibleLookupError(
                f"{name} is {shown(pattern)} and --limit is {shown(limit)}, and no host of the inventory matches "
                "both. Correct one of them. Nothing was done."
            )


def _as_it_is(variables, name):
    """The value of a variable, in which no template was evaluated.

    Ansible hands lookups what it was given. Its containers that evaluate what is taken out of them are dictionaries, too, so that
    a dictionary's own method finds what was put in.
    """
    value = dict.get(variables, name, ABSENT) if isinstance(variables, dict) else variables.get(name, ABSENT)
    return list(list.__iter__(value)) if isinstance(value, list) else value


def _refuse(name, pattern):
    """Everything that is not plainly a pattern."""
    for text in pattern if isinstance(pattern, list) else [pattern]:
        if not isinstance(text, str):
            raise AnsibleLookupError(f"{name} is {shown(pattern)}, which is no text and no list of texts. {WRITE}")
        if text.startswith(HEADER) or any(mark in text for mark in TEMPLATES):
            raise AnsibleLookupError(
                f"{name} is a template, {shown(str(text))}, and no template is evaluated there. {WRITE}"
            )
        if text.lstrip()[:1] in ("[", "{"):  # Ansible would make a list of it
            raise AnsibleLookupError(f"{name} is {shown(str(text))}, which is a list written as a text. {WRITE}")
        if any(part.lstrip("!& ").startswith("@") for part in split_host_pattern(str(text))):
            raise AnsibleLookupError(
                f"{name} is {shown(str(text))}, and a file of hosts (@) is only for --limit. {WRITE}"
            )
