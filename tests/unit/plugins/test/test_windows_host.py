# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Is it Windows? One answer, from a host's variables, for all who ask."""

from __future__ import annotations

import pytest
from ansible.errors import AnsibleError
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import connection_loader

from ansible_collections.cloudops.azure_maintenance.plugins.plugin_utils._ansible import is_windows
from ansible_collections.cloudops.azure_maintenance.plugins.test.windows_host import TestModule as Loaded
from ansible_collections.cloudops.azure_maintenance.plugins.test.windows_host import windows_host

HOSTS = [
    ({}, False),
    ({"ansible_connection": ""}, False),
    ({"ansible_connection": "ssh"}, False),
    ({"ansible_connection": "local", "ansible_shell_type": "sh"}, False),
    ({"ansible_connection": "winrm"}, True),
    ({"ansible_connection": "psrp"}, True),
    ({"ansible_connection": "ansible.builtin.psrp"}, True),
    ({"ansible_connection": "ansible.legacy.winrm"}, True),
    ({"ansible_connection": "ssh", "ansible_shell_type": "powershell"}, True),
    ({"ansible_connection": "ssh", "ansible_shell_type": "ansible.builtin.powershell"}, True),
    ({"ansible_shell_type": "cmd"}, True),
    ({"ansible_shell_type": "ansible.builtin.cmd"}, True),
    ({"ansible_connection": "ssh", "ansible_shell_type": None}, False),
]


@pytest.mark.parametrize("variables, windows", HOSTS)
def test_it_goes_by_connection_and_shell_whatever_their_form(variables, windows):
    assert is_windows(variables) is windows and windows_host(variables) is windows


@pytest.mark.parametrize("variables, windows", [(known, windows) for known, windows in HOSTS if "." not in str(known)])
def test_it_agrees_with_the_shell_that_ansible_takes(variables, windows):
    """What a module's action sees on the connection is what a role learns from the variables."""
    context = PlayContext()
    if variables.get("ansible_shell_type"):
        context.shell = variables["ansible_shell_type"]
    found = connection_loader.get(variables.get("ansible_connection") or "ssh", context, "/dev/null")
    assert getattr(found._shell, "_IS_WINDOWS", False) is windows


@pytest.mark.parametrize("value", ["winrm", None, ["winrm"]])
def test_it_takes_variables(value):
    with pytest.raises(AnsibleError, match="takes the variables of a host"):
        windows_host(value)


def test_the_file_has_the_test_of_its_name():
    assert Loaded().tests() == {"windows_host": windows_host}
