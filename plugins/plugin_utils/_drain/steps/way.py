# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One look at a step that others do: which modules of Ansible's it has called, and what is asked about what came back. Pure.

Private to this collection.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ....module_utils._steps.step_type import Step, TaskResult
from ..elsewhere import AtHand


class Order(NamedTuple):
    """One call of a module."""

    use: str
    options: Mapping[str, Any]
    lasts: int = 0
    """Seconds that it may go on in the background, as a job that Ansible keeps there; 0 where the call is to end by itself."""
    environment: Mapping[str, str] = {}
    ok_codes: Sequence[int] | None = None
    """Exit codes with which a command has succeeded."""
    failure_answers: bool = False
    """Whether a failure is an answer like others, such as that of a server which is not ready yet."""


Call = Callable[[Order], TaskResult]
"""Has it called: the module's result, or under ``went_wrong`` one that is a failure."""


class Seen(NamedTuple):
    """What a look has seen."""

    result: TaskResult
    about: Sequence[str] = ()
    """What is asked about it, in words of the step's type; none where only success counts."""
    job: Any = None
    """What the next look at it has to know."""


class Way(NamedTuple):
    """How a type of step is done by Ansible's modules."""

    look: Callable[[AtHand, Any, Call], Seen]
    """Begins the step at hand, or sees how far it is. Gets the job of the look before; None where there was none."""
    before: Callable[[Step, Call], TaskResult] | None = None
    """Asks for the initial state; None where that does not matter."""


def part_of(hand: AtHand) -> Any:
    """What the user wrote under ``do`` or ``undo``."""
    return hand["step"].get(hand["direction"]) or {}


def seconds_of(hand: AtHand) -> int:
    """The whole seconds that are left to it."""
    return max(1, int(hand["left"]))


def options(**given: Any) -> dict[str, Any]:
    """The options of a module, without those that are None."""
    return {name: value for name, value in given.items() if value is not None}


def all_of(results: Sequence[TaskResult]) -> TaskResult:
    """Several calls as one result."""
    return {"results": list(results)} if results else {}


def went_well(result: TaskResult) -> bool:
    """Whether nothing of it went wrong."""
    return not any("went_wrong" in one for one in [result, *result.get("results", ())])
