# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of one machine and its watcher decide alike about the same seeded life, but for what differential/known.py lists."""

from __future__ import annotations

import differential.many
import pytest
from differential.drawing import drawn
from differential.known import ROWS, known
from differential.many import compared
from differential.script import Script
from test_simulation import JOBS, PARTS


@pytest.mark.parametrize("seeds", PARTS, ids=lambda seeds: f"{seeds.start}-{seeds.stop - 1}")
def test_run_and_watcher_differ_only_where_that_is_known(seeds: range) -> None:
    new = [verdict for verdict in differential.many.live_all(seeds, JOBS) if verdict.new]
    if new:
        stories = sorted((verdict.story for verdict in new), key=len)[:3]
        pytest.fail("\n\n".join(["\n".join(verdict.new for verdict in new), *stories]), pytrace=False)


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_known_difference_still_occurs(name: str) -> None:
    case = compared(ROWS[name].shown_by)
    assert case is not None, f"run and watcher decide alike now: take {name} out of differential/known.py"
    assert known(case) == name, f"{case.first}: this is {known(case) or 'no known difference'} now, and not {name}"


@pytest.mark.parametrize("name", sorted(ROWS))
def test_a_difference_says_why_it_is_meant(name: str) -> None:
    assert ROWS[name].right.startswith("meant: "), "else the two have to decide alike"


def changed(script: Script, name: str) -> Script:
    """The same script with one more fault in it, or with another wish of its user."""
    return {
        "does not approve": script._replace(policy=({"name": "All", "do": "prepare"},)),
        "is never confirmed": script._replace(confirmed=()),
        "prepares sooner": script._replace(prepare_before=script.prepare_before + 90.0),
        "takes longer to recover": script._replace(
            work=tuple(one._replace(undo=45.0, limit=60.0) for one in script.work)
        ),
        "is blind from the beginning": script._replace(blind=((0.0, 1e6),)),
    }[name]


@pytest.mark.parametrize(
    "name, seed",
    [
        ("does not approve", 2),
        ("is never confirmed", 74),
        ("prepares sooner", 58),
        ("takes longer to recover", 0),
        ("is blind from the beginning", 0),
    ],
)
def test_a_watcher_that_decides_otherwise_is_noticed(name: str, seed: int) -> None:
    """No row is so wide that it takes for known what is not.

    :arg seed: the first of those that show it
    """
    scripts = map(drawn, range(seed, seed + 100))
    cases = (compared(script, changed(script, name)) for script in scripts)
    assert any(case is not None and not known(case) for case in cases), name
