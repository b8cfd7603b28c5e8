# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For which metadata service a mark was made: a rehearsal has one of its own, and its marks count for nobody else. Pure.

Private to this collection.
"""

from typing import Any, Mapping

from .._imds.endpoint import DEFAULT_ENDPOINT
from .._text import one_line


def made_for(mark: Mapping[str, Any]) -> str:
    """The endpoint that a mark names."""
    return str(mark.get("endpoint") or DEFAULT_ENDPOINT)


def is_made_for(mark: Mapping[str, Any], endpoint: str) -> bool:
    """Whether a mark was made for this endpoint ("": Azure's own), by whomever."""
    one, other = made_for(mark), endpoint or DEFAULT_ENDPOINT
    return one == other or _form(one) == _form(other)


def is_made_for_azure(mark: Mapping[str, Any]) -> bool:
    return is_made_for(mark, DEFAULT_ENDPOINT)


def service_words(mark: Mapping[str, Any]) -> str:
    """For whom a mark was made, for people."""
    name = "Azure's own metadata service" if is_made_for_azure(mark) else "another metadata service, as in a rehearsal"
    return f"{name} ({one_line(made_for(mark))})"


def _form(endpoint: str) -> str:
    return endpoint.strip().rstrip("/").lower()
