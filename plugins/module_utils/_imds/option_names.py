# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages name the option of the modules; who runs a role sets a variable, and reads its name.

Private to this collection.
"""

import re
from typing import Any

VARIABLES = {
    "endpoint": "azure_maintenance_endpoint",
    "resource_name": "azure_maintenance_resource_name",
    "api_version": "azure_maintenance_api_version",
    "timeout": "",  # of a role these are not to be set
    "first_timeout": "",
}

_OPTION = re.compile(rf"( \()?(?:[Tt]he )?\boption ({'|'.join(sorted(VARIABLES, reverse=True))})\b(\))?")
_SENTENCES = ("msg", "message", "problem", "why")


def with_variables(text: str) -> str:
    """A message in which each option is the variable that the user sets. Where it has none, what names it in brackets is left out."""

    def named(found: Any) -> str:
        before, option, after = found.group(1) or "", found.group(2), found.group(3) or ""
        variable = VARIABLES[option]
        if not variable and before and after:
            return ""
        return before + (variable or found.group(0).strip(" ()")) + after

    return _OPTION.sub(named, text)


def answers_with_variables(value: Any) -> Any:
    """The same of all sentences of a machine's answers."""
    if isinstance(value, list):
        return [answers_with_variables(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: with_variables(one) if key in _SENTENCES and isinstance(one, str) else answers_with_variables(one)
        for key, one in value.items()
    }
