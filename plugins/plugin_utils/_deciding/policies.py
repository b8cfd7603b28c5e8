# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is to be done about an event on each machine that it affects, and what its approval goes by. Pure.

Private to this collection.

Each affected machine is prepared by its own policy. An approval holds for all of them, so the strictest of their actions decides
about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...module_utils._core.decision import Judged, by_policy
from ...module_utils._events.event import Event
from ...module_utils._events.hours import Hours
from ...module_utils._events.policy import Decision, Rule, strictest
from ...module_utils._text import clause, listed

_WORDS = {
    "ignore": "nothing",
    "notify": "show it only",
    "prepare": "prepare, do not approve",
    "hold": "prepare, then wait for a confirmation",
    "prepare_and_approve": "prepare, then approve",
    "approve": "approve at once",
}


class PoliciesDecision(NamedTuple):
    """What the policies of an event's machines say.

    actions: what is done on each machine, by host
    hours: when that may be done by choice, by host, where that is not always
    action: the strictest of them, which the approval goes by
    host: the first machine whose action that is
    rule: the name of the rule that decides there
    words: all of it, for people
    """

    actions: dict[str, str]
    hours: dict[str, Hours]
    action: str
    host: str
    rule: str
    words: str


def decided(
    event: Event, notice: float | None, rules: Mapping[str, Sequence[Rule]], status: str = ""
) -> PoliciesDecision:
    """What is to be done about an event.

    :arg notice: seconds until its not-before, by which it is judged; None where that is not known
    :arg status: by which it is judged; "" for that which it has
    :arg rules: the policy of each machine that it affects, by host in the order of the inventory; at least one
    """
    by = Judged(status or event.event_status, notice)
    decisions = {host: by_policy(event, own, by) for host, own in rules.items()}
    actions = {host: decision.action for host, decision in decisions.items()}
    action = strictest(actions.values())
    deciding = [host for host in actions if actions[host] == action]
    first = decisions[deciding[0]]
    words = f"{_WORDS[action]}{_hours_words(first)} [policy: {clause(first.rule)}; {first.reason}]"
    if len(deciding) < len(actions):
        others = (f"{host}: {_WORDS[other]}" for host, other in actions.items() if other != action)
        words += f"; strictest: {listed(deciding)}; {listed(others)}"
    hours = {host: decision.hours for host, decision in decisions.items() if decision.hours}
    return PoliciesDecision(actions, hours, action, deciding[0], first.rule, words)


def _hours_words(decision: Decision) -> str:
    return f", early only {decision.hours.words}" if decision.hours else ""
