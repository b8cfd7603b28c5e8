# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A person's yes to an event: a small file beside the mark. Pure.

Private to this collection.
"""

import hashlib
import json
from typing import Dict

from .._text import one_line


def yes_file(event: str) -> str:
    """A file's name for an event, whose id may be any text."""
    return hashlib.sha256(event.upper().encode("utf-8", "surrogatepass")).hexdigest()[:32] + ".json"


def yes_note(event: str, by: str, at: str) -> Dict[str, str]:
    """What is in it, as JSON."""
    return {"event": event, "by": by, "at": at}


def yes_event(content: bytes) -> str:
    """The event that a file says yes to; "" when that can't be read."""
    try:
        return one_line(json.loads(content.decode("utf-8"))["event"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
