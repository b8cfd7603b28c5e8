# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether each secret of a controller's credentials is there, before the first object is made.

The controller takes an empty one as well: a credential that was there loses its secret, and then no job starts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...module_utils._text import listed

ARGUMENTS: dict[str, dict[str, Any]] = dict(
    environment=dict(type="list", elements="str", required=True),
    credentials=dict(type="list", elements="dict", required=True),
)


def work(_action: Any, _task_vars: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """
    :arg arguments: names of variables of the environment, and credentials with their inputs
    """
    given = arguments["environment"]
    unset = [name for name in given if not os.environ.get(name)]
    if unset:
        return dict(
            failed=True,
            msg=f"Nothing was changed: not set, or empty, in the environment of ansible-playbook: {listed(unset)}. Export what is "
            "missing and start the playbook again; or, if you don't have what it is for, take its name out of "
            "azure_maintenance_controller_environment, and what needs it is left out.",
        )
    empty = [
        f"{name} of the credential {credential.get('name')!r}"
        for credential in arguments["credentials"]
        for name, value in (credential.get("inputs") or {}).items()
        if value in ("", None) and set(credential.get("needs") or ()) <= set(given)
    ]
    if empty:
        return dict(
            failed=True,
            msg=f"Nothing was changed: empty: {listed(empty)}. The controller would take that, and then no job with such a credential "
            "starts. Is what the value is read from there, such as the file of a key? An input that you don't need is left out.",
        )
    return dict(changed=False)
