# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Variables that look like this collection's and are none: what somebody wants by them is not done, and nobody says so but this.

Private to this collection.
"""

from __future__ import annotations

import difflib
import pathlib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ..module_utils._text import listed

ROLES = pathlib.Path(__file__).parents[2] / "roles"
SPECS = tuple(
    ROLES / role / "meta" / "argument_specs.yml" for role in ("maintain", "drain", "watcher", "emulator", "controller")
)
PREFIXES = ("maintain_", "drain_", "rehearse_", "watcher_", "azure_maintenance_")
SET = ("maintain_result", "drain_result", "drain_recover_result", "rehearse_machine")
"""Variables that our roles and playbooks set for others to read."""

OF_PLAYBOOKS = ("azure_maintenance_hosts", "watcher_serial")
"""Variables of playbooks that no role reads: the hosts of a play, and how many at a time."""

OF_BOTH = ("api_version", "endpoint", "policy", "prepare_before", "resource_name", "scope")
GONE = (
    *("azure_maintenance_report_age", "rehearse_vm"),
    *(
        f"maintain_{name}"
        for name in ("discover", "first_timeout", "members", "slice", "takeover", "timeout", "wait_sleep")
    ),
    *(f"drain_{name}" for name in ("budget", "fail", "recover_budget", "revert_budget", "system")),
    *(
        f"watcher_{name}"
        for name in ("boot_timeout", "discover", "history_bytes", "hook_paths", "interval", "look_timeout")
    ),
    *(f"watcher_{name}" for name in ("poll_timeout", "settle", "spool_bytes")),
)
RENAMED = {
    **{f"{role}_{name}": f"azure_maintenance_{name}" for role in ("maintain", "watcher") for name in OF_BOTH},
    **dict.fromkeys(("maintain_become", "drain_become"), "ansible_become"),
    "maintain_max_out": "maintain_max_unavailable",
    "maintain_prepare_within": "azure_maintenance_prepare_before",
    "rehearse_hit": "rehearse_affected",
    "watcher_act": "watcher_mode",
    "watcher_turn_after": "watcher_cooldown",
    **dict.fromkeys(GONE, ""),
}
"""Variables that have another name now, of all roles; each with that, or "" where nothing has taken its place. What is set by them is not done, so
they are refused."""

ALIKE = 0.75
"""How alike two names have to be, as difflib has it, so that one is taken for a slip of the other."""


class Unknown(NamedTuple):
    """A variable that nobody reads.

    meant: ``(did you mean 'watcher_mode'?)`` with a blank before it; "" where none of ours is like it
    hosts: which have it, where others of the play have not
    renamed: how it is called now, "" where nothing has taken its place; None where it is no former one of ours
    """

    name: str
    meant: str
    hosts: tuple[str, ...] = ()
    renamed: str | None = None

    @property
    def words(self) -> str:
        return f"{self.name}{f' of {listed(self.hosts, 5)}' if self.hosts else ''}{self.meant}"


def known_variables(load: Callable[[str], Any]) -> frozenset[str]:
    """All variables of ours that anybody may set.

    :arg load: reads a file of YAML
    """
    entries = [entry for path in SPECS for entry in load(str(path))["argument_specs"].values()]
    return frozenset(SET + OF_PLAYBOOKS).union(*(entry.get("options") or () for entry in entries))


def unknown_variables(names: Iterable[str], known: Collection[str]) -> list[Unknown]:
    """Those of the names that look like ours and are not."""
    ours = [name for name in known if name.startswith(PREFIXES)]
    strange = sorted({name for name in names if name.startswith(PREFIXES)} - set(known))
    return [
        Unknown(name, "", renamed=RENAMED[name]) if name in RENAMED else Unknown(name, _meant(name, ours))
        for name in strange
    ]


def _meant(name: str, ours: Iterable[str]) -> str:
    """What is like it behind the prefix that they have in common: by the prefix alone, any of a user's own would be like one of ours."""
    prefix = next(prefix for prefix in PREFIXES if name.startswith(prefix))
    rests = [one[len(prefix) :] for one in ours if one.startswith(prefix)]
    close = difflib.get_close_matches(name[len(prefix) :].lower(), rests, 1, ALIKE)
    return f" (did you mean {prefix + close[0]!r}?)" if close else ""


def unknown_of_play(shared: Iterable[str], hosts: Mapping[str, Iterable[str]], known: Collection[str]) -> list[Unknown]:
    """Those of a play that look like ours and are not.

    :arg shared: names that a task of the play sees on one of its hosts
    :arg hosts: names that each host of the play has by the inventory, facts and the command line
    """
    having: dict[str, list[str]] = {}
    for host, names in hosts.items():
        for name in names:
            having.setdefault(name, []).append(host)
    return [
        one._replace(hosts=tuple(found)) if len(found := having.get(one.name, ())) < len(hosts) else one
        for one in unknown_variables({*shared, *having}, known)
    ]


def misspelt(unknown: Iterable[Unknown]) -> list[Unknown]:
    """Those that are like one of ours: what is meant by them would not be done, so they are refused."""
    return [one for one in unknown if one.meant]


def refused(unknown: Sequence[Unknown]) -> list[str]:
    """The former and the misspelt ones, in a sentence each kind; none where there are none."""
    former = [
        f"Variable {one.words} is now called {one.renamed}: rename it."
        if one.renamed
        else f"Variable {one.words} has no effect any more: remove it."
        for one in unknown
        if one.renamed is not None
    ]
    found = misspelt(unknown)
    if not found:
        return former
    words = listed(one.words for one in found)
    return [*former, f"This collection has no variable {words}: correct it, or rename it where it is one of your own."]


def named(unknown: Iterable[Unknown]) -> list[str]:
    """The others in one sentence; none where there are none."""
    found = [one for one in unknown if not one.meant and one.renamed is None]
    if not found:
        return []
    words = listed(one.words for one in found)
    return [f"This collection has no variable {words}: unless it is one of your own, correct it."]
