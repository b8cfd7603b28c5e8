# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide's list of the reasons for which an event is not approved, as the code has them. `make figure` writes it anew."""

from __future__ import annotations

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

try:
    from ansible_collections.cloudops.azure_maintenance.plugins.module_utils._core import messages
except ImportError:  # a checkout that is no collection's folder
    sys.path.insert(0, str(ROOT))
    from plugins.module_utils._core import messages  # type: ignore[no-redef]

PAGE = ROOT / "docs" / "docsite" / "rst" / "failures.rst"
BEGIN, END = "..\n  reasons: written by make figure\n\n", "..\n  reasons: end\n"
_LITERALS = re.compile(
    "azure-maintenance (?:doctor|recover --force|release|status)"
    r"|\b(?:watcher|maintain|recover|approve|azure_maintenance|drain)_\w+"
)
_OF_MACHINE = "it affects web1, which "  # a watcher says "the machine " instead
_SHORTER = [  # the page says before the list what these mean
    (re.compile("by itself: the event starts at its not-before"), "its not-before"),
    (re.compile("by itself[,:;] "), ""),
    (re.compile("ansible-playbook .* approve_event=ID|azure-maintenance approve ID"), "confirm it"),
    (re.compile("run the playbook "), "run "),
    (re.compile("start its watcher there .*"), "start the service azure-maintenance"),
    (re.compile(", which says how to fix it"), ""),
    (re.compile("says there"), "says"),
]


def table() -> str:
    """A definition a code, in the order of the code."""
    return "".join(_definition(code) for code in messages.REASONS) + "\n"


def _definition(code: str) -> str:
    of_machine = any(field in messages.REASONS[code].sentence for field in ("{which}", "{machine}", "{there}", "{of}"))
    reason = messages.Reason(code, "web1" if of_machine else "...", "...")
    sentence = messages.sentence(reason).replace(_OF_MACHINE, "... ")
    return f"``{sentence}`` (``{code}``)\n   {_both_ends(reason)}\n"


def _both_ends(reason: messages.Reason) -> str:
    """What ends it for a run, and what else ends it for a watcher."""
    run, watcher = (_ends(reason, who) for who in (messages.RUN, messages.WATCHER))
    more = "; ".join(words for words in watcher.split("; ") if words not in run)
    return f"{run}; watcher: {more}" if more else run


def _ends(reason: messages.Reason, who: str) -> str:
    words = messages.ends_by(reason, who, "ID")
    for long, short in _SHORTER:
        words = long.sub(short, words)
    return _LITERALS.sub(r"``\g<0>``", words)


def page_with(table: str, page: str) -> str:
    before, rest = page.split(BEGIN)
    return before + BEGIN + table + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page_with(table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
