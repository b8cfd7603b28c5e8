# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: windows_host
author:
  - cloudops.azure_maintenance contributors (@cloudops)
short_description: Whether a host is a Windows machine
description:
  - Goes by how Ansible reaches the host, so it needs no facts and no connection.
  - A host is a Windows machine when its C(ansible_connection) is V(winrm) or V(psrp), or when its C(ansible_shell_type) is
    V(powershell) or V(cmd), with or without the name of the plugin's collection.
version_added: 0.2.0
options:
  _input:
    description:
      - The host's variables. Of another host these are C(hostvars['name']).
      - A connection that is set by the keyword C(connection) of a play or task, or on the command line, is not among C(hostvars);
        see the second example.
    type: dict
    required: true
"""

EXAMPLES = r"""
- name: Restart the machines of a group that are Windows machines
  ansible.windows.win_reboot:
  when: hostvars[inventory_hostname] is cloudops.azure_maintenance.windows_host

- name: The same where the play may have the keyword connection
  ansible.windows.win_reboot:
  when: reached_by is cloudops.azure_maintenance.windows_host
  vars:
    reached_by:
      ansible_connection: "{{ ansible_connection | default('') }}"
      ansible_shell_type: "{{ ansible_shell_type | default('') }}"
"""

RETURN = r"""
_value:
  description: Whether the host is a Windows machine.
  type: bool
"""

from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleFilterError

from ..plugin_utils._ansible import is_windows


def windows_host(variables: Any) -> bool:
    """Whether these are the variables of a Windows machine."""
    if not isinstance(variables, Mapping):
        raise AnsibleFilterError("windows_host takes the variables of a host, such as hostvars[inventory_hostname].")
    return is_windows(variables)


class TestModule:
    """What Ansible loads."""

    def tests(self) -> dict[str, Any]:
        """The test by its name."""
        return {"windows_host": windows_host}
