# Copyright (c) 2026, cloudops.azure_maintenance contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guide's table of the reasons for which an event is not approved, as the code has them. `make figure` writes it anew."""

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
    "ansible-playbook .* approve_event=ID|azure-maintenance (?:approve ID|doctor|recover --force|release|status)"
    r"|\b(?:watcher|maintain|recover|approve|azure_maintenance|drain)_\w+"
)
_HEAD = """.. list-table::
   :header-rows: 1
   :widths: 14 34 26 26

   * - Reason
     - In words
     - What ends it, for ``maintain`` and ``approve``
     - For the watcher
"""


def table() -> str:
    """A row a code, in the order of the code."""
    return _HEAD + "".join(_row(code) for code in messages.REASONS) + "\n"


def _row(code: str) -> str:
    of_machine = any(field in messages.REASONS[code].sentence for field in ("{which}", "{machine}", "{there}", "{of}"))
    reason = messages.Reason(code, "web1" if of_machine else "...", "...")
    cells = (
        f"``{code}``",
        f"``{messages.sentence(reason)}``",
        *(_ends(reason, who) for who in (messages.RUN, messages.WATCHER)),
    )
    return "   * - {}\n     - {}\n     - {}\n     - {}\n".format(*cells)


def _ends(reason: messages.Reason, who: str) -> str:
    return _LITERALS.sub(r"``\g<0>``", messages.ends_by(reason, who, "ID"))


def page_with(table: str, page: str) -> str:
    before, rest = page.split(BEGIN)
    return before + BEGIN + table + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page_with(table(), PAGE.read_text(encoding="utf-8")), encoding="utf-8")
