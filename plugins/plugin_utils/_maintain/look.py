# Copyright: (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What one look of a machine says: whether it failed, and whether it tells which events there are. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def has_failed(look: Mapping[str, Any]) -> bool:
    """Whether a machine could not look. That a wait ended without a change is no failure, if it had seen a document."""
    if "events" not in look or look.get("unreachable"):
        return True
    kind = (look.get("failure") or {}).get("kind")
    return kind is not None and (kind != "timeout" or look.get("incarnation") is None)


def is_document(look: Mapping[str, Any]) -> bool:
    """Whether a result tells which events there are. An empty body (no incarnation) tells nothing: S2, S13.9."""
    return not has_failed(look) and look.get("incarnation") is not None


def may_hold(look: Mapping[str, Any], key: str) -> bool:
    """Whether a document has the event as an entry that can't be read any more: then it is still there."""
    return any(unusable["id"] in ("", key) for unusable in look.get("unusable_events") or ())
