# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the user has given role drain for a host, and what is wrong with that: it is refused before the machine is called.

Private to this collection.
"""

from __future__ import annotations

import platform
import secrets
from typing import Any

from ansible.errors import AnsibleError
from ansible.module_utils.parsing.convert_bool import boolean

from ...module_utils._text import one_line
from .._ansible import is_there
from .._drain.plan import NOTHING, Plan
from .._preflight import missing_collections, needed_collections
from .drain_run import Drained
from .host_variables import HostVariables, Reach


def drained(action: Any, host: str, name: str, given: dict[str, Any], trouble: str = "") -> Drained:
    """
    :arg name: of the list of the plan: prepare or recover
    :arg given: all variables of the host, with those of role drain, whose ``__drain_options`` may read ``__drain_list``, which is the same
        name, ``__drain_whose`` and ``__drain_unmarked``
    :arg trouble: why nothing is done with the host, whatever its steps are
    """
    variables, plan = HostVariables(action, given), NOTHING
    options: dict[str, Any] = {
        "host": host,
        "list": name,
        "run": f"drain-{secrets.token_hex(4)}",
        "controller": platform.node(),
        "check_mode": action._task.check_mode,
        "job": "",
        "whose": "",
        "unmarked": False,
    }
    reach, is_windows = Reach({}, False), False
    try:
        said = variables["__drain_options"]
        options.update(job=str(said["job"]), whose=str(said["whose"]), unmarked=boolean(said["unmarked"]))
        if not trouble:
            plan = variables["__drain_planned"]
            is_windows, reach = not variables.is_linux, variables.drain_reach
            trouble = f"{host}: {'. '.join(plan['errors'])}." if plan["errors"] else _lacks(host, plan, is_windows)
    except AnsibleError as error:
        trouble = one_line(error, 1000)
    return Drained({**options, "trouble": trouble}, plan, reach, is_windows)


def _lacks(host: str, plan: Plan, is_windows: bool) -> str:
    """The collections that are not there, as sentences: without a module that a later step calls, undoing would fail as well."""
    needed = needed_collections(plan["steps"], is_windows)
    found = list(missing_collections({name: [host] for name in needed}, is_there))
    return " ".join([*found, "Nothing was changed."]) if found else ""
