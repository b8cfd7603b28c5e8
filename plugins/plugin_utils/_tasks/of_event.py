# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""For which hosts a run is that somebody starts for machines by their names in Azure: a message of Azure has no others.

Private to this collection.

The names are compared and nothing else: they come from outside, and no template in them is evaluated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

VARIABLE = "azure_maintenance_resources"


class Place(NamedTuple):
    """Of a host.

    :attr resource: its name in Azure, as the inventory has it
    :attr group: its capacity group, else its scope; "" for one that shares none
    """

    resource: str
    group: str


def names(text: str) -> list[str]:
    """``,web_0,web_1`` as it is written by a rulebook, or without the first comma by a person."""
    return [name.strip() for name in text.split(",") if name.strip()]


def concerned(places: Mapping[str, Place], resources: Iterable[str]) -> list[str]:
    """The hosts of these machines, and those that have to be counted with them, as a run for a scope has all of it."""
    wanted = {name.lower() for name in resources}
    named = {host for host, place in places.items() if (place.resource or host).lower() in wanted}
    groups = {places[host].group for host in named} - {""}
    return [host for host, place in places.items() if host in named or place.group in groups]
