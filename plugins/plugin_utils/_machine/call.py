# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One call of the machine program: what is sent, and what came back.

Private to this collection.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._imds.option_names import answers_with_variables
from ...module_utils._machine.imds_requests import AGES
from ...module_utils._machine.program import lost as nothing
from .. import _bounds
from .answer_schema import Misfit, fitted
from .bundle import MODULE_UTILS, Program
from .lost import unusable

LIMIT = 10.0  # seconds of a call
MORE_THAN_WAIT = 15.0  # seconds that a call may take longer than the wait in it
DECIDED = 10.0
"""Seconds from an approval's decision after which it is not sent any more but decided again: a run may have been stopped meanwhile."""
HARMLESS = ("hello", "look", "ready")  # requests that change nothing
CHECK_MODE = "check mode: nothing is changed"
UNHEARD = "nothing was heard from the machine before this call, which only looks: nothing was started"

_START = (MODULE_UTILS / "_machine" / "bootstrap.py").read_text(encoding="utf-8")


def limit(requests: Iterable[Mapping[str, Any]], longest: float = 0.0) -> float:
    """How many seconds a call with these requests may take.

    :arg longest: beside the wait in it, where the inventory says that
    """
    wait = max((float(request.get("wait") or 0) for request in requests), default=0.0)
    return wait + (longest or MORE_THAN_WAIT) if wait else longest or LIMIT


class Call:
    """A call by way of a shell and its standard input, where no user of the machine sees what is in it.

    :arg interpreter: the machine's Python, as the shell's line begins with it
    :arg folders: where the program may be on the machine, the best one first
    :arg call: what the program gets: options, requests, steps
    """

    def __init__(self, interpreter: str, folders: Sequence[str], program: Program, call: Mapping[str, Any]) -> None:
        self.interpreter = interpreter
        self._folders = list(folders)
        self._program = program
        self.asked = call
        # Dates of YAML, and in old cores texts out of a vault, are no JSON.
        self._call = json.dumps(call, default=str).encode("ascii")
        self._marker = f"azure_maintenance {secrets.token_hex(8)} "

    def sent(self, with_program: bool) -> tuple[str, bytes]:
        """The shell's line, and its standard input. -I and -S: no modules but Python's own, and it starts faster."""
        name, content = self._program
        arguments = (self._folders, name, len(content), with_program, self._marker)
        start = f"{_START}\n\nstart(*{arguments!a})\n".encode("ascii")
        line = f"{self.interpreter} -I -S -B -c 'import sys; exec(sys.stdin.buffer.read({len(start)}))'"
        return line, start + (content if with_program else b"") + self._call

    def answer(self, stdout: str) -> dict[str, Any] | None:
        """What the program said, among whatever else was printed; None when it did not get that far."""
        _noise, found, rest = stdout.rpartition(self._marker)
        if len(rest) > _bounds.ANSWER:
            return {"lost": _bounds.too_large(_bounds.ANSWER, "characters")}
        try:
            answer = json.JSONDecoder().raw_decode(rest)[0] if found else None
        except RecursionError:
            return {"lost": unusable("it is nested too deeply")}
        except ValueError:  # it was cut
            return None
        return answer if isinstance(answer, dict) else None


def result(said: Mapping[str, Any], call: Mapping[str, Any], seconds: float, wall: float) -> dict[str, Any]:
    """What the action returns of an answer; as ``lost`` why it can't be used, where it is not what a machine may answer.

    :arg said: the answer as it came
    :arg call: what it answers: ``requests`` and ``steps``
    :arg seconds: what the call took here, with the way there and back, by which the looks in it have aged
    :arg wall: the Unix time here when it came
    """
    try:
        answer = fitted(said, call)
    except Misfit as error:
        return nothing(unusable(str(error)))
    if answer["lost"]:
        return nothing(answer["lost"])
    answer["answers"] = answers_with_variables(answer["answers"])
    on_the_way = max(0.0, seconds - answer["took"])
    answer["took"] = round(answer["took"] + on_the_way, 3)
    # Of what is said of the mark: a run may have been stopped while the answer was on its way.
    answer["age"] = round(on_the_way + answer.get("age", 0.0), 3)
    for one in answer["answers"]:
        if "wall" in one:
            one["ahead"] = round(_ahead(one.pop("wall"), wall - seconds, wall), 1)
        for look in (one, one.get("look", {})):
            look.update((key, look[key] + on_the_way) for key in AGES if key in look)
    return answer


def _ahead(wall: float, began: float, ended: float) -> float:
    """Seconds by which a machine's clock is ahead of ours, at least; below 0 where it is behind.

    :arg wall: what it showed at some moment of the call
    """
    return max(0.0, wall - ended) + min(0.0, wall - began)


def heard(answer: Mapping[str, Any], at: float) -> dict[str, Any] | None:
    """Which uptime the machine showed, and when that came; None where it did not say.

    :arg at: by :func:`._clock.steady`
    """
    if answer["uptime"] is None:
        return None
    return {"uptime": answer["uptime"], "boot_id": answer["boot_id"], "at": at}


def within(last: Mapping[str, Any], at: float, seconds: float) -> dict[str, Any]:
    """When a call is sent, and until when somebody waits for it, by the machine's uptime: later than that by none of our clocks.

    :arg last: what was heard of the machine last
    :arg at: now, by :func:`._clock.steady`
    """
    uptime = last["uptime"] + at - last["at"]
    return {"uptime": uptime, "boot_id": last["boot_id"], "until": uptime + seconds}


def aged(requests: Iterable[Mapping[str, Any]], seconds: float) -> list[Mapping[str, Any]]:
    """The requests so many seconds after they were decided."""
    return [dict(request, left=request["left"] - seconds) if "left" in request else request for request in requests]


def harmless(requests: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Those of them that check mode carries out, and a call to a machine of which nothing was heard yet."""
    return [request for request in requests if request["do"] in HARMLESS]


def with_refusals(answers: Iterable[Any], requests: Iterable[Mapping[str, Any]], why: str = CHECK_MODE) -> list[Any]:
    """The answers to the harmless ones of these requests, and in their places refusals of the others."""
    came = iter(answers)
    return [next(came) if request["do"] in HARMLESS else _refusal(request, why) for request in requests]


def timely(requests: Iterable[Mapping[str, Any]], now: float) -> list[Mapping[str, Any]]:
    """The requests as they are sent: a look, with which every approval ends, in place of one that was decided too long ago.

    :arg now: by the clock that ``decided`` goes by
    """
    return [dict(_LOOK) if _is_late(request, now) else request for request in requests]


def as_asked(
    answers: Iterable[Any], requests: Iterable[Mapping[str, Any]], sent: Iterable[Mapping[str, Any]]
) -> list[Any]:
    """The answers as they are expected to these requests, of which the approvals may not have been sent."""
    asked = zip(answers, requests, sent, strict=False)
    return [_not_sent(request, said) if request["do"] != one["do"] else said for said, request, one in asked]


_LOOK = {"do": "look", "wait": 0}


def _is_late(request: Mapping[str, Any], now: float) -> bool:
    return request["do"] == "approve" and now - float(request["decided"]) > DECIDED


def _not_sent(request: Mapping[str, Any], look: Any) -> dict[str, Any]:
    why = f"it was decided more than {DECIDED:g} s ago and is decided again: this run stood still meanwhile"
    refused = [{"id": id_, "reason": "late", "message": f"not sent: {why}"} for id_ in request["ids"]]
    return {"approved": [], "already": [], "not_approved": refused, "failure": None, "msg": "", "look": look}


def _refusal(request: Mapping[str, Any], why: str) -> dict[str, Any]:
    state, reason = ("refused", "check_mode") if why == CHECK_MODE else ("skipped", "skipped")
    if request["do"] == "go":
        return {"state": state, "why": why, "ask": [], "elsewhere": None, "steps": []}
    if request["do"] == "approve":
        refused = [{"id": id_, "reason": reason, "message": why} for id_ in request.get("ids") or ()]
        return {"approved": [], "already": [], "not_approved": refused, "failure": None, "msg": "", "look": None}
    return {"problem": why}
