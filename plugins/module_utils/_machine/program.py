# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The machine program: a list of requests in, a list of answers out. Never fails: what went wrong is in the answer.

What a call does not need is not imported: most of its time is Python's own start.

Private to this collection.
"""

from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence

from .._caller import Caller
from .._clock import CallClock, Clock, Deadline, Moment, iso_utc
from .._steps.step_type import Step
from .._text import one_line
from .fence import Fence
from .mark import Busy, Fenced, Store

SECONDS = 10.0  # that a call may take, where it does not say

SPARE = 0.5  # seconds of a call that a step is not waited for any more

PRECHECK_SECONDS = 3.0  # in which it checks steps: others wait for the call


class Parts(NamedTuple):
    """What the program works with; those that not every call needs are made when they are needed."""

    store: Store
    clock: Clock
    moment: Callable[[], Moment]
    transport: Callable[[Clock], Any]
    runner_of: Callable[[Any], Any]
    caller: Optional[Caller] = None
    end_jobs: Callable[[], bool] = lambda: True  # what was begun here; whether all of it has ended
    has_started: Callable[[], bool] = lambda: True  # whether the machine's start is over
    # a person's word that nothing is to be approved
    held: Callable[[float], Optional[Dict[str, Any]]] = lambda wall: None
    watched: Callable[[Any], Optional[Dict[str, Any]]] = lambda steps: None  # what its own watcher says of itself


def perform(call: Mapping[str, Any], parts: Parts) -> Dict[str, Any]:
    """Answer one call: ``options``, ``requests`` and ``steps``."""
    return Performance(call, parts).answer()


class Performance:
    """One call."""

    def __init__(self, call: Mapping[str, Any], parts: Parts) -> None:
        self._call = dict(
            call, options=dict({"run": "", "number": 0}, **call["options"]), steps=call.get("steps") or []
        )
        self._parts = parts
        self._options: Dict[str, Any] = self._call["options"]
        self._began = parts.clock.now()
        self._clock = CallClock(parts.clock, float(self._options.get("seconds") or SECONDS))
        self._fence = Fence(parts.store, self._options, parts.moment)
        self._imds: Any = None

    def answer(self) -> Dict[str, Any]:
        self._fence.refresh()
        self._fence.renew()
        answers = self._answers()
        if any(request.get("wait") for request in self._call["requests"]):
            self._fence.refresh()  # much may have happened meanwhile
        if self._fence.unreadable:
            mark: Optional[Dict[str, Any]] = {"unreadable": self._fence.unreadable}
        else:
            mark = self._fence.mark
        gone = [answer for answer in answers if "elsewhere" in answer]
        ended, moment = self._clock.now(), self._parts.moment()
        for answer in answers:
            _made_relative(answer, ended)
            _made_relative(answer.get("look"), ended)
        return {
            "lost": "",
            "answers": answers,
            "mark": mark,
            # The first that is asked of what persons have said: of a Windows machine all of it is read anew then
            "put_back": self._parts.store.suppressed_events(),
            "yes": self._parts.store.confirmed_events(),
            "hold": self._parts.held(moment.wall),
            "watcher": self._parts.watched(self._call["steps"]),
            "boot_id": moment.boot_id,
            "disk": self._parts.store.disk(),
            "uptime": moment.uptime,
            "took": round(ended - self._began, 3),
            "number": self._options["number"],
            "fenced": self._fence.lost,
            "ask": gone[-1]["ask"] if gone else [],
            "elsewhere": gone[-1]["elsewhere"] if gone else None,
        }

    def _answers(self) -> List[Dict[str, Any]]:
        requests = self._call["requests"]
        answers = [self._safely(request) for request in requests]
        for number, request in enumerate(requests):
            if request.get("stay") and _is_under_way(answers[number]):
                # At last: neither is a look to wait for the steps, nor they for the service.
                self._fence.refresh()
                waits = max(0.0, self._clock.deadline.remaining() - SPARE)
                answers[number] = self._safely(dict(request, waits=waits))
        return answers

    def _safely(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        try:
            return self._answer_to(request)
        except Exception as error:  # an answer is owed, whatever it is
            return {"problem": one_line(error, 500) or type(error).__name__}

    def _answer_to(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        do = request["do"]
        if do == "go":
            return self._go(request)
        if do in ("hello", "look", "approve"):
            imds = self._imds_requests()
            answer: Dict[str, Any] = (
                imds.hello(request) if do == "hello" else imds.poll(request) if do == "look" else imds.approve(request)
            )
            return answer
        if do == "ready":
            return precheck(self._call["steps"], self._parts)
        self._fence.check_time()
        if do == "yes":
            at = iso_utc(self._clock.wall())
            self._parts.store.confirm_event(request["event"], one_line(request.get("by")), at)
        elif do == "no_yes":
            self._parts.store.withdraw_confirmation(request["event"])
        elif do == "put_back":
            self._parts.store.suppress_events(request["events"], self._clock.wall())
        elif do == "release":
            self._fence.claim(seconds=0.0)  # the mark stays; whoever comes need not wait
        elif do == "take_off":
            self._take_off(request)
        elif do == "put_aside":
            self._fence.put_aside(str(request.get("vm_id") or ""))
        else:
            return {"problem": f"This version of the machine program does not know the request {one_line(do, 40)!r}."}
        return {}

    def _outage(self) -> Any:
        from .outage import Outage

        parts = self._parts
        return Outage(self._call, self._fence, parts.runner_of, parts.clock, parts.has_started)

    def _go(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        answer: Dict[str, Any] = self._outage().go(request)
        return answer

    def _imds_requests(self) -> Any:
        if self._imds is None:
            from .imds_requests import ImdsRequests

            parts = self._parts
            self._imds = ImdsRequests(
                self._options,
                parts.transport(self._clock),
                self._clock,
                self._fence,
                parts.caller,
                lambda: str(self._outage().why_in_service()),
            )
        return self._imds

    def _take_off(self, request: Mapping[str, Any]) -> None:
        if self._fence.is_newer:
            raise Fenced(self._fence.unreadable)
        if self._fence.mark:
            self._fence.claim(request.get("take") or "", bool(request.get("forced")))
        if not self._parts.end_jobs():  # by the mark alone anybody knows of it
            raise Busy("What a step of its mark has begun was asked to end, and has not ended yet: run this again.")
        self._fence.take_off()


def _is_under_way(answer: Mapping[str, Any]) -> bool:
    """Whether steps of this machine's own are."""
    return answer.get("state") in ("preparing", "recovering") and not (answer["ask"] or answer["elsewhere"])


def _made_relative(poll: Any, ended: float) -> None:
    """Of a poll, when it began, was sent, and brought its document: seconds before the end of the call."""
    if isinstance(poll, dict) and "began" in poll:
        from .imds_requests import AGES

        poll.update((key, round(max(0.0, ended - poll[key]), 3)) for key in AGES)


def lost(why: str) -> Dict[str, Any]:
    """The answer of a call of which nothing came back."""
    nothing: List[str] = [
        "answers",
        "mark",
        "yes",
        "put_back",
        "hold",
        "watcher",
        "boot_id",
        "disk",
        "uptime",
        "took",
        "number",
        "fenced",
        "ask",
    ]
    return dict(dict.fromkeys([*nothing, "elsewhere"]), lost=why)


def precheck(steps: Sequence[Step], parts: Parts) -> Dict[str, Any]:
    """What speaks against it.

    :return: ``mark``, why it could not be written, and ``lacks``, what its own steps lack, by their keys; and beside these
        ``wall``, the time of day here
    """
    asking = Deadline(parts.clock, PRECHECK_SECONDS)
    lacks: Dict[str, str] = {}
    for step in steps:
        if step["elsewhere"]:
            continue
        try:
            why = "no time was left to check it" if asking.passed() else parts.runner_of(step).lacks(step)
        except Exception as error:  # a check must not keep a run from what it can do
            why = f"it could not be checked: {one_line(error, 300) or type(error).__name__}"
        if why:
            lacks[step["key"]] = why
    return {"mark": parts.store.unwritable(), "lacks": lacks, "wall": parts.clock.wall()}
