# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a value of the watcher's settings may be: a check for each kind, which returns the value as the program has it. Pure.

Private to this collection.

A check is given the system that the settings are for: the role checks those of a Windows machine on Linux. It raises
:class:`.Refused`.
"""

import re
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

from ..._errors import ScheduledEventsError
from ..._events.policy import PolicyError, parse_policy
from ..._imds.client import VERSIONS
from ..._imds.endpoint import check_endpoint
from ..._steps.hook import PHASES
from ..._steps.step_type import Step
from ..._steps.types import types_of_machine
from ..._text import did_you_mean, one_line, shown
from ..host.host import Host
from .destinations import destinations_of
from .health import health_settings
from .refused import Refused, list_of, number_of, object_of, within

MOST_SECONDS = 86400.0
MOST_BYTES = 2.0**40
MOST_LABELS = 20
LONGEST_LABEL = 100
"""Characters of a label's value; with :data:`MOST_LABELS` that keeps a report small, whatever its letters are."""
NAMES_OF_MACHINES = ("inventory_hostname", "scope", "capacity_group")
"""The labels by which receivers of reports choose the machines of a job: they become patterns of hosts, limits and names of locks. Others don't."""
LONGEST_NAME = 200
_PHASES = tuple(f"{phase}.d" for phase in PHASES)
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_RULE = re.compile(r"Rule (\d+) of the policy")
_STEP: Dict[str, Any] = {"key": str, "type": str, "name": str, "does": str, "undoes": str, "timeout": (int, float)}


class Kind(NamedTuple):
    """What an option takes.

    check: returns the value as the program has it, or raises :class:`.Refused`
    type: in Ansible's words
    """

    check: Callable[[Any, Host], Any]
    type: str


class HookOptions(NamedTuple):
    """What the user has said about one hook."""

    limit: Optional[float] = None  # seconds; None for the usual ones
    user: str = ""  # as whom it runs; "" for root


def seconds(least: float, most: float = MOST_SECONDS) -> Kind:
    return Kind(lambda value, host: number_of(value, "seconds", least, most), "float")


def size(least: float) -> Kind:
    return Kind(lambda value, host: int(number_of(value, "bytes", least, MOST_BYTES)), "int")


def one_of(*choices: str) -> Kind:
    def check(value: Any, host: Host) -> str:
        if value not in choices:
            raise Refused(f"must be one of {', '.join(choices)}, not {shown(value)}{did_you_mean(value, choices)}")
        return str(value)

    return Kind(check, "str")


def _text(value: Any, host: Host) -> str:
    if not isinstance(value, str) or not value.strip() or one_line(value, len(value) + 1) != value:
        raise Refused(f"must be a text of one line, not {shown(value)}")
    return value


def _absolute(value: Any, host: Host) -> str:
    path = _text(value, host)
    if not host.is_whole_path(path):
        raise Refused(f"must be a whole path, such as {host.state}, not {shown(value)}")
    return host.without_end(path)


def _endpoint(value: Any, host: Host) -> str:
    try:
        endpoint = check_endpoint(_text(value, host))
    except ScheduledEventsError as error:
        raise Refused(f"is no address of a metadata service: {error.message.rstrip('.')}") from error
    if not endpoint.startswith("http://"):
        raise Refused(f"must begin with http://, as the metadata service does, not {shown(endpoint)}")
    return endpoint


def _policy(value: Any, host: Host) -> Any:
    try:
        return parse_policy(value)
    except PolicyError as error:
        rule = _RULE.match(error.message)
        path = (int(rule.group(1)) - 1,) if rule else ()
        raise Refused(f"can't be followed: {error.message.rstrip('.')}", path) from error


def _hooks(value: Any, host: Host) -> Dict[str, HookOptions]:
    found = {}
    for name, options in object_of(value).items():
        folder = name.split("/")[0]
        if folder not in _PHASES:
            known = ", ".join(_PHASES)
            raise Refused(f"is of no phase{did_you_mean(folder, _PHASES)}: names begin with {known}", (name,))
        found[name] = within(name, _hook, options, host)
    return found


def _hook(value: Any, host: Host) -> HookOptions:
    given = object_of(value, HookOptions._fields)
    limit, user = given.get("limit"), given.get("user")
    return HookOptions(
        None if limit is None else within("limit", number_of, limit, "seconds", 1.0, MOST_SECONDS),
        within("user", _text, user, host) if user else "",
    )


def refused_name(name: str) -> str:
    """Why a receiver could not choose machines by a name, as a clause; "" where it can. What it takes means nothing else to Ansible or a shell."""
    if _NAME.fullmatch(name) and len(name) <= LONGEST_NAME:
        return ""
    return (
        "must have letters from A to Z, digits, _ . and - only, none of the last two at its beginning, and at most "
        f"{LONGEST_NAME}, as receivers of reports choose machines by it, not {shown(name)}"
    )


def _labels(value: Any, host: Host) -> Dict[str, str]:
    given = object_of(value)
    if len(given) > MOST_LABELS:
        raise Refused(f"are {len(given)}, and there may be {MOST_LABELS} at most")
    for name, label in given.items():
        if not _LABEL.fullmatch(name):
            words = "is no name of a label: it needs letters, digits and underscores, no digit first, at most 60"
            raise Refused(words, (name,))
        within(name, _text, label, host)
        if name in NAMES_OF_MACHINES:
            if refused_name(label):
                raise Refused(refused_name(label), (name,))
        elif len(label) > LONGEST_LABEL:
            raise Refused(f"is {len(label)} characters long, and may have {LONGEST_LABEL}", (name,))
    return given


def _steps(value: Any, host: Host) -> Tuple[Step, ...]:
    """Filter drain_steps has checked them; here it is checked that they come from it, and that the machine can do them alone."""
    alone = types_of_machine("windows" if host.has_drives else "linux")
    keys = set()
    for number, step in enumerate(list_of(value)):
        if not isinstance(step, dict) or any(not isinstance(step.get(key), kind) for key, kind in _STEP.items()):
            raise Refused("is no step as filter drain_steps returns it: let role watcher write this file", (number,))
        if step["type"] not in alone or step.get("elsewhere"):
            words = (
                f"is of type {shown(step['type'])}, which a machine can't do alone; the watcher does "
                f"{', '.join(alone)}. Let `maintain` do it: set mode to 'observe'"
            )
            raise Refused(words, (number,))
        if step["key"] in keys:
            raise Refused(f"has the key {shown(step['key'])} of a step before it", (number,))
        keys.add(step["key"])
    return tuple(value)


VERSION = one_of(*VERSIONS)
TEXT = Kind(_text, "str")
FOLDER = Kind(_absolute, "str")
ENDPOINT = Kind(_endpoint, "str")
POLICY = Kind(_policy, "list")
HOOKS = Kind(_hooks, "list")
REPORTS = Kind(destinations_of, "list")
LABELS = Kind(_labels, "dict")
HEALTH = Kind(lambda value, host: health_settings(value), "dict")
STEPS = Kind(_steps, "list")
