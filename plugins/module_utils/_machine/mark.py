# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The mark: the note on a machine that it is being, or has been, taken out of service. As data; pure. And what a store of
it offers, wherever that is: a folder of this machine, or one of a Windows machine.

Private to this collection.

No options of steps and no secrets stand in it: these come from the inventory each time.
"""

import json
from typing import Any, ContextManager, Dict, Iterable, List, Mapping, Optional, Sequence

from .._clock import Moment, iso_utc
from .._core.mark_view import holder_since, is_expired, lease_left, lease_of, renewed_lease
from .._steps.sequence import BEGUN, DONE, FAILED, NOT_TAKEN_BACK, TAKEN_BACK, TAKING_BACK, WAITING
from .._steps.step_type import Step
from .._steps.types import is_verified
from .._text import one_line, shown
from .step_runner import InitialState

Mark = Dict[str, Any]
"""A mark as JSON."""

MARK = "mark.json"
"""Its file, in the folder."""

HOOKS = "hooks"
"""The folder beside it of what hooks find, and leave for others."""


class MarkUnreadable(Exception):
    """There is a mark that can't be read, or one of a newer format: it counts as somebody's.

    :arg is_newer: whether it is of a newer format, and must not be touched at all
    """

    def __init__(self, message: str, is_newer: bool = False) -> None:
        super().__init__(message)
        self.is_newer = is_newer


class NotWritten(Exception):
    """The mark could not be written, or the folder not used; the message says why and what to do."""


class Busy(NotWritten):
    """Somebody else is just changing it; it can be tried again."""


class Fenced(Exception):
    """The mark is not, or not any more, that of this run and number: this call must not change anything."""


class TooLate(Fenced):
    """Nobody waits for this call any more: it must not begin anything."""


class Store:
    """One machine's mark and what is beside it.

    `replace`, `remove` and `held` compare first: the mark that is there must be of this run and bear this number, else
    they raise :class:`Fenced` and nothing is changed.
    """

    def alone(self) -> ContextManager[None]:
        """While in it, nobody else changes anything here; the others may be called from within."""
        raise NotImplementedError

    def read(self) -> Optional[Mark]:
        """The mark as JSON, its form checked; None when there is none.

        :raises MarkUnreadable: when there is one and nobody can tell whose
        """
        raise NotImplementedError

    def unwritable(self) -> str:
        """Why a mark could not be written, as far as can be seen; "" when nothing speaks against it, or nobody can tell."""
        return ""

    def disk(self) -> str:
        """What tells the disk that the folder is on from an earlier one of the machine; "" where nothing does."""
        return ""

    def create(self, mark: Mark) -> None:
        """The first mark.

        :raises Fenced: when there is one already
        :raises NotWritten: when it can't be written
        """
        raise NotImplementedError

    def replace(self, mark: Mark, run: str, number: int) -> None:
        """Put this mark in the place of the one of that run and number, as one change."""
        raise NotImplementedError

    def remove(self, run: str, number: int) -> None:
        """Remove the mark, what its jobs left, and a confirmation of its events."""
        raise NotImplementedError

    def take_off(self) -> None:
        """Remove the mark, whatever it is, and all that is beside it."""
        raise NotImplementedError

    def put_aside(self) -> str:
        """Move the mark, whatever it is, and all that is beside it out of the way; returns where it is. What was there goes."""
        raise NotImplementedError

    def held(self, run: str, number: int) -> ContextManager[None]:
        """While in it, nobody changes the mark, and it is of this run and number."""
        raise NotImplementedError

    def confirmed_events(self) -> List[str]:
        """The ids of the events that a person has confirmed here."""
        raise NotImplementedError

    def confirm_event(self, event: str, by: str, at: str) -> None:
        raise NotImplementedError

    def withdraw_confirmation(self, event: str) -> None:
        raise NotImplementedError

    def suppressed_events(self) -> List[str]:
        """The keys of the events despite which a person has recovered the machine."""
        raise NotImplementedError

    def suppress_events(self, events: Iterable[str], wall: float) -> None:
        """Add these; an earlier confirmation of them no longer counts."""
        raise NotImplementedError


FORMAT = 1
MOST_BYTES = 1024 * 1024
MOST_BYTES_AT_FIRST = MOST_BYTES // 2
"""Of a mark that is yet to say what came of each step."""

LONGEST_LEASE = 7 * 86400.0

PHASES = ("preparing", "prepared", "recovering", "half")

_KEEP = {"drain": "role drain's own recovery", "watcher": "the machine's own watcher"}
"""Holders whose marks nobody takes over because their lease has run out: by kind, who takes them back."""

STATES = (WAITING, BEGUN, DONE, FAILED, TAKING_BACK, TAKEN_BACK, NOT_TAKEN_BACK)
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
    not_verified = step["does"] and not is_verified(step)
    return {
        **({"not_verified": True} if not_verified else {}),
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
    """The mark as the one who calls holds it from now on: his number, his lease, and where he takes it over his metadata service.

    :arg seconds: of the lease; None for as many as it had
    """
    lease = renewed_lease(mark["lease"], moment) if seconds is None else lease_of(moment, _bounded(seconds))
    is_his = mark["holder"]["run"] == options["run"]
    endpoint = mark["endpoint"] if is_his else options.get("endpoint") or ""
    return dict(
        mark,
        number=options["number"],
        holder=holder_of(options),
        renewed=iso_utc(moment.wall),
        lease=lease,
        endpoint=endpoint,
    )


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
    whose = f"The machine is owned by {holder_since(mark)}"
    if holder["kind"] in _KEEP:
        return f"{whose}: only {_KEEP[holder['kind']]} takes that back, or a recovery that names this run and is forced to."
    if not is_expired(mark["lease"], moment):
        return f"{whose}, which is taken to be alive for another {lease_left(mark['lease'], moment):.0f} s. Nothing was done."
    if take != holder["run"]:
        return f"{whose}, which has not been heard of since {mark['renewed']}; name that run to take it over."
    return ""


def job_name(mark: Mark, step: Mapping[str, Any], direction: str) -> str:
    """What a step is begun under: the same whichever run goes on with this outage, another one for each try."""
    import hashlib  # which a call that only looks does without

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
        if step["state"] not in STATES or not isinstance(step.get("before"), (dict, type(None))):
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
