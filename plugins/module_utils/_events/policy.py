# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What to do about an event: an ordered list of rules, of which the first that matches decides.

A rule matches under conditions: what each may be, and whether it holds for an event.

Private to this collection.
"""

import math
from collections.abc import Mapping
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple

from .._errors import ScheduledEventsError
from .._text import close, did_you_mean, shown
from .event import Event, among
from .hours import PARSERS, Hours, hours_of, is_list

TYPES = ("Freeze", "Reboot", "Redeploy", "Preempt", "Terminate", "SpotRebalanceRecommendation")
STATUSES = ("Scheduled", "Started", "Advisory")
SOURCES = ("Platform", "User")

ACTIONS = ("ignore", "notify", "prepare", "hold", "prepare_and_approve", "approve")
"""What may be done, the strictest first: where machines of one event differ, the strictest decides about its approval."""

DEFAULT_POLICY = [
    {
        "name": "An administrator's own action",
        "when": {"sources": ["User"], "types": ["Reboot", "Redeploy", "Freeze"]},
        "do": "approve",
    },
    {"name": "A short freeze", "when": {"types": ["Freeze"], "duration_below": 9}, "do": "approve"},
    {"name": "Advice", "when": {"types": ["SpotRebalanceRecommendation"]}, "do": "notify"},
    {"name": "Anything else", "do": "prepare_and_approve"},
]

NOW = "now"
STARTS = (NOW, "by not-before")
"""When the machines of an event are prepared that is not approved early."""

_RULE_KEYS = ("name", "when", "do", "start", *PARSERS)

# Advice is never approved (Azure ignores it, and a reader of the log would think that something was agreed to).
_ADVICE_ACTIONS = {"approve": "notify", "prepare_and_approve": "prepare", "hold": "prepare"}

_NOTHING_DONE = ("ignore", "notify")

MISSPELT = 0.85
"""How like a word may be to a known type before it is taken for that, misspelt: "Rebot" and "Redeployed" are, a type of its own is not."""


class Condition(NamedTuple):
    """What may stand in a rule's `when`."""

    parse: Callable[[Any], Any]  # raises ValueError with what is wanted instead
    holds: Callable[[Event, Optional[float], Any], bool]  # event, notice, the parsed value


def _parse_names(value: Any) -> Tuple[str, ...]:
    if not is_list(value) or not value or not all(isinstance(name, str) and name.strip() for name in value):
        raise ValueError("a list of at least one name, such as [Freeze]")
    return tuple(name.strip().lower() for name in value)


def _one_of(known: Tuple[str, ...]) -> Callable[[Any], Tuple[str, ...]]:
    """How names are read of which there are no others than these."""

    def parse(value: Any) -> Tuple[str, ...]:
        names = _parse_names(value)
        for name in names:
            if not among(name, known):
                raise ValueError(f"a list of {', '.join(known)}{did_you_mean(name, known)}")
        return names

    return parse


def _parse_seconds(value: Any) -> float:
    # Ansible's templates make strings of numbers: "9" is as good as 9.
    try:
        seconds = float("nan") if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = float("nan")
    if not math.isfinite(seconds) or seconds < 0:
        raise ValueError("a number of seconds, 0 or more")
    return seconds


def _parse_upper_limit(value: Any) -> float:
    seconds = _parse_seconds(value)
    if not seconds:
        raise ValueError("a number of seconds above 0 (nothing lasts less than 0 seconds)")
    return seconds


def _duration(event: Event) -> float:
    """Seconds; what is not known (-1, or an api-version without durations) counts as long."""
    return event.duration if event.duration is not None and event.duration >= 0 else float("inf")


CONDITIONS = {
    "types": Condition(_parse_names, lambda event, notice, names: among(event.event_type, names)),
    "statuses": Condition(_one_of(STATUSES), lambda event, notice, names: among(event.event_status, names)),
    "sources": Condition(_one_of(SOURCES), lambda event, notice, names: among(event.source, names)),
    "duration_below": Condition(_parse_upper_limit, lambda event, notice, limit: _duration(event) < limit),
    "duration_at_least": Condition(_parse_seconds, lambda event, notice, limit: _duration(event) >= limit),
    "notice_below": Condition(_parse_seconds, lambda event, notice, limit: notice is not None and notice < limit),
    "notice_at_least": Condition(_parse_seconds, lambda event, notice, limit: notice is not None and notice >= limit),
}


class PolicyError(ScheduledEventsError):
    """A policy that can't be followed as it is written."""

    default_kind = "invalid"


class Rule(NamedTuple):
    """One rule, checked. ``when`` holds lower-cased names and numbers; empty, it matches every event. ``hours``: None for always.
    ``start``: of STARTS."""

    position: int
    name: str
    do: str
    when: Dict[str, Any]
    hours: Optional[Hours] = None
    start: str = ""


class Decision(NamedTuple):
    """What to do, by which rule (its name), and why. No text of the event is in it: it is safe to template.

    hours: when it may be done early; None for always
    now: whether it is prepared for as soon as it is shown, though it will not be approved
    """

    action: str
    rule: str
    reason: str
    hours: Optional[Hours] = None
    now: bool = False


def parse_policy(policy: Any) -> Tuple[Rule, ...]:
    """Check a policy as users write it.

    :raises PolicyError: naming the first rule, by position and name, that is wrong
    """
    if not is_list(policy) or not policy:
        raise PolicyError(f"The policy must be a list of at least one rule, not {shown(policy)}.")
    rules: List[Rule] = []
    for position, entry in enumerate(policy, 1):
        if rules and not rules[-1].when:
            raise PolicyError(
                f"{_label(position, entry)} can never match: {_label(position - 1, policy[position - 2])} matches "
                "every event. Put it further up."
            )
        rules.append(_parse_rule(position, entry))
    if rules[-1].when:
        raise PolicyError(
            f"The policy has no final rule: the last one, {_label(len(rules), policy[-1])}, has a `when`. End the "
            f"list with a rule that has none, such as {{name: Anything else, do: notify}}."
        )
    return tuple(rules)


def policy_warnings(policy: Any) -> List[str]:
    """Sentences about what is odd in a policy that :func:`parse_policy` accepts: types that no event has had so far, and that are not
    like any other. They are no error, as Azure may bring new ones.
    """
    return [
        f"{_label(position, entry)}: no type {shown(name)} is known{did_you_mean(name, TYPES)}, so the rule matches only if Azure "
        f"brings one. The known types are {', '.join(TYPES)}."
        for position, entry in enumerate(policy, 1)
        for name in entry.get("when", {}).get("types", ())
        if not among(name.strip(), TYPES)
    ]


def strictest(actions: Iterable[str]) -> str:
    """The strictest of these actions."""
    return min(actions, key=ACTIONS.index)


def decide(event: Event, rules: Iterable[Rule], notice: Optional[float] = None) -> Decision:
    """What the rules say about this event.

    notice: seconds until not-before. None (the event has started, or its not-before can't be read) is neither
        below nor above anything: rules that ask for it don't match.
    """
    for rule in rules:
        if all(CONDITIONS[key].holds(event, notice, wanted) for key, wanted in rule.when.items()):
            reason = f"rule {rule.position} matches {', '.join((f'{key} {_condition_shown(wanted)}' for key, wanted in rule.when.items())) or 'every event'}"
            return _decision(event, rule, reason)
    raise PolicyError("No rule of the policy matches the event: it has no final rule.")


def _decision(event: Event, rule: Rule, reason: str) -> Decision:
    action = rule.do
    if event.is_advice and action in _ADVICE_ACTIONS:
        action = _ADVICE_ACTIONS[action]
        reason += f"; {action} instead of {rule.do}, because advice can't be approved"
    return Decision(action, rule.name, reason, None if action in _NOTHING_DONE else rule.hours, rule.start == NOW)


# ---- reading one rule ----


def _parse_rule(position: int, entry: Any) -> Rule:
    if not isinstance(entry, Mapping):
        raise PolicyError(
            f"Rule {position} of the policy must be a dictionary with `do` and maybe `name` and `when`, not "
            f"{shown(entry)}."
        )
    label = _label(position, entry)
    _check_keys(entry, _RULE_KEYS, label)
    name = entry.get("name", f"rule {position}")
    if not isinstance(name, str) or not name.strip():
        raise PolicyError(f"{label}: `name` must be a text, not {shown(name)}.")
    if "do" not in entry:
        raise PolicyError(f"{label}: `do` is missing. It is one of {', '.join(ACTIONS)}.")
    if entry["do"] not in ACTIONS:
        raise PolicyError(
            f"{label}: `do` must be one of {', '.join(ACTIONS)}, not "
            f"{shown(entry['do'])}{did_you_mean(entry['do'], ACTIONS)}."
        )
    when = _parse_when(entry["when"], label) if "when" in entry else {}
    return Rule(position, name, entry["do"], when, _parse_hours(entry, label), _parse_start(entry, label))


def _parse_when(when: Any, label: str) -> Dict[str, Any]:
    if not isinstance(when, Mapping) or not when:
        raise PolicyError(
            f"{label}: `when` must be a dictionary of conditions, not {shown(when)}. Leave it out to match every event."
        )
    _check_keys(when, tuple(CONDITIONS), f"{label}: `when`")
    conditions = {}
    for key, value in when.items():
        try:
            conditions[key] = CONDITIONS[key].parse(value)
        except ValueError as exc:
            raise PolicyError(f"{label}: `{key}` must be {exc}, not {shown(value)}.") from exc
    for name in conditions.get("types", ()):
        if not among(name.strip(), TYPES) and close(name.strip(), TYPES, MISSPELT):
            raise PolicyError(
                f"{label}: no type {shown(name)} is known{did_you_mean(name, TYPES)}. The known types are {', '.join(TYPES)}; others are "
                "taken where they are not as like to one of these."
            )
    for what in ("duration", "notice"):
        below, at_least = conditions.get(what + "_below"), conditions.get(what + "_at_least")
        if below is not None and at_least is not None and below <= at_least:
            raise PolicyError(
                f"{label}: nothing is at least {at_least:g} and below {below:g}: `{what}_below` must be above "
                f"`{what}_at_least`."
            )
    return conditions


def _parse_hours(entry: Any, label: str) -> Optional[Hours]:
    given = [key for key in PARSERS if key in entry]
    if not given:
        return None
    if entry["do"] in _NOTHING_DONE:
        raise PolicyError(
            f"{label}: `{given[0]}` says when machines may be prepared and events approved, which `do: {entry['do']}` never does. Leave it out."
        )
    if given == ["zone"]:
        raise PolicyError(f"{label}: `zone` is that of `hours` or `weekdays`, and the rule has neither.")
    for key in given:
        try:
            PARSERS[key][1](entry[key])
        except ValueError as exc:
            raise PolicyError(f"{label}: `{key}` must be {exc}, not {shown(entry[key])}.") from exc
    return hours_of(entry)


def _parse_start(entry: Any, label: str) -> str:
    if "start" not in entry:
        return ""
    start = entry["start"]
    if start not in STARTS:
        raise PolicyError(
            f"{label}: `start` must be one of {', '.join(STARTS)}, not {shown(start)}{did_you_mean(start, STARTS)}."
        )
    if entry["do"] != "prepare":
        raise PolicyError(
            f"{label}: `start` says when `do: prepare` begins. `do: {entry['do']}` leaves no choice: leave it out."
        )
    return str(start)


def _check_keys(entry: Any, allowed: Sequence[str], label: str) -> None:
    for key in entry:
        if key not in allowed:
            raise PolicyError(
                f"{label}: unknown key {shown(key)}{did_you_mean(key, allowed)}. The keys are {', '.join(allowed)}."
            )


def _label(position: int, entry: Any) -> str:
    name = entry.get("name") if isinstance(entry, Mapping) else None
    return f"Rule {position} of the policy{(f' ({shown(name)})' if name else '')}"


def _condition_shown(wanted: Any) -> str:
    return f"{wanted:g}" if isinstance(wanted, float) else "/".join(wanted)
