# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The second look at the steps of a machine's mark: what was done is asked for its state once more, as the initial state was. It changes nothing.

Private to this collection.
"""

from typing import Any, Callable, Collection, Dict, List, Mapping, NamedTuple, Sequence

from .._clock import Deadline
from .._core.second_look import NOTHING, STANDS, UNKNOWN
from .._steps.sequence import Marked, to_look_at
from .._steps.step_type import Step, named
from .._steps.types import type_of
from .._text import clause, listed, one_line
from .local_runner import words_of
from .step_runner import InitialState, RunnerFailed, StepRunner

WITHIN = 4.0
"""Seconds in which a call asks for the states of the machine's own steps: all that takes longer would be lost with the call."""


class Looked(NamedTuple):
    """What was found.

    can: whether anything can be looked at
    back: what does not stand any more, as a clause, by the key of its step
    unseen: why steps could not be looked at, as clauses
    ask: keys of the steps whose state others have to ask for
    """

    can: bool
    back: Dict[str, str]
    unseen: List[str]
    ask: List[str]

    @property
    def stands(self) -> str:
        """What the answer of a machine says of it that is prepared, so that what was put back is done again by now: a word of
        :mod:`.._core.second_look`.
        """
        if not self.can:
            return NOTHING
        return UNKNOWN if self.unseen or self.ask else STANDS

    @property
    def words(self) -> str:
        return listed([*self.back.values(), *self.unseen])


def state_here(
    step: Step, runner_of: Callable[[Step], StepRunner], asking: Deadline, again: bool = False
) -> InitialState:
    """The state of one of the machine's own steps.

    :arg again: whether for the second look
    :raises RunnerFailed: when it can't be determined, or the time is over
    """
    if asking.passed():
        raise RunnerFailed(f"the {WITHIN:g} s are over in which the machine is asked for all of them")
    runner = runner_of(step)
    return runner.state(step, asking.remaining()) if again else runner.before(step)


def look(
    marked: Sequence[Marked],
    plan: Mapping[str, Step],
    runner_of: Callable[[Step], StepRunner],
    asking: Deadline,
    fresh: Collection[str],
    elsewhere: Mapping[str, Any],
    failed: Mapping[str, Mapping[str, Any]],
) -> Looked:
    """Look at what was done.

    :arg runner_of: the runner for one of the machine's own steps
    :arg asking: until when they are asked for
    :arg fresh: keys of the steps that have just been done
    :arg elsewhere: the states that others have asked for, by key
    :arg failed: what came of it where others could not, by key
    """
    moves = to_look_at(marked, plan)
    looked = Looked(bool(moves), {}, [], [])
    for move in sorted(moves, key=lambda one: type_of(one.step["type"]).asks_slowly):
        step, key = move.step, move.key
        if key in fresh:
            continue
        if move.elsewhere and key not in elsewhere and key not in failed:
            looked.ask.append(key)
            continue
        why = ""
        if move.elsewhere and key in failed:
            why = one_line(failed[key].get("note"), 500) or "no reason was given"
        else:
            try:
                found = elsewhere[key] if move.elsewhere else state_here(step, runner_of, asking, again=True)
                back = type_of(step["type"]).holds(step, found)  # type: ignore[misc]
                if back:
                    looked.back[key] = f"{named(step)}: {back}"
            except Exception as error:  # whatever it is, the state is not known
                why = words_of(error)
        if why:
            looked.unseen.append(f"{named(step)} could not be looked at: {clause(why, 500)}")
    return looked
