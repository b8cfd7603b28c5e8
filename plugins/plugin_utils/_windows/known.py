# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one call to a Windows machine leaves for the next one, which then needs no start of PowerShell to learn it.

It is no more than a guess: the start that changes something compares all of it first, on the machine.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .boot import Boot
from .store import WindowsStore
from .transport import Compared, WindowsTransport

_FOR = ("go", "look", "approve", "release")  # requests that may begin with what was known
_LONGEST = 8192  # letters of a document that is kept: it travels through the record of the run


def is_assumable(requests: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a call with these requests may begin with what was known."""
    return all(request["do"] in _FOR for request in requests)


def remembered(start: float, boot: Boot, store: WindowsStore, transport: WindowsTransport) -> dict[str, Any] | None:
    """What the next call may begin with, and how old that is; None where nothing is sure enough.

    :arg start: seconds that the last start of PowerShell took
    """
    known = store.known()
    if known is None or not boot.has_id:
        return None
    seen = {url: said for url, said in transport.seen.items() if len(said["body"]) <= _LONGEST}
    return dict(known, boot=boot.said, seen=seen, age=boot.age, start=start)


def assume(
    known: Mapping[str, Any],
    requests: Sequence[Mapping[str, Any]],
    boot: Boot,
    store: WindowsStore,
    transport: WindowsTransport,
) -> None:
    """Begin with what was known. A document only where it is compared before an approval, or waited from: else it is looked at."""
    boot.assume(known["boot"], known["age"])
    store.assume(known, known["age"])
    document = None
    if any(request["do"] == "approve" for request in requests):
        document = Compared.FIRST
    elif any(request.get("wait") for request in requests):
        document = Compared.BY_WAITING
    transport.begin_with(known["seen"], document)
