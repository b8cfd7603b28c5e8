# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a type of drain step is made of, what all of them are checked with, and what came of a step in a few words. Pure.

Every type has a file of its own here, which says all that is special about it. To add one: its file, its line in ``types``; its runner
in ``_machine/step_runners``, where Linux machines do it themselves; its way in ``plugin_utils/_drain/ways``, where Ansible's modules do it;
its options in ``docs/docsite/rst/drain.rst``, where people read of them.

Private to this collection.
"""

import math
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from .._text import did_you_mean, last_line, listed, one_line


class StepError(Exception):
    """One thing that is wrong with one step."""


_WORDS = {"str": "a text", "int": "a number", "float": "a number", "bool": "true or false"}


def check_keys(given: Mapping[str, Any], spec: Mapping[str, Any], inside: str = "") -> None:
    """Unknown keys, and containers where a text or a number belongs (Ansible's validator would make texts of them)."""
    for key, value in given.items():
        if key not in spec:
            raise StepError(
                f"key {inside + str(key)!r} is unknown{did_you_mean(str(key), spec)}; it takes {listed(sorted(spec))}"
            )
        if value is not None:
            _check_kind(value, spec[key], inside + key)


def _check_kind(value: Any, option: Mapping[str, Any], key: str) -> None:
    kind = option.get("type")
    if kind in _WORDS and isinstance(value, (Mapping, list, tuple)):
        raise StepError(f"{key} is {kind_of(value)}, where {_WORDS[kind]} belongs")
    if kind == "dict":
        if not isinstance(value, Mapping):
            raise StepError(f"{key} is {kind_of(value)}, where a dictionary belongs")
        if "options" in option:
            check_keys(value, option["options"], f"{key}.")
    if kind == "list" and (
        isinstance(value, Mapping)
        or isinstance(value, (list, tuple))
        and any(isinstance(item, (Mapping, list)) for item in value)
    ):
        raise StepError(f"{key} is not a list of {_WORDS[option['elements']][2:]}s")


def positive(value: float, key: str) -> float:
    """A number of seconds, more than none."""
    if not math.isfinite(value) or value <= 0:
        raise StepError(f"{key} is {value}; it is a number of seconds, more than 0")
    return float(value)


def at_least_one(value: int, key: str) -> None:
    """A whole number of seconds."""
    if value < 1:
        raise StepError(f"{key} is {value}; it is a number of seconds, at least 1")


def without_none(mapping: Mapping[str, Any]) -> Dict[str, Any]:
    """What was given: an option that is null counts as absent."""
    return {key: value for key, value in mapping.items() if value is not None}


def kind_of(value: Any) -> str:
    """What a value is, for somebody who reads YAML."""
    if value is None:
        return "empty"
    if isinstance(value, Mapping):
        return "a dictionary"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, bool):
        return "true or false"
    return "a text" if isinstance(value, str) else "a number"


Step = Dict[str, Any]
"""One step of a user, its options checked and their defaults filled in."""

TaskResult = Mapping[str, Any]
"""What a task returned; that of a loop holds those of its rounds."""

SYSTEMS = ("linux", "windows")

MOST = 500
"""Characters of a machine's own words in a sentence."""

LIST = {"type": "list", "elements": "str"}
AT_LIMIT = {"type": "str", "choices": ["fail", "continue"], "default": "fail"}
INTERVAL = {"type": "int", "default": 1}
BECOME = {"type": "bool"}
NO_LOG = {"type": "bool", "default": False}

COMMON: Dict[str, Dict[str, Any]] = {  # what every step takes
    "type": {"type": "str", "required": True},
    "name": {"type": "str"},
    "hosts": LIST,
    "systems": dict(LIST, choices=list(SYSTEMS)),
    "timeout": {"type": "float"},
    "undo_timeout": {"type": "float"},
}


class Host(NamedTuple):
    """What a plan has to know about the host it is for, and about its inventory."""

    name: str
    system: str
    groups: Mapping[str, Sequence[str]]
    system_of: Callable[[str], str]
    find_file: Callable[[str], Optional[str]]
    default_timeout: float = 60.0

    def members(self, name: str) -> Optional[List[str]]:
        """The hosts that a name stands for: a group's, or the host itself; None when the inventory has neither."""
        if name in self.groups:
            return list(self.groups[name])
        return [name] if name in self.groups.get("all", ()) else None


class Words(NamedTuple):
    """A step in words."""

    subject: str
    """What it is about; its name, where the user gave none."""
    does: str
    """What it does; "" when it does nothing."""
    undoes: str
    """What its inverse does; "" when it has none."""


class Verdict(NamedTuple):
    """What an answer means to a step."""

    done: bool
    """Whether to poll no more."""
    problem: str = ""
    """Why the step can't go on from here; "" when it can."""
    note: str = ""
    """What is to be reported of the step, although it goes on."""


def _own_interval(step: Step, direction: str) -> int:
    return int(step.get("interval", 1))


def _where_it_runs(step: Step, result: TaskResult) -> Tuple[str, ...]:
    return (step["delegate_to"],) if step.get("delegate_to") else ()


def _no_initial_state(step: Step, result: TaskResult) -> Dict[str, Any]:
    return {}


def _never(result: TaskResult) -> bool:
    return False


def _always(step: Mapping[str, Any]) -> bool:
    return True


def _all_of_it(step: Step, initial: Mapping[str, Any]) -> Optional[Step]:
    return step


def _nothing(step: Step, direction: str) -> Sequence[str]:
    return ()


class StepType(NamedTuple):
    """A type of step. Directions are ``do`` and ``undo``."""

    name: str
    options: Dict[str, Dict[str, Any]]
    """Its options beside the common ones, as an argument spec."""
    complete: Callable[[Step, Host, str], Words]
    """Checks what an argument spec can't, fills in what follows from the rest, and says it in words. Gets the system that
    the step runs on, which is another than the host's where the step is delegated.
    """
    systems: Tuple[str, ...] = SYSTEMS
    one_of: Tuple[str, ...] = ()
    """Options of which at least one is needed."""
    judges: Mapping[str, Callable[[Step, str, TaskResult], Verdict]] = {}
    """What is asked about an answer, by the word that asks."""
    interval: Callable[[Step, str], int] = _own_interval
    """Seconds between two polls."""
    undoing: str = "undone"
    """How messages call its inverse."""
    place: Callable[[Step, TaskResult], Tuple[str, ...]] = _where_it_runs
    """The machine that an answer came from, and more about where; nothing for the host itself."""
    before: Callable[[Step, Mapping[str, Any]], Optional[Step]] = _all_of_it
    """The step as far as it is ours to do and to undo, by the initial state; None when nothing of it is."""
    initial_state: Callable[[Step, TaskResult], Dict[str, Any]] = _no_initial_state
    """The state, by what a task returned that asked for it, where others than the machine program ask: the initial one, and that of now for the
    second look.

    :raises StepError: when the machine has not got what the step is about
    """
    holds: Optional[Callable[[Step, Mapping[str, Any]], str]] = None
    """What of the step, as far as it is ours, does not stand any more, as a clause, by the state that is found now; "" when all of it does.
    None where that can't be looked at.
    """
    can_look: Callable[[Mapping[str, Any]], bool] = _always
    """Whether it can be looked at by what the user has written, where ``holds`` is there."""
    asks_slowly: bool = False
    """Whether the machine program takes seconds to determine it: such steps come last, so that they use up no other step's time."""
    orders: Optional[Callable[[Step, str], List[Dict[str, Any]]]] = None
    """Where several machines do it, such as load balancers, what each of them does in one tick: on which ``place``, the module to
    ``use``, its ``options``, and ``become`` where that is said. Takes a direction, or ``before`` for what asks for the initial state.
    """
    asks: Callable[[Step, str], Sequence[str]] = _nothing
    """What is asked about the answers of these rounds, in words of its judges, by direction."""
    by_itself: bool = False
    """Whether the machine program has a runner for it, on each of its systems; elsewhere it is done by Ansible's modules."""
    collections: Tuple[str, ...] = ()
    """Collections that others need for it, beside the one that every Windows machine needs."""
    repeatable: bool = False
    """Whether doing it once more changes nothing: then it is gone on with where a run was interrupted in the middle of it."""
    in_background: bool = False
    """Whether others, once they were asked to do it, go on by themselves until it has ended: it is not undone before."""
    only_waits: bool = False
    """Whether it changes nothing, and only waits for something."""
    own: bool = False
    """Whether it is a file of the user's own tasks, which Ansible itself has to go through."""
    once: bool = False
    """Whether it is begun once an outage, whatever comes of it: a hook."""
    closing: bool = False
    """Whether it is undone last, whatever was done before."""
    timed_out: Callable[[TaskResult], bool] = _never
    """Whether a result says that the step's own program ended it at the limit."""


def is_done_by_machine(kind: StepType, step: Step, host: Host) -> bool:
    """Whether a run has the machine program do it: on Linux, unless another host is to do it. On Windows only a watcher does."""
    return kind.by_itself and host.system == "linux" and step.get("delegate_to") in (None, "", host.name)


def named(step: Mapping[str, Any]) -> str:
    """A step of a plan in a sentence."""
    return f"step {step['number']} ({step['name']})"


def rounds(result: TaskResult) -> List[TaskResult]:
    """The single results: those of a loop's rounds, or the one there is."""
    found = result.get("results")
    if isinstance(found, list) and found:
        return [item for item in found if isinstance(item, Mapping)]
    return [result]


def at_limit(step: Step, left: bool, now: str, then: str) -> Verdict:
    """The verdict about something that has to end, of a step that takes ``at_limit``.

    :arg now: what is to be said when it fails: ``port 443 still has connections``
    :arg then: the same of a step that went on: ``port 443 still had connections``
    """
    if not left:
        return Verdict(True)
    if step["at_limit"] == "fail":
        return Verdict(False, problem=now)
    return Verdict(False, note=f"went on although {then}")


def exit_words(result: Mapping[str, Any]) -> str:
    """How a program ended: its exit code and its last words."""
    words = (
        last_line(result.get("stderr"), MOST)
        or last_line(result.get("stdout"), MOST)
        or one_line(result.get("msg"), MOST)
    )
    return f"exit code {result['rc']}: {words}" if words else f"exit code {result['rc']}"


def has_run(result: Mapping[str, Any]) -> bool:
    """Whether the program of a command module was started, so that ``rc`` is its exit code.

    A module that can't start it has an ``rc`` all the same, and has not measured how long it took (``delta``). The program
    `timeout`, under which a command runs on Linux, ends with 126 or 127 when it can't start it, and says so.
    """
    if not result.get("delta") or "rc" not in result:
        return False
    words = last_line(result.get("stderr"), MOST)
    return not (
        result["rc"] in (125, 126, 127) and "timeout" in str(result.get("cmd")) and words.startswith("timeout: ")
    )


def kept_back(more: str = "") -> str:
    """What is said of a failure whose words are a secret."""
    return f"it failed{more}; its words are kept back (no_log)"
