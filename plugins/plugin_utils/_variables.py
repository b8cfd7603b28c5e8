# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that look like this collection's and are none: what somebody wants by them is not done, and nobody says so but this.

Private to this collection.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from ..module_utils._text import did_you_mean, listed

ROLES = pathlib.Path(__file__).parents[2] / "roles"
SPECS = tuple(ROLES / role / "meta" / "argument_specs.yml" for role in ("maintain", "drain", "watcher", "emulator"))
PREFIXES = ("maintain_", "drain_", "rehearse_", "watcher_", "azure_maintenance_")
SET = ("maintain_result", "drain_result", "drain_recover_result", "rehearse_machine")
"""Variables that our roles and playbooks set for others to read."""


class Unknown(NamedTuple):
    """A variable that nobody reads."""

    name: str
    meant: str  # ``(did you mean 'watcher_act'?)`` with a blank before it; "" where none of ours is like it

    @property
    def words(self) -> str:
        return f"{self.name}{self.meant}"


def known_variables(load: Callable[[str], Any]) -> frozenset[str]:
    """All variables of ours that anybody may set.

    :arg load: reads a file of YAML
    """
    entries = [entry for path in SPECS for entry in load(str(path))["argument_specs"].values()]
    return frozenset(SET).union(*(entry.get("options") or () for entry in entries))


def unknown_variables(names: Iterable[str], known: Collection[str]) -> list[Unknown]:
    """Those of the names that look like ours and are not."""
    ours = [name for name in known if name.startswith(PREFIXES)]
    strange = sorted({name for name in names if name.startswith(PREFIXES)} - set(known))
    return [Unknown(name, did_you_mean(name, ours)) for name in strange]


def named(unknown: Sequence[Unknown]) -> list[str]:
    """All of them in one sentence; none where there are none."""
    if not unknown:
        return []
    words = listed(one.words for one in unknown)
    return [f"This collection has no variable {words}: unless it is one of your own, correct it."]
