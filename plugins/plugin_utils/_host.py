# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which system a machine has. The one answer of this collection for whoever has only its variables.

Private to this collection.

An action, which has the machine's connection, asks that instead: a connection plugin of another collection may bring a
Windows shell without any variable that says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CONNECTIONS = ("winrm", "psrp")
_SHELLS = ("powershell", "cmd")


def is_windows(variables: Mapping[str, Any]) -> bool:
    """Whether Ansible reaches the machine as a Windows machine; no facts are needed.

    :arg variables: of the host; ``ansible_connection`` and ``ansible_shell_type`` are looked at, with or without the name of
        the plugin's collection
    """
    return (
        _plugin(variables.get("ansible_connection")) in _CONNECTIONS
        or _plugin(variables.get("ansible_shell_type")) in _SHELLS
    )


def _plugin(name: Any) -> str:
    return str(name or "").rsplit(".", 1)[-1]
