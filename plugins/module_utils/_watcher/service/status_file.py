# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the watcher says of itself: a line for the service manager, and a file of the state folder for the command, for `maintain`, for
people.

Private to this collection.

The file is no state of the watcher's: it is never read back, and may be lost.
"""

import os
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..._clock import Clock, iso_utc
from ..._core.mark_view import COPIED, FOREIGN, OURS, UNIDENTIFIED, UNREADABLE
from ..._core.messages import WATCHER, ends_by
from ..._machine.beside_mark import WATCHER_FILE
from ..._machine.files import StateFile
from ..engine.decision import EventDecision
from ..engine.interface import Facts
from ..engine.snapshot import own_mark
from ..settings.hooks import HOOKS
from ..settings.settings import SettingsFile


def state_of(
    facts: Facts,
    settings: SettingsFile,
    imds: Mapping[str, Any],
    about: Mapping[str, Any],
    problems: Sequence[str],
    orders: Sequence[Mapping[str, Any]],
    decisions: Mapping[str, EventDecision],
) -> Dict[str, Any]:
    """The state as it is published.

    :arg imds: what there is to say of the metadata service
    :arg about: version, pid and the like
    :arg orders: what came of the last ones
    :arg decisions: what the engine has decided about each of this machine's events, by its key
    """
    configuration, polled = settings.current, facts.polled
    return dict(
        about,
        mode=configuration.settings.mode,
        approve=configuration.settings.approve,
        settings=settings.path,
        name=facts.identity.name if facts.identity else "",
        vm_id=facts.identity.vm_id if facts.identity else "",
        boot_id=facts.moment.boot_id,
        uptime=facts.moment.uptime,
        looked_at=iso_utc(facts.moment.wall - (facts.now - polled.at)) if polled else None,
        looking=polled is not None and not facts.poll_problem,
        looks=imds["polls"],
        metadata={key: value for key, value in imds.items() if key != "polls"},
        incarnation=polled.document.incarnation if polled else None,
        events=[event.event_id for event in polled.document.events] if polled else [],
        shown=_shown(facts, decisions),
        unreadable=[entry.position for entry in polled.document.unusable] if polled else [],
        put_back=[event.event_id for event in polled.document.events if event.key in facts.suppressed]
        if polled
        else [],
        doing=doing(facts),
        hold=facts.hold._asdict() if facts.hold else None,
        steps=[{key: step[key] for key in ("key", "type", "does", "undoes")} for step in configuration.steps],
        hooks=sorted({step["key"] for some in facts.steps.values() for step in some if step["type"] in HOOKS}),
        problems=list(problems),
        orders=list(orders),
    )


def _shown(facts: Facts, decisions: Mapping[str, EventDecision]) -> List[Dict[str, Any]]:
    """What there is to say of each event of the document; of one of this machine's that is not approved also why, and what ends that."""
    return [
        {
            "id": event.event_id,
            "type": event.event_type,
            "status": event.event_status,
            "resources": list(event.resources),
            "not_before": iso_utc(event.not_before_time) if event.not_before_time is not None else None,
            **_waits(decisions.get(event.key), event.event_id),
        }
        for event in (facts.polled.document.events if facts.polled else ())
    ]


def _waits(decision: Optional[EventDecision], event_id: str) -> Dict[str, str]:
    if decision is None or not decision.reasons:
        return {"waits": "", "reason": "", "ends_by": ""}
    reason = decision.reasons[0]
    return {"waits": decision.waits, "reason": reason.code, "ends_by": ends_by(reason, WATCHER, event_id)}


def line_of(facts: Facts, problems: Sequence[str]) -> str:
    """What it is doing, in a line; the first thing that is wrong, where something is."""
    events = facts.polled.document.events if facts.polled else ()
    words = f"{doing(facts)}; {len(events)} event{'' if len(events) == 1 else 's'} in the document"
    return f"{words}; {problems[0]}" if problems else words


def doing(facts: Facts) -> str:
    """``watching``, the phase of the outage, or who else holds the machine."""
    owner = own_mark(facts).owner
    if owner == UNREADABLE:
        return "has an unreadable mark"
    if not facts.mark:
        return "watching"
    if owner in (OURS, UNIDENTIFIED):
        return str(facts.mark["phase"])
    holder = facts.mark["holder"]
    what = {FOREIGN: ", for another metadata service", COPIED: ", of the VM of which this one is a copy"}.get(owner, "")
    return f"owned by {holder['kind'] or 'run'} {holder['run']}{what}"


EVERY = 30.0  # seconds; at once where something else than a time or a count has changed
_PASSING = ("at", "uptime", "looked_at", "looks")


class StatusFile:
    """The file.

    problem: why it could not be written the last time
    """

    def __init__(self, folder: str, clock: Clock) -> None:
        self._file = StateFile(os.path.join(folder, WATCHER_FILE))
        self._clock = clock
        self._written: Optional[Dict[str, Any]] = None
        self._at = 0.0
        self.problem = ""

    def publish(self, state: Dict[str, Any]) -> None:
        """Have this in the file, at once where it matters."""
        now = self._clock.now()
        lasting = {key: value for key, value in state.items() if key not in _PASSING}
        if lasting == self._written and now - self._at < EVERY:
            return
        self._at = now
        try:
            # Not synced: who looks after a power cut starts a watcher first.
            self._file.replace_unsynced(dict(state, at=iso_utc(self._clock.wall())), 0o644)
        except OSError as error:
            self.problem = f"{self._file.path} can't be written: {error.strerror}"
            return
        self._written = lasting
        self.problem = ""
