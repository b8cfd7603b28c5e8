# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The requests that go to the metadata service: who the machine is, which events there are, approving them.

Private to this collection.
"""

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence

from .._caller import Caller
from .._clock import CallClock
from .._core.mark_view import WATCHER, Asker, is_prepared_for, mark_view
from .._errors import ScheduledEventsError
from .._imds.client import NAME_TIMEOUT, Client
from .._imds.transport import Moments, Transport
from .._operations.approve import Approval
from .._operations.info import Info
from .._operations.operation import Operation, OperationFailed
from .._operations.options import INFO_DEFAULTS, approve_options, info_options
from .fence import Fence
from .mark import Fenced, NotWritten

LEAVES = {"resource_name": "name", "placement_group": "placementGroupId", "vm_id": "vmId", "priority": "priority"}
DOMAIN = {"zone": "zone", "fault_domain": "platformFaultDomain"}
"""What is only asked for where somebody goes by it: the service answers five requests a second."""
THROTTLED = 1.1
"""Seconds after which a machine that has asked too often may ask again: the limit is one of requests a second (spec, section 3)."""
AGES = ("began", "since", "asked", "age")
"""What a poll returns in seconds before the end of its call: when it began, when the first request of an unbroken row of polls was sent,
when the one for its document was, and when that came."""

_SPARE = 0.5  # seconds of a call that no request to the service may use
_ENDPOINT_OPTIONS = ("endpoint", "api_version", "resource_name")


class ImdsRequests:
    """The machine's metadata service in one call.

    :arg options: of the call
    :arg fence: whose machine it is: an approval is refused to everybody else
    :arg why_in_service: says what of the machine's own steps does not stand any more, as a clause; "" when all of it does
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        transport: Transport,
        clock: CallClock,
        fence: Fence,
        caller: Optional[Caller],
        why_in_service: Callable[[], str] = lambda: "",
    ) -> None:
        self._options = options
        self._transport = transport
        self._clock = clock
        self._fence = fence
        self._caller = caller
        self._why_in_service = why_in_service

    def hello(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Who the machine is, as far as its metadata service says.

        :arg request: with ``domain`` also where it is
        """
        leaves = {**LEAVES, **(DOMAIN if request.get("domain") else {})}
        answer: Dict[str, Any] = dict.fromkeys(leaves, "")
        problems: List[str] = []
        client = Client(self._transport, self._options.get("endpoint") or INFO_DEFAULTS["endpoint"], clock=self._clock)
        for name, leaf in leaves.items():
            try:
                answer[name] = self._text(client, leaf)
            except ScheduledEventsError as error:
                problems.append(error.message)
                if error.kind in ("unreachable", "timeout"):
                    break
        return dict(answer, problem=" ".join(problems[:1]))

    def _text(self, client: Client, leaf: str) -> str:
        """Something about the machine; asked for once more where others have asked too much in the same second."""
        try:
            return client.machine_text(leaf, self._seconds(NAME_TIMEOUT))
        except ScheduledEventsError as error:
            if error.kind != "throttled":
                raise
        self._clock.sleep(THROTTLED)
        return client.machine_text(leaf, self._seconds(NAME_TIMEOUT))

    def poll(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """The document, at once or as soon as it changes."""
        began = self._clock.now()
        options: Dict[str, Any] = self._endpoint_options()
        wait = min(float(request.get("wait") or 0), self._seconds(float("inf")))
        if wait > 0:
            options.update(wait=True, wait_for="change", wait_timeout=wait, since_incarnation=request.get("since"))
        operation = Info(info_options(options), self._transport, self._clock, None)
        answer = _outcome(operation)
        if self._fence.not_renewed:
            answer["warnings"].append(f"The mark could not be renewed: {self._fence.not_renewed}.")
        # Moments here, made into ages when the call ends
        now = self._clock.now()
        moments = operation.imds.moments or Moments(now, now, now)
        return dict(answer, began=began, since=moments.first, asked=moments.asked, age=moments.came)

    def approve(self, request: Mapping[str, Any]) -> Dict[str, Any]:
        """Approve, in one try, and poll once right after it.

        :arg request: ``by_watcher`` where the machine has its own watcher's mark, by which it is prepared for these events
        :return: beside the operation's result ``unanswered``, the ids of events whose approval was sent without a usable answer
        """
        result: Dict[str, Any] = {"approved": [], "already": [], "not_approved": [], "failure": None, "msg": ""}
        unanswered: List[str] = []
        guard = _Guard(
            self._caller, self._fence, _asker(self._options), request.get("own") or [], bool(request.get("by_watcher"))
        )
        guard.is_gone()
        if not guard.fenced and request.get("own") and not request.get("by_watcher"):
            why = self._why_in_service()
            guard.fenced = f"This machine is in service: {why}" if why else ""
        if not guard.fenced:
            options = dict(
                self._endpoint_options(),
                event_ids=request["ids"],
                prepared_resources=request.get("prepared") or [],
                allow_unknown=request.get("allow_unknown") or [],
                wait=False,
                wait_timeout=0,
            )
            operation = Approval(
                approve_options(options), self._transport, self._clock, None, check_mode=False, caller=guard
            )
            try:
                with self._fence.watched():
                    found = _outcome(operation)
                result = {name: found[name] for name in result}
                unanswered = list(operation.unanswered.values())
            except (Fenced, NotWritten) as error:  # on Windows, where the mark is compared as the approval is sent
                guard.fenced = str(error)
        if guard.fenced:
            result.update(
                failure=None,
                msg="",
                not_approved=[{"id": event, "reason": "fenced", "message": guard.fenced} for event in request["ids"]],
            )
        return dict(result, unanswered=unanswered, look=self.poll({"wait": 0}))

    def _endpoint_options(self) -> Dict[str, Any]:
        """The caller's, and time limits within the call's."""
        options: Dict[str, Any] = {name: self._options.get(name) or None for name in _ENDPOINT_OPTIONS}
        for name in ("timeout", "first_timeout"):
            options[name] = self._seconds(INFO_DEFAULTS[name])
        return options

    def _seconds(self, wanted: float) -> float:
        return max(0.1, min(wanted, self._clock.deadline.remaining() - _SPARE))


class _Guard(Caller):
    """Nothing is sent when whoever asked for it is gone, or the machine is somebody else's by now, or is not prepared itself.

    :arg own: the ids of the events for which it has to be
    :arg by_watcher: whether its own watcher is to have it prepared, and not the run that asks
    """

    def __init__(
        self, caller: Optional[Caller], fence: Fence, asker: Asker, own: Sequence[str], by_watcher: bool
    ) -> None:
        self._caller = caller
        self._fence = fence
        self._asker = asker
        self._own = own
        self._by_watcher = by_watcher
        self.fenced = ""

    def is_gone(self) -> bool:
        try:
            if self._by_watcher:
                self._fence.check_time()
                self._fence.refresh()
            else:
                self._fence.check()
        except Fenced as error:
            self.fenced = str(error)
        if not self.fenced and not all(map(self._is_prepared, self._own)):
            self.fenced = "This machine is not prepared for it any more: its mark has changed, or it was rebooted."
        return bool(self.fenced) or bool(self._caller and self._caller.is_gone())

    def _is_prepared(self, event: str) -> bool:
        moment = self._fence.moment()
        view = mark_view(self._fence.mark, self._fence.unreadable, self._asker, moment)
        is_whose_it_should_be = (view.owner == WATCHER) == self._by_watcher
        return is_whose_it_should_be and is_prepared_for(view, event.upper(), moment.boot_id, 0.0)


def _asker(options: Mapping[str, Any]) -> Asker:
    """Whoever makes this call."""
    return Asker(*(str(options.get(name) or "") for name in ("run", "vm_id", "endpoint")))


def _outcome(operation: Operation) -> Dict[str, Any]:
    """The result, whether it succeeded or failed."""
    try:
        return dict(operation.perform(), failure=None, msg="")
    except OperationFailed as error:
        last = operation.imds.last_failure
        more = f" The last failure: {last}" if last and last not in error.message else ""
        return dict(error.result, failure=error.failure(), msg=error.message + more)
