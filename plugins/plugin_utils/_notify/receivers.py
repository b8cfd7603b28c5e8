# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who is notified in a run: the entries of ``maintain_notify``, checked. Pure.

Private to this collection.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...module_utils._errors import ScheduledEventsError
from ...module_utils._text import did_you_mean, listed, shown
from ...module_utils._watcher.settings.destinations import bare, destination_of
from ...module_utils._watcher.settings.refused import Refused

KINDS = {
    "url": ("secret", "proxy", "ca_file"),
    "hook": (),
    "tasks": ("vars",),
}
"""What an entry is, by the key that says so; and which other keys it may have."""


class NotifyError(ScheduledEventsError):
    """What is wrong with maintain_notify, in a sentence."""


class Receiver(NamedTuple):
    """One that is notified. It holds secrets: it goes to the sender's standard input, and into no file, log or result."""

    kind: str  # a key of KINDS
    target: str  # a URL, or the path of a file
    secret: str = ""
    proxy: str = ""
    ca_file: str = ""
    vars: Mapping[str, Any] = {}

    @property
    def key(self) -> str:
        """The name of its folder."""
        return hashlib.sha256(f"{self.kind} {self.target}".encode()).hexdigest()[:16]

    @property
    def words(self) -> str:
        """How it is called where everybody may read it: the path or the query of a URL may hold a token."""
        return bare(self.target) if self.kind == "url" else self.target


def receivers_of(given: Any) -> list[Receiver]:
    """The receivers that ``maintain_notify`` names.

    :raises NotifyError: naming the entry that is wrong, without its values
    """
    if given is None or given == "":
        return []
    if not isinstance(given, (list, tuple)):
        raise NotifyError(f"maintain_notify must be a list, not {shown(type(given).__name__)}.")
    found: list[Receiver] = []
    for number, entry in enumerate(given, 1):
        try:
            one = _receiver(entry)
        except Refused as error:
            raise NotifyError(f"maintain_notify, entry {number}: {error}.") from error
        if one.key in [other.key for other in found]:
            raise NotifyError(f"maintain_notify, entry {number}: the same {one.kind} is named by an earlier entry.")
        found.append(one)
    return found


def _receiver(entry: Any) -> Receiver:
    if not isinstance(entry, Mapping):
        raise Refused(f"it must be a dictionary with {listed(KINDS)}")
    # The argument spec adds the keys that are not given, as None.
    given = {str(key): _decrypted(value) for key, value in entry.items() if value is not None}
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        raise Refused(f"it must have exactly one of {listed(KINDS)}; it has {listed(kinds) or 'none'}")
    kind = kinds[0]
    keys = (kind, *KINDS[kind])
    for key, value in given.items():
        if key not in keys:
            raise Refused(
                f"an entry with {kind} has no key {shown(key)}{did_you_mean(key, keys)}; the keys are {listed(keys)}"
            )
        if not isinstance(value, Mapping if key == "vars" else str):
            raise Refused(f"{key} must be a {'dictionary' if key == 'vars' else 'text'}")
    if kind == "url":
        known = {key: str(value) for key, value in given.items() if key in ("url", "proxy", "ca_file")}
        destination = destination_of(known)
        return Receiver(kind, destination.url, str(given.get("secret") or ""), destination.proxy, destination.ca_file)
    if not str(given[kind]).startswith("/"):
        raise Refused(
            f'{kind} must be the whole path of a file on the controller, such as "{{{{ inventory_dir }}}}/..."'
        )
    return Receiver(kind, str(given[kind]), vars=dict(given.get("vars") or {}))


def _decrypted(value: Any) -> Any:
    """An inline text out of a vault, which has a type of its own before ansible-core 2.19, as a text."""
    return str(value) if getattr(value, "__ENCRYPTED__", False) else value
