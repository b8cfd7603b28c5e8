# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What came of looking at one thing that the watcher needs, for people and for programs; and how the system's programs are asked.

Private to this collection.
"""

import subprocess
import textwrap
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from ..._text import one_line
from .cli import WIDTH, CliContext


class Said(NamedTuple):
    """What a program said. A code of -1: there is none, or it did not end in time."""

    code: int
    text: str


def ask(command: List[str], seconds: float = 5.0) -> Said:
    try:
        # There is no AnsibleModule here whose run_command could be called.
        process = subprocess.run(  # pylint: disable=ansible-bad-function
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return Said(-1, "")
    return Said(process.returncode, process.stdout.decode("utf-8", "replace"))


OK, WARN, FAIL = "ok", "warn", "fail"


class Finding(NamedTuple):
    """One line of the doctor's."""

    state: str  # OK, WARN or FAIL
    what: str  # in a word or two
    words: str  # what was seen
    advice: str = ""  # what to do; "" where there is nothing to do
    path: Tuple[
        Any, ...
    ] = ()  # what of the settings it is about, from the outside in; () where it is about no value of theirs


DEPLOY = "run the playbook deploy_watcher for this machine: one that was interrupted is completed by running it again"
"""What to do about services that are not there, or were never started."""

_BEFORE = 18


def lines_of(finding: Finding) -> List[str]:
    """``FAIL  route      no route leads to ...``, and below it what to do."""
    state = finding.state if finding.state == OK else finding.state.upper()
    begin = f"{state:<5} {one_line(finding.what):<11} "
    below = " " * _BEFORE
    words = begin + one_line(finding.words, 2000)
    found = textwrap.wrap(words, WIDTH, subsequent_indent=below, break_on_hyphens=False)
    if finding.advice:
        found += textwrap.wrap(
            f"-> {one_line(finding.advice, 1000)}",
            WIDTH,
            initial_indent=below,
            subsequent_indent=below + "   ",
            break_on_hyphens=False,
        )
    return found


def show(here: CliContext, findings: Sequence[Finding]) -> None:
    for finding in findings:
        for line in lines_of(finding):
            here.say(line)
    counts = {state: sum(finding.state == state for finding in findings) for state in (FAIL, WARN)}
    if not any(counts.values()):
        here.say("No problems found.")
    else:
        here.say(f"{counts[FAIL]} failed, {counts[WARN]} warnings.")


def as_json(findings: Sequence[Finding]) -> List[Dict[str, Any]]:
    return [{"state": one.state, "what": one.what, "words": one.words, "advice": one.advice} for one in findings]
