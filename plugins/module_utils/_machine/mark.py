# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark: the note on a machine that it is being, or has been, taken out of service. As data; pure.

Private to this collection.

No options of steps and no secrets stand in it: these come from the inventory each time.
"""

import hashlib
import json
from typing import Any, Dict, List, Mapping, Optional, Sequence

from .._clock import iso_utc
from .._core.lease import Moment, is_expired, lease_of, left, renewed
from .._core.mark_view import holder_words
from .._steps.sequence import BEGUN, DONE, FAILED, NOT_TAKEN_BACK, TAKEN_BACK, TAKING_BACK, WAITING
from .._steps.step_type import Step
from .._text import one_line, shown
from .step_runner import InitialState
from .store_interface import Mark, MarkUnreadable

FORMAT = 1
MOST_BYTES = 1024 * 1024
MOST_BYTES_AT_FIRST = MOST_BYTES // 2
"""Of a mark that is yet to say what came of each step."""

LONGEST_LEASE = 7 * 86400.0

PHASES = ("preparing", "prepared", "recovering", "half")

_KEEP = {"drain": "role drain's own recovery", "watcher": "the machine's own watcher"}
"""Holders whose marks nobody takes over because their lease has run out: by kind, who takes them back."""

_STATES = (WAITING, BEGUN, DONE, FAILED, TAKING_BACK, TAKEN_BACK, NOT_TAKEN_BACK)
_NUMBER = (int, float)
_FORM: Dict[str, Any] = {
    "number": int,
    "holder": {"kind": str, "run": str, "job": str, "controller": str},
    "since": str,
    "renewed": str,
    "lease": {"uptime": _NUMBER, "boot_id": str, "until": _NUMBER},
    "endpoint": str,
    "vm_id": str,
    "boot_id": str,
    "events": list,
    "phase": str,
    "steps": list,
}
_STEP_FORM: Dict[str, Any] = {
    "key": str,
    "type": str,
    "words": str,
    "unwords": str,
    "state": str,
    "since": str,
    "seconds": _NUMBER,
    "note": str,
    "limit": _NUMBER,
    "tries": int,
    "began": {"uptime": _NUMBER, "boot_id": str},
}


def first_mark(
    call: Mapping[str, Any],
    events: Sequence[str],
    seconds: float,
    initial_states: Mapping[str, InitialState],
    moment: Moment,
) -> Mark:
    """The mark before anything is begun.

    :arg call: a call's options and steps
    :arg seconds: of its lease
    """
    options = call["options"]
    at = iso_utc(moment.wall)
    return {
        "format": FORMAT,
        "number": options["number"],
        "holder": holder_of(options),
        "since": at,
        "renewed": at,
        "lease": lease_of(moment, _bounded(seconds)),
        "endpoint": options.get("endpoint") or "",
        "vm_id": options.get("vm_id") or "",
        "boot_id": moment.boot_id,
        "events": list(events),
        "phase": "preparing",
        "steps": [mark_step(step, initial_states.get(step["key"]), moment) for step in call["steps"]],
    }


def mark_step(step: Step, initial: Optional[InitialState], moment: Moment) -> Dict[str, Any]:
    """What a mark says of a step that waits."""
    return {
        "key": step["key"],
        "type": step["type"],
        "words": one_line(step["does"], 500),
        "unwords": one_line(step["undoes"], 500),
        "state": WAITING,
        "before": initial,
        "since": iso_utc(moment.wall),
        "seconds": 0.0,
        "note": "",
        "limit": 0.0,
        "tries": 0,
        "by": "",  # the run that began it
        "began": {"uptime": 0.0, "boot_id": ""},
    }


def holder_of(options: Mapping[str, Any]) -> Dict[str, str]:
    holder = dict(options.get("holder") or {}, run=options["run"])
    return {key: one_line(holder.get(key), 200) for key in ("kind", "run", "job", "controller")}


def held_by(mark: Mark, options: Mapping[str, Any], moment: Moment, seconds: Optional[float] = None) -> Mark:
    """The mark as the one who calls holds it from now on: his number, his lease.

    :arg seconds: of the lease; None for as many as it had
    """
    lease = renewed(mark["lease"], moment) if seconds is None else lease_of(moment, _bounded(seconds))
    return dict(mark, number=options["number"], holder=holder_of(options), renewed=iso_utc(moment.wall), lease=lease)


def _bounded(seconds: float) -> float:
    return min(max(float(seconds), 0.0), LONGEST_LEASE)


def objection(mark: Mark, options: Mapping[str, Any], moment: Moment, take: str = "", forced: bool = False) -> str:
    """Why the one who calls can't have the mark; "" when it is his.

    :arg take: the run whose mark he would take over, if nobody can be taken to hold it any more
    :arg forced: and even if somebody can
    """
    holder = mark["holder"]
    if holder["run"] == options["run"]:
        if options["number"] > mark["number"]:
            return ""
        return (
            f"This call (number {options['number']}) comes too late: call {mark['number']} of the same run has been here "
            "since. Nothing was done."
        )
    kind = (options.get("holder") or {}).get("kind")
    if holder["kind"] == kind == "drain" and (mark["phase"] != "preparing" or is_expired(mark["lease"], moment)):
        return ""  # prepare and recover of role drain are two runs
    if take == holder["run"] and forced:
        return ""
    whose = f"The machine is owned by {holder_words(mark)}"
    if holder["kind"] in _KEEP:
        return f"{whose}: only {_KEEP[holder['kind']]} takes that back, or a recovery that names this run and is forced to."
    if not is_expired(mark["lease"], moment):
        return f"{whose}, which is taken to be alive for another {left(mark['lease'], moment):.0f} s. Nothing was done."
    if take != holder["run"]:
        return f"{whose}, which has not been heard of since {mark['renewed']}; name that run to take it over."
    return ""


def job_name(mark: Mark, step: Mapping[str, Any], direction: str) -> str:
    """What a step is begun under: the same whichever run goes on with this outage, another one for each try."""
    said = [mark["since"], mark["boot_id"], step["key"], direction, step["tries"]]
    return hashlib.sha256(json.dumps(said).encode("ascii")).hexdigest()[:32]


def merged(events: Sequence[str], more: Sequence[str]) -> List[str]:
    """The ids of both, each once."""
    known = {event.upper() for event in events}
    return list(events) + [event for event in more if event.upper() not in known]


def parsed(text: str) -> Mark:
    """A mark out of a file.

    :raises MarkUnreadable: when it is none, or one that this version must not touch
    """
    try:
        mark = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MarkUnreadable(f"it is no JSON ({one_line(error, 100)})") from error
    if not isinstance(mark, dict):
        raise MarkUnreadable("it is no JSON object")
    form = mark.get("format")
    if not isinstance(form, int) or isinstance(form, bool):
        raise MarkUnreadable("it does not say of which format it is")
    if form > FORMAT:
        raise MarkUnreadable(
            f"it is of format {form}, and this version of the collection knows none above {FORMAT}: use the version that "
            "made it, or a newer one",
            is_newer=True,
        )
    _check(mark, _FORM, "")
    if mark["phase"] not in PHASES:
        raise MarkUnreadable(f"its phase is {shown(mark['phase'])}")
    if not all(isinstance(event, str) for event in mark["events"]):
        raise MarkUnreadable("its events are no texts")
    if not isinstance(mark.get("note", {}), dict):
        raise MarkUnreadable(f"its note is {shown(mark['note'])}")
    for step in mark["steps"]:
        _check(step, _STEP_FORM, "of a step ")
        if step["state"] not in _STATES or not isinstance(step.get("before"), (dict, type(None))):
            raise MarkUnreadable(f"what it says of step {one_line(step['key'])} can't be understood")
        if not isinstance(step.get("budget", 0.0), _NUMBER):
            raise MarkUnreadable(f"the budget of step {one_line(step['key'])} is {shown(step['budget'])}")
    return mark


def understood(content: bytes, where: str) -> Mark:
    """A mark out of the bytes of a file, of at most one more than :data:`MOST_BYTES`.

    :arg where: the file, for people
    :raises MarkUnreadable: naming the file
    """
    try:
        if len(content) > MOST_BYTES:
            raise MarkUnreadable("it is too large")
        return parsed(content.decode("utf-8", "replace"))
    except MarkUnreadable as error:
        raise MarkUnreadable(f"{where} can't be understood: {error}", error.is_newer) from error


def _check(value: Any, form: Mapping[str, Any], where: str) -> None:
    if not isinstance(value, dict):
        raise MarkUnreadable(f"its {where or 'content '}is {shown(value)}")
    for key, kind in form.items():
        found = value.get(key)
        if isinstance(kind, dict):
            _check(found, kind, f"{key} ")
        elif not isinstance(found, kind) or isinstance(found, bool):
            raise MarkUnreadable(f"its {where}{key} is {shown(found)}")
