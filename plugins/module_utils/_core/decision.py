# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether an event is prepared for and approved now, else why not: one answer for the run, the watcher and the playbooks. Pure.

Private to this collection.

What forbids an approval whatever becomes of the machines (*lasting*) forbids an early preparation, too: until it has to be prepared for
the event, the machine serves. What only has to be waited for (*passing*) does not.
"""

from typing import List, NamedTuple, Optional, Sequence, Tuple

from .._events import policy
from .._events.event import Event
from .._text import listed, shown
from .messages import Reason

PREPARING = ("prepare", "hold", "prepare_and_approve")
"""Actions by which a machine is prepared."""

_APPROVING = ("hold", "prepare_and_approve", "approve")
"""Actions by which an event is approved: of ``hold``, once a person has confirmed it."""

AGAIN = 60.0
"""Seconds after which an approval that Azure has accepted is sent again: only a document confirms it, and this one says Scheduled."""

AGAIN_UNANSWERED = 10.0
"""The same of one of which nothing came back: it may have been lost."""

AGAIN_FAILED = 2.0
"""The same of one that is known to have failed."""


# ---- what the policies say ----


class Judged(NamedTuple):
    """The status and notice on which a policy decision was based: it stays when they change later."""

    status: str
    notice: Optional[float]  # seconds; None where nobody knew


def judged(event: Event, notice: Optional[float], before: Optional[Judged], acts: bool) -> Judged:
    """By what an event is judged now. What was left alone is judged anew; a new type, duration or list of machines counts in any case.

    :arg acts: whether anything is done about it by what was decided
    """
    return before if before is not None and acts else Judged(event.event_status, notice)


def by_policy(event: Event, rules: Sequence[policy.Rule], by: Judged) -> policy.Decision:
    """What the policy of one machine says."""
    if event.event_status != by.status:
        event = event._replace(event_status=by.status)
    if not (event.is_scheduled or event.has_started or event.is_advice):
        return policy.Decision("notify", "", f"its status {shown(by.status)} is not one that can be prepared for")
    return policy.decide(event, rules, by.notice)


def acts(action: str) -> bool:
    """Whether anything is done about an event by this action."""
    return action in PREPARING or action in _APPROVING


def is_wanted(action: str, is_confirmed: bool) -> bool:
    """Whether an event is to be approved: by the policy, or by a person's word where the policy leaves the approval to Azure.

    :arg action: the strictest of its machines' actions
    """
    return action in _APPROVING or (is_confirmed and action in PREPARING)


# ---- prepare? approve? ----


class Standing(NamedTuple):
    """How one machine that the event affects stands to it.

    machine: "" where only one is asked about
    action: what its own policy says
    prepared: by its mark, as :func:`.mark_view.is_prepared_for` has it
    lasting: why it will not be prepared
    passing: what it waits for beside that
    """

    machine: str
    action: str
    prepared: bool
    lasting: Tuple[Reason, ...] = ()
    passing: Tuple[Reason, ...] = ()

    @property
    def is_awaited(self) -> bool:
        return self.action in PREPARING and not self.prepared and not self.lasting


class Decision(NamedTuple):
    """What is to be done about an event now.

    approve: whether all is ready for that
    prepare: whether machines of it may be prepared; how many at a time is not decided here
    lasting, passing: why it is not approved, the first reason first
    waits_for: machines that are still to be prepared
    """

    approve: bool
    prepare: bool
    lasting: Tuple[Reason, ...]
    passing: Tuple[Reason, ...]
    waits_for: Tuple[str, ...]

    @property
    def reasons(self) -> Tuple[Reason, ...]:
        return self.lasting + self.passing


def decide(
    event: Event,
    action: str,
    standings: Sequence[Standing],
    is_confirmed: bool,
    left: float,
    has_started: bool = False,
    must: bool = False,
    first: Sequence[Reason] = (),
    lasting: Sequence[Reason] = (),
    passing: Sequence[Reason] = (),
) -> Decision:
    """Whether an event is prepared for and approved now.

    :arg action: the strictest of its machines' actions
    :arg standings: all machines that whoever asks answers for and that it affects
    :arg is_confirmed: whether a person has confirmed it
    :arg left: seconds until it may start by itself
    :arg has_started: whether anybody has seen it Started, whatever its status is now
    :arg must: whether the time left has come to that: then nothing forbids preparing for it
    :arg first: of whoever asks, what is worth saying before all else
    :arg lasting, passing: of whoever asks
    """
    never: List[Reason] = [Reason("started")] if has_started or event.has_started else []
    never += first
    if event.is_advice:
        never.append(Reason("advice"))
    elif not (event.is_scheduled or event.has_started):
        never.append(Reason("status", words=shown(event.event_status)))
    if not is_wanted(action, is_confirmed):
        never.append(Reason("policy_prepares" if action in PREPARING else "policy_leaves", words=action))
    if not standings:
        never.append(Reason("none_of_ours"))
    never += lasting
    never += [reason for one in standings for reason in one.lasting]
    waits_for = tuple(one.machine for one in standings if one.is_awaited)
    yet = list(passing)
    if action == "hold" and not is_confirmed:
        yet.append(Reason("confirmation"))
    if left <= 0:
        yet.append(Reason("not_before"))
    yet += [reason for one in standings for reason in one.passing]
    if waits_for:
        yet.append(Reason("not_prepared", listed(waits_for)))
    return Decision(not never and not yet, must or not never, tuple(never), tuple(yet), waits_for)


def may_be_sent(now: float, asked: Optional[float], answered: Optional[float], accepted: bool) -> bool:
    """Whether an approval may be sent now: of one that was sent before, only a document says whether it has arrived.

    :arg asked: when it was last decided to send it; None where it never was
    :arg answered: when it was last known what came of it; None where it never was
    :arg accepted: whether Azure has accepted it then
    """
    moments = [moment for moment in (asked, answered) if moment is not None]
    if not moments:
        return True
    is_answered = answered is not None and (asked is None or answered >= asked)
    pause = AGAIN_UNANSWERED if not is_answered else AGAIN if accepted else AGAIN_FAILED
    return now - max(moments) >= pause
