# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a machine may answer: one table of it, and whether an answer fits. Pure.

A machine may be broken, or an attacker's. What does not fit here is that machine's failure; whoever reads an answer after that takes its
values for what the table says. Keys that the table does not have are dropped: the mark and the watcher may be of a newer version. All values
have a form in the table, so no answer that fits is deeper than the table.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...module_utils._core.second_look import NOTHING, STANDS, UNKNOWN
from ...module_utils._machine.mark import PHASES, STATES
from ...module_utils._steps.services import START_MODES
from ...module_utils._text import one_line

# ---- bounds of what is in an answer; of the whole: _bounds ----

LONGEST_NAME = 1000  # an event's id has up to 256 characters, the key of a step up to 200
LONGEST_SENTENCE = 4000  # no longer one is printed
ENTRIES = 10_000  # of a list or a map

Kind = Callable[[Any, str], Any]
"""Gets a value and its place in the answer; returns the value as a run takes it.

:raises Misfit: when it is something else
"""


class Misfit(Exception):
    """What does not fit, as a clause: the place, and what was expected there."""


# ---- kinds of values ----


def _exact(value: Any, where: str) -> str:
    """A text that must stay as it is, such as the key of a step, which may be a user's command of several lines."""
    if not isinstance(value, str):
        raise Misfit(f"{where} is no text")
    if len(value) > LONGEST_NAME:
        raise Misfit(f"{where} has more than {LONGEST_NAME} characters")
    return value


def _name(value: Any, where: str) -> str:
    """The same of one that is printed as it is."""
    if not _exact(value, where).isprintable():
        raise Misfit(f"{where} has characters that can't be printed")
    return str(value)


def _words(value: Any, where: str) -> str:
    """A text for people: it is made one line, and shortened."""
    if not isinstance(value, str):
        raise Misfit(f"{where} is no text")
    return one_line(value, LONGEST_SENTENCE)


def _reason(value: Any, where: str) -> str:
    """The same where an empty text would say that all is well."""
    words = _words(value, where)
    if not words:
        raise Misfit(f"{where} is empty")
    return words


def _flag(value: Any, where: str) -> bool:
    if not isinstance(value, bool):
        raise Misfit(f"{where} is neither true nor false")
    return value


def _number(low: float, high: float, whole: bool = False) -> Kind:
    def kind(value: Any, where: str) -> Any:
        is_number = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
        if not is_number or not low <= value <= high:  # which NaN is not either
            words = f"whole number from {low} to {high}" if whole else f"number from {low:g} to {high:g}"
            raise Misfit(f"{where} is no {words}")
        return value

    return kind


def _one_of(*words: str) -> Kind:
    def kind(value: Any, where: str) -> str:
        if value not in words:
            raise Misfit(f"{where} is none of {', '.join(words)}")
        return str(value)

    return kind


def _or_null(inner: Kind) -> Kind:
    return lambda value, where: None if value is None else inner(value, where)


def _list(inner: Kind, least: int = 0, most: int = ENTRIES) -> Kind:
    def kind(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise Misfit(f"{where} is no list of {least} to {most} entries")
        return [inner(one, f"{where}[{number}]") for number, one in enumerate(value)]

    return kind


def _map(inner: Kind) -> Kind:
    """An object whose keys may be any."""

    def kind(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > ENTRIES:
            raise Misfit(f"{where} is no object of up to {ENTRIES} entries")
        return {_exact(key, f"a key of {where}"): inner(one, f"an entry of {where}") for key, one in value.items()}

    return kind


def _object(table: Mapping[str, Kind]) -> Kind:
    """:arg table: its keys, those of one kind separated by blanks; "?" is behind one that may be missing"""
    kinds = {name: inner for names, inner in table.items() for name in names.split()}

    def kind(value: Any, where: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Misfit(f"{where or 'it'} is no object")
        found = {}
        for name, inner in kinds.items():
            key = name.rstrip("?")
            place = f"{where}.{key}" if where else key
            if key in value:
                found[key] = inner(value[key], place)
            elif key == name:
                raise Misfit(f"{place} is missing")
        return found

    return kind


# ---- the table ----

_count = _number(0, 2**31 - 1, whole=True)
_whole = _number(-(10**18), 10**18, whole=True)  # a document has no larger ones: they are read as no whole numbers
_seconds = _number(0.0, 1e10)
_span = _number(-2.6e11, 2.6e11)  # to a not-before: some programs write the end of the year 9999 for "none"
_names, _keys = _list(_name), _list(_exact)

_FAILURE = _object({"kind": _name, "status": _or_null(_whole), "url": _or_null(_words)})
_EVENT = {
    "id type status source resource_type not_before": _name,
    "resources raw_resources": _names,
    "not_before_utc": _or_null(_name),
    "notice": _or_null(_span),
    "duration": _or_null(_whole),
    "description": _words,
    "affects_self": _or_null(_flag),
}
_POLL = {
    "events": _list(_object(_EVENT)),
    "unusable_events": _list(_object({"position": _count, "id": _name, "reason": _words})),
    "incarnation": _or_null(_whole),
    "resource_name": _or_null(_name),
    "failure": _or_null(_FAILURE),
    "msg": _words,
    "began since asked age": _seconds,
}
_BEFORE: Mapping[str, Mapping[str, Kind]] = {  # the initial state, by the type of step; other types have none
    "service": {"ran at_boot?": _flag, "start_mode?": _one_of(*START_MODES)},
    "iis": {"sites app_pools": _keys},
    "failover_cluster": {"paused": _flag},
    "haproxy": {"servers": _map(_name)},
}
_STEP = _object(
    {
        "key": _exact,
        "type since": _name,
        "by?": _name,
        "words unwords note": _words,
        "state": _one_of(*STATES),
        "seconds limit budget?": _span,
        "tries": _count,
        "refused? perhaps_done? not_verified?": _flag,
        "began": _object({"uptime": _seconds, "boot_id": _name}),
    }
)


def _step(value: Any, where: str) -> dict[str, Any]:
    found = _STEP(value, where)
    state = value.get("before")
    table = _BEFORE.get(found["type"], {}) if state else {}
    return dict(found, before=_or_null(_object(table))(state, f"{where}.before"))


_MARK = {
    "format number": _count,
    "holder": _object({"kind run job controller": _name}),
    "since renewed endpoint vm_id boot_id again?": _name,
    "lease": _object({"uptime until": _seconds, "boot_id": _name}),
    "events": _names,
    "phase": _one_of(*PHASES),
    "note?": _object({"outage?": _name, "said?": _map(_names)}),
    "steps": _list(_step),
}


def _mark(value: Any, where: str) -> Any:
    is_unreadable = isinstance(value, dict) and "unreadable" in value
    return _object({"unreadable": _reason} if is_unreadable else _MARK)(value, where)


_ELSEWHERE = _or_null(
    _object({"key": _exact, "direction": _one_of("do", "undo"), "begun no_new_steps": _flag, "begins left": _seconds})
)
_WATCHER = {
    "mode version endpoint": _words,
    "alive prepares": _flag,
    "lacks": _list(_words),
    "waits?": _map(_list(_words, 2, 2)),
}
_ANSWER = {
    "lost fenced": _words,
    "answers": _list(lambda value, where: value),  # each by what was asked, below
    "mark": _or_null(_mark),
    "put_back yes": _names,
    "hold": _or_null(_object({"reason by": _words, "vm_id": _name})),
    "watcher": _or_null(_object(_WATCHER)),
    "boot_id disk?": _name,
    "uptime took age?": _seconds,
    "number": _count,
    "ask": _keys,
    "elsewhere": _ELSEWHERE,
}
_PROBLEM = {"problem?": _words}  # in place of any answer, and all that may be in that to a request which is not here
_REQUESTS: Mapping[str, Mapping[str, Kind]] = {
    "hello": {"resource_name placement_group vm_id priority zone? fault_domain?": _name, "problem": _words},
    "look": _POLL,
    "approve": {
        "approved already unanswered": _names,
        "not_approved": _list(_object({"id reason": _name, "message": _words})),
        "failure": _or_null(_FAILURE),
        "msg": _words,
        "look": _object(_POLL),
    },
    "go": {
        "state": _name,
        "why unseen": _words,
        "ask": _keys,
        "elsewhere": _ELSEWHERE,
        "steps": _list(_step),
        "stands": _one_of(STANDS, NOTHING, UNKNOWN),
        "back": _list(_words),
    },
    "ready": {"mark": _words, "lacks": _map(_words), "wall": _span},
}


# ---- a whole answer ----


def fitted(answer: Any, call: Mapping[str, Any]) -> dict[str, Any]:
    """The answer as a run takes it.

    :arg call: the ``requests`` that it answers, and the ``steps`` of the inventory
    :raises Misfit: when it does not fit
    """
    if isinstance(answer, dict) and answer.get("lost"):
        return {"lost": _reason(answer["lost"], "lost")}
    found: dict[str, Any] = _object(_ANSWER)(answer, "")
    asked = call["requests"]
    if len(found["answers"]) != len(asked):
        raise Misfit(f"answers has {len(found['answers'])} entries for {len(asked)} requests")
    for number, (request, value) in enumerate(zip(asked, found["answers"], strict=True)):
        is_problem = isinstance(value, dict) and value.keys() == {"problem"}
        table = _PROBLEM if is_problem else _REQUESTS.get(request["do"], _PROBLEM)
        found["answers"][number] = _object(table)(value, f"answers[{number}]")
    _check_steps(found, call["steps"])
    return found


def _check_steps(found: Mapping[str, Any], steps: Sequence[Mapping[str, Any]]) -> None:
    """:raises Misfit: when it is about steps that the inventory does not have, or asks others for one that its mark does not have"""
    planned = {step["key"]: step["type"] for step in steps}
    for number, one in enumerate(found["answers"]):
        if not planned.keys() >= one.get("lacks", {}).keys():
            raise Misfit(f"answers[{number}].lacks has a step that is not in the inventory")
    if found["elsewhere"]:
        key = found["elsewhere"]["key"]
        marked = {step["key"]: step["type"] for step in (found["mark"] or {}).get("steps", ())}
        if key not in planned or marked.get(key) != planned[key]:
            raise Misfit("elsewhere.key is no step of the inventory and of its mark")
