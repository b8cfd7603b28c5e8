# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What happened, in order: bounded in memory, complete in a file if one is given."""

import json
import sys
from collections import deque
from datetime import datetime, timezone
from typing import Any, Callable, Deque, Dict, List, Optional, Sequence, TextIO

from .problems import InvalidInput
from .timeline import Timeline

KEPT = 10000


def iso(moment: Optional[float]) -> Optional[str]:
    """A time as ISO 8601 UTC with milliseconds."""
    if moment is None:
        return None
    text = datetime.fromtimestamp(round(moment, 3), timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")
    return text[:-3] + "Z"


class Journal:
    """Entries with a sequence number that only grows, over a reset too."""

    def __init__(self, timeline: Timeline, out: Optional[TextIO] = None, kept: int = KEPT) -> None:
        self._timeline = timeline
        self._entries: Deque[Dict[str, Any]] = deque(maxlen=kept)
        self._out = out
        self.seq = 0
        self.listeners: List[Callable[[], None]] = []

    def add(self, kind: str, **members: Any) -> Dict[str, Any]:
        """Write one entry."""
        self.seq += 1
        entry = {
            "seq": self.seq,
            "kind": kind,
            "virtual": iso(self._timeline.now()),
            "wall": round(self._timeline.clock.wall(), 3),
        }
        entry.update(members)
        self._entries.append(entry)
        self._write(entry)
        for listener in list(self.listeners):
            listener()
        return entry

    def _write(self, entry: Dict[str, Any]) -> None:
        if self._out is None:
            return
        try:
            self._out.write(json.dumps(entry) + "\n")
            self._out.flush()
        except OSError as error:  # a full disk must not stop the service
            self._out = None
            print(f"imds_emulator: the journal file is given up at entry {entry['seq']}: {error}", file=sys.stderr)

    def entries(
        self, since: int = 0, kinds: Sequence[str] = (), vm: str = "", event_id: str = "", limit: int = 1000
    ) -> List[Dict[str, Any]]:
        """The entries after `since` that fit, oldest first, at most `limit`."""
        found = []
        for entry in self._entries:
            if entry["seq"] <= since or (kinds and entry["kind"] not in kinds):
                continue
            if vm and vm.lower() not in _vms_of(entry):
                continue
            if event_id and event_id.lower() not in _ids_of(entry):
                continue
            found.append(entry)
            if len(found) == limit:
                break
        return found

    def clear(self) -> None:
        """Forget the entries in memory."""
        self._entries.clear()


def read_journal(path: str) -> List[Dict[str, Any]]:
    """The entries of a file that a journal was appended to."""
    entries = []
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                entry = json.loads(line)
                if not isinstance(entry, dict) or "seq" not in entry or "kind" not in entry:
                    raise InvalidInput(path, f"line {number} is no entry of a journal")
                entries.append(entry)
    except OSError as error:
        raise InvalidInput(path, f"can't be read: {error.strerror}") from None
    except ValueError as error:
        raise InvalidInput(path, f"line {len(entries) + 1} is no entry of a journal: {error}") from None
    return entries


def _vms_of(entry: Dict[str, Any]) -> List[str]:
    return [str(name).lower() for name in [entry.get("vm")] + list(entry.get("resources") or ())]


def _ids_of(entry: Dict[str, Any]) -> List[str]:
    return [
        str(item).lower()
        for item in [entry.get("event_id")] + [request["event_id"] for request in entry.get("requests") or ()]
    ]
