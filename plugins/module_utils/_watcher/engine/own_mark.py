# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The watcher asks whose its machine is; of its own mark it reads the note, too. Pure.

Private to this collection.

Beside what every mark has, the watcher's has a note: all that has to outlive the watcher, and the machine's restart.
"""

from typing import Any, Dict, Mapping, Optional

from ..._core.mark_view import OURS, Asker, MarkView, mark_view
from .facts import Facts, Identity

RUN = "watcher"


def asker(identity: Optional[Identity], endpoint: str) -> Asker:
    """The watcher of a machine, as which it asks whose a mark is.

    :arg endpoint: the configured one: where its metadata service was found elsewhere, it is the same
    """
    return Asker(RUN, identity.vm_id if identity else None, endpoint)


def own_mark(facts: Facts) -> MarkView:
    """The mark of a tick's facts. Of one that is not the watcher's only whose it is counts here."""
    found = mark_view(facts.mark, facts.unreadable, asker(facts.identity, facts.endpoint), facts.moment)
    return found if found.owner == OURS else MarkView(found.owner, owner_words=found.owner_words)


def note_of(mark: Optional[Mapping[str, Any]]) -> Dict[str, Any]:
    """The watcher's note of a mark, which an earlier version may have written, or a hand."""
    note = (mark or {}).get("note")
    return dict(note) if isinstance(note, dict) else {}
